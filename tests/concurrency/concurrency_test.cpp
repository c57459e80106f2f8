// Several callers at once on one embedded store. Whatever the order in which the store carried out their calls,
// everything that was acknowledged holds, and nothing contradicts it.
#include <algorithm>
#include <deque>
#include <set>
#include <thread>

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/concurrency/caller.hpp"
#include "tests/support/seeds.hpp"

namespace ff::concurrency {
namespace {

using namespace std::chrono_literals;
using property::Setup;
using property::World;
using ::testing::IsEmpty;

constexpr int callers = 4;
constexpr int rounds = 3;  // after each, nobody calls and everything is checked
constexpr int steps = 150;
constexpr std::uint64_t quota_max = 4;

using Counts = std::map<std::pair<LaneId, ExecutionState>, std::uint64_t>;

class Check {
 public:
  Check(World& world, const Acknowledged& acknowledged)
      : world_(world), acknowledged_(acknowledged) {
    for (const auto& [id, payload] : acknowledged_.payloads)
      executions_.emplace(id, must(world_.run(GetExecution{id})));
  }

  void everything() {
    EXPECT_THAT(faults(), IsEmpty());
    submits_are_kept();
    ends_are_kept();
    leases_follow_each_other();
    one_lease_at_most_is_accepted();
    quota_is_kept();
    counts_are_those_of_the_records();
    EXPECT_EQ(world_.repaired(), 0u);
  }

 private:
  std::vector<std::string> faults() const {
    std::vector<std::string> messages;
    for (const auto& each : acknowledged_.faults) messages.push_back(each.message);
    return messages;
  }

  void submits_are_kept() {
    for (const auto& [id, payload] : acknowledged_.payloads)
      EXPECT_EQ(must(world_.run(GetPayload{id})).bytes, payload) << id.str();
    const std::set<ExecutionId> created(acknowledged_.created.begin(), acknowledged_.created.end());
    EXPECT_EQ(created.size(), acknowledged_.created.size()) << "one was created twice";
    EXPECT_EQ(created.size(), executions_.size()) << "a duplicate of nothing";
    std::set<IdempotencyKey> used;
    for (const auto& [id, info] : executions_) {
      const auto& key = info.idempotency_key;
      EXPECT_TRUE(!key || used.insert(*key).second) << id.str() << " has the key of another";
    }
  }

  void ends_are_kept() {
    for (const auto& [id, end] : acknowledged_.ends) {
      EXPECT_EQ(executions_.at(id).state, end.state) << id.str();
      if (!end.result) continue;
      EXPECT_EQ(must(world_.run(GetResult{.id = id})).bytes, *end.result) << id.str();
    }
  }

  void leases_follow_each_other() {
    std::map<std::pair<ExecutionId, LeaseEpoch>, LeaseId> acquired;
    for (const auto& [id, info] : executions_) {
      bool held = false;
      LeaseEpoch last{};
      for (const auto& event : must(world_.run(GetLeaseHistory{id})).events) {
        const bool acquires = event.type == LeaseEventType::acquired;
        EXPECT_NE(acquires, held) << id.str() << " has two leases at once";
        held = acquires;
        if (!acquires) continue;
        EXPECT_GT(event.lease_epoch, last) << id.str();
        last = event.lease_epoch;
        acquired[{id, last}] = *event.lease_id;
      }
      EXPECT_EQ(last, info.lease_epoch) << id.str();
      EXPECT_EQ(held, info.worker.has_value()) << id.str();
    }
    std::set<std::pair<ExecutionId, LeaseEpoch>> given;
    for (const auto& [id, fence] : acknowledged_.leases) {
      EXPECT_TRUE(given.insert({id, fence.lease_epoch}).second) << id.str() << " was given twice";
      const auto found = acquired.find({id, fence.lease_epoch});
      ASSERT_TRUE(found != acquired.end()) << id.str() << " has forgotten a lease";
      EXPECT_EQ(found->second, fence.lease_id) << id.str();
    }
  }

