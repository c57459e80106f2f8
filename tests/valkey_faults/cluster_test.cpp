// A cluster whose primaries die and whose slots move.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sdk/client/blocking.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/valkey_server.hpp"
#include "tests/valkey_faults/load.hpp"
#include "valkey/cluster/slot.hpp"

namespace ff::faults {
namespace {

using test::ValkeyCluster;
using test::ValkeyServer;

TEST(ValkeyClusterFault, AReplicaTakesOver) {
  ValkeyCluster cluster(ValkeyCluster::Replicas::one_each);
  const auto first = open_engine(cluster.client_options());
  const auto second = open_engine(cluster.client_options());
  Load load({first.get(), second.get()});
  load.await_progress();
  load.hold();
  cluster.await_in_sync(1);
  cluster.kill_primary(1);
  load.go_on();
  load.await_progress(300, 15s);
  EXPECT_EQ(load.finish(), "");
}

TEST(ValkeyClusterFault, WritesConfirmedByAReplicaSurviveAFailoverUnderLoad) {
  ValkeyCluster cluster(ValkeyCluster::Replicas::one_each);
  const auto append = [](ValkeyServer& server) {
    server.call({"CONFIG", "SET", "appendonly", "yes", "appendfsync", "always"});
  };
  for (std::size_t i = 0; i < ValkeyCluster::primary_count; ++i)
    for (auto* server : {&cluster.primary(i), &cluster.replica(i)}) append(*server);
  const auto engine = open_engine(cluster.client_options(), valkey_store::Durability::replicas);
  Load load({engine.get()}, 5);
  // Replicas tell once a second how far they are.
  load.await_progress(5);
  cluster.kill_primary(2);
  // Until it is back, as a replica, nobody can confirm what the new primary has.
  std::this_thread::sleep_for(3s);
  cluster.primary(2).start();
  append(cluster.primary(2));
  load.await_progress(5, 15s);
  EXPECT_EQ(load.finish(30s), "");
}

// The first ones, before the store has heard which node has which slots.
TEST(ValkeyClusterFault, EachNodeConfirmsItsOwnWrites) {
  ValkeyCluster cluster;
  for (std::size_t i = 0; i < ValkeyCluster::primary_count; ++i)
    cluster.primary(i).call({"CONFIG", "SET", "appendonly", "yes"});
  const auto engine = open_engine(cluster.client_options(), valkey_store::Durability::fsync);
  std::vector<test::Started<Submit>> submitted;
  for (int i = 0; i < 60; ++i) submitted.push_back(test::start(*engine, Submit{.kind = kind}));
  for (auto& each : submitted) {
    const auto reply = each.get();
    EXPECT_TRUE(reply) << reply.error().message;
  }
}

TEST(ValkeyClusterFault, ASlotMovesUnderLoad) {
  ValkeyCluster cluster;
  const auto first = open_engine(cluster.client_options());
  const auto second = open_engine(cluster.client_options());
  Load load({first.get(), second.get()});
  load.await_progress();
  for (int partition = 0; partition < 12; ++partition) {
    const auto slot = valkey::slot_of(fmt::format("{{fp:{}}}", partition));
    const auto from = ValkeyCluster::first_owner_of(slot);
    const auto to = (from + 1) % ValkeyCluster::primary_count;
    cluster.begin_move(slot, from, to);
    load.await_progress(30);
    cluster.finish_move(slot, from, to);
    load.await_progress(10);
  }
  load.await_progress();
  EXPECT_EQ(load.finish(), "");
}

// One that does not have the numbers of partitions, without which no program can start.
TEST(ValkeyClusterFault, AProgramStartsWhileAPrimaryIsDownAndServesTheOthers) {
  constexpr std::size_t lost = 2;
  ValkeyCluster cluster;
  for (std::size_t i = 0; i < ValkeyCluster::primary_count; ++i)
    cluster.primary(i).call({"CONFIG", "SET", "cluster-require-full-coverage", "no"});
  auto engine = open_engine(cluster.client_options());
  std::set<ExecutionId> elsewhere;
  for (int i = 0; i < 30; ++i) {
    const auto id = must(run_blocking(*engine, Submit{.kind = kind})).id;
    const auto slot = valkey::slot_of(fmt::format("{{fp:{}}}", id.partition()));
    if (ValkeyCluster::first_owner_of(slot) != lost) elsewhere.insert(id);
  }
  engine.reset();
  cluster.kill_primary(lost);

  engine = open_engine(cluster.client_options());
  std::set<ExecutionId> claimed;
  while (claimed.size() < elsewhere.size()) {
    Claim claim{.worker = *WorkerId::parse("w"), .max = 100, .lease_ttl = 1min, .wait = 1s};
    for (const auto& each : must(run_blocking(*engine, std::move(claim))).executions)
      claimed.insert(each.id);
  }
  EXPECT_EQ(claimed, elsewhere);
}

// ---- One primary of three is down, and has no replica --------------------------------------------

enum class Loss { killed, silent };

class OnePrimaryDown : public ::testing::TestWithParam<Loss> {
 protected:
  static constexpr std::size_t lost = 1;

  OnePrimaryDown() {
    for (std::size_t i = 0; i < ValkeyCluster::primary_count; ++i)
      cluster_.primary(i).call({"CONFIG", "SET", "cluster-require-full-coverage", "no"});
    engine_ = open_engine(cluster_.client_options());
  }
  ~OnePrimaryDown() override { bring_back(); }