  void one_lease_at_most_is_accepted() {
    std::set<ExecutionId> accepted;
    for (const auto& [id, fence] : acknowledged_.leases) {
      if (!world_.run(Renew{.id = id, .fence = fence, .lease_ttl = 50ms})) continue;
      EXPECT_TRUE(accepted.insert(id).second) << id.str() << " has two live leases";
      EXPECT_EQ(fence.lease_epoch, executions_.at(id).lease_epoch) << id.str();
    }
  }

  void quota_is_kept() {
    const auto holds = [](const auto& each) {
      return each.second.policy.quota && each.second.worker;
    };
    EXPECT_LE(std::ranges::count_if(executions_, holds), static_cast<std::ptrdiff_t>(quota_max));
  }

  void counts_are_those_of_the_records() {
    Counts counted, listed, read;
    for (const auto& each : must(world_.run(CountExecutions{})).counts)
      counted[{each.lane, each.state}] = each.count;
    ListExecutions query{.limit = 100};
    do {
      auto page = must(world_.run(query));
      for (const auto& each : page.executions) ++listed[{each.lane, each.state}];
      query.cursor = std::move(page.next);
    } while (query.cursor);
    for (const auto& [id, payload] : acknowledged_.payloads) {
      const auto info = must(world_.run(GetExecution{id}));
      ++read[{info.lane, info.state}];
    }
    EXPECT_EQ(counted, read);
    EXPECT_EQ(listed, read);
  }

  World& world_;
  const Acknowledged& acknowledged_;
  std::map<ExecutionId, ExecutionInfo> executions_;
};

// Nothing is stuck: workers that finish what they claim end everything.
void drain(World& world, std::size_t count) {
  for (std::size_t i = 0; i <= count; ++i) {
    world.advance(2h);
    world.run_scanners();
    const auto reply =
        must(world.run(Claim{.worker = *WorkerId::parse("last"),
                             .lanes = {*LaneId::parse("lane-0"), *LaneId::parse("lane-1")},
                             .max = 256,
                             .lease_ttl = 1h}));
    if (reply.executions.empty()) break;
    for (const auto& each : reply.executions)
      must(world.run(Complete{.id = each.id, .fence = each.fence}));
  }
  for (const auto& each : must(world.run(CountExecutions{})).counts)
    EXPECT_TRUE(is_terminal(each.state)) << each.count << " are " << to_string(each.state);
}

void try_seed(std::uint64_t seed) {
  World world({.shards = 2 + seed % 2,
               .threads = 3,
               .hot_bytes_max = seed % 2 ? std::size_t{64} << 20 : 0});
  const auto quota = must(world.run(CreateQuota{.spec = {.max_concurrent = quota_max}})).id;
  Shared shared{.world = world, .quota = quota};
  std::deque<Caller> all;
  for (int i = 0; i < callers; ++i) all.emplace_back(shared, seed * callers + i);
  Acknowledged acknowledged;
  for (int round = 0; round < rounds; ++round) {
    {
      std::vector<std::jthread> threads;
      for (auto& each : all) threads.emplace_back([&each] { each.run(steps); });
    }
    for (auto& each : all) acknowledged.add(each.take_acknowledged());
    Check(world, acknowledged).everything();
    if (::testing::Test::HasFailure()) return;
  }
  const auto report = world.check();
  EXPECT_EQ(report.problem_count, 0u) << fmt::format("{}", fmt::join(report.problems, "; "));
  Check(world, acknowledged).everything();
  drain(world, acknowledged.payloads.size());
}

TEST(ConcurrentCallers, FindEverythingThatWasAcknowledged) {
  const std::string seeds_file = "tests/property/seeds.txt";
  for (const auto seed : test::seeds(seeds_file)) {
    try_seed(seed);
    if (HasFailure()) FAIL() << test::how_to_repeat(seed, seeds_file);
  }
}

}  // namespace
}  // namespace ff::concurrency