  // A killed server that has no append-only file comes back empty.
  void lose() {
    if (GetParam() == Loss::killed)
      cluster_.kill_primary(lost);
    else
      cluster_.primary(lost).pause();
    // The first call finds out that the node is down.
    const auto found = test::start(*engine_, claim(1));
    static_cast<void>(found.wait_for(10s));
  }
  void bring_back() {
    if (GetParam() == Loss::killed)
      cluster_.primary(lost).start();
    else
      cluster_.primary(lost).resume();
    test::await("the others take it in again", [&] {
      const auto info = cluster_.primary(lost).call({"CLUSTER", "INFO"});
      return info.as_text()->find("cluster_state:ok") != std::string::npos;
    });
  }

  static bool is_lost(const ExecutionId& id) {
    return ValkeyCluster::first_owner_of(
               valkey::slot_of(fmt::format("{{fp:{}}}", id.partition()))) == lost;
  }
  // Submits `each` executions with a place at the primary that will be lost, and as many with one elsewhere.
  std::set<ExecutionId> submit(std::size_t each, const Submit& work = {.kind = kind}) {
    std::set<ExecutionId> there;
    std::set<ExecutionId> elsewhere;
    while (there.size() < each || elsewhere.size() < each) {
      const auto id = must(run_blocking(*engine_, work)).id;
      (is_lost(id) ? there : elsewhere).insert(id);
    }
    there_ += there.size();
    return elsewhere;
  }
  static Claim claim(std::uint32_t max) {
    return {.worker = *WorkerId::parse("w"), .max = max, .lease_ttl = 1min};
  }
  template <class Op>
  auto within_a_second(Op operation) {
    const auto began = std::chrono::steady_clock::now();
    auto reply = must(run_blocking(*engine_, std::move(operation)));
    EXPECT_LT(std::chrono::steady_clock::now() - began, 1s);
    return reply;
  }

  ValkeyCluster cluster_;
  std::unique_ptr<LocalEngine> engine_;
  std::size_t there_ = 0;
};

TEST_P(OnePrimaryDown, ClaimsGetTheWorkOfTheOthers) {
  auto waiting = submit(20);
  lose();
  for (const auto& each : must(run_blocking(*engine_, ListExecutions{.limit = 1000})).executions)
    if (each.state == ExecutionState::active) waiting.erase(each.id);
  for (int i = 0; i < 10 && !waiting.empty(); ++i)
    for (const auto& each : within_a_second(claim(10)).executions) waiting.erase(each.id);
  EXPECT_THAT(waiting, ::testing::IsEmpty());
}

TEST_P(OnePrimaryDown, CountsAndListsShowTheOthers) {
  const auto elsewhere = submit(5);
  lose();
  std::size_t count = 0;
  for (const auto& each : within_a_second(CountExecutions{}).counts) count += each.count;
  EXPECT_EQ(count, elsewhere.size());
  EXPECT_EQ(within_a_second(ListExecutions{.limit = 1000}).executions.size(), elsewhere.size());
}

TEST_P(OnePrimaryDown, ScannersGoOnAndTheServerStaysReady) {
  submit(5);
  LocalEngine other(must(valkey_store::open({.client = cluster_.client_options()})),
                    LocalEngineOptions{.scan = false});
  lose();
  for (int i = 0; i < 3; ++i)
    static_cast<void>(test::run_blocking(other.executor(), other.scanners().run_once()));
  const auto ready = run_blocking(other, CheckReady{});
  EXPECT_TRUE(ready) << ready.error().message;
}

TEST_P(OnePrimaryDown, TimersOfTheOthersFire) {
  Submit later{.kind = kind};
  later.delay_until = std::chrono::floor<Millis>(std::chrono::system_clock::now()) + 4s;
  const auto elsewhere = submit(5, later);
  lose();
  std::set<ExecutionId> claimed;
  const auto end = std::chrono::steady_clock::now() + 8s;
  auto next = claim(100);
  next.wait = 500ms;
  while (claimed.size() < elsewhere.size() && std::chrono::steady_clock::now() < end)
    for (const auto& each : must(run_blocking(*engine_, next)).executions) claimed.insert(each.id);
  EXPECT_EQ(claimed, elsewhere);
  const auto now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  EXPECT_LT(now - *later.delay_until, 2s);
}

TEST_P(OnePrimaryDown, ItsWorkIsClaimedWhenItIsBack) {
  submit(10);
  lose();
  while (!must(run_blocking(*engine_, claim(100))).executions.empty()) {
  }
  bring_back();
  if (GetParam() == Loss::killed) there_ = 0;
  const auto expected = there_ + 5;
  submit(5);
  std::size_t claimed = 0;
  const auto end = std::chrono::steady_clock::now() + 10s;
  auto next = claim(100);
  next.wait = 500ms;
  while (claimed < expected && std::chrono::steady_clock::now() < end)
    for (const auto& each : must(run_blocking(*engine_, next)).executions)
      claimed += is_lost(each.id) ? 1 : 0;
  EXPECT_GE(claimed, expected - 1) << "one may have been leased while nobody knew";
}

INSTANTIATE_TEST_SUITE_P(, OnePrimaryDown, ::testing::Values(Loss::killed, Loss::silent),
                         [](const auto& each) {
                           return std::string(each.param == Loss::killed ? "Killed" : "Silent");
                         });

}  // namespace
}  // namespace ff::faults
