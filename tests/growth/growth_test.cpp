// A long life of an embedded engine: everything that it is told is unlike what it was told before (lanes,
// capabilities, workers, keys), ends, and is forgotten. What is left must not depend on how much there was.
#include <cstdlib>
#include <filesystem>

#include <malloc.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "engine/local_engine.hpp"
#include "store/embedded/disk/database.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/embedded.hpp"
#include "store/embedded/tools/backup.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t steps_per_round = 250;

// FF_GROWTH_STEPS=1000000 for a long run.
std::size_t steps_wanted() {
  const char* text = std::getenv("FF_GROWTH_STEPS");
  return text ? std::strtoul(text, nullptr, 10) : 20'000;
}

struct Size {
  std::size_t memory = 0;
  std::size_t disk = 0;
};

class GrowthTest : public ::testing::Test {
 protected:
  GrowthTest() {
    open();
    const auto budget = must(run(CreateBudget{.spec = {.hard_limits = {{"t", 1'000'000'000}}}}));
    const auto quota = must(run(CreateQuota{.spec = {.max_per_window = 100'000}}));
    policy_ = {.retry = RetryPolicy{.backoff = FixedBackoff{1ms}},
               .budgets = {budget.id},
               .quota = quota.id,
               .dedup_window = 1h,
               .retention = 1h};
  }

  void open() {
    auto store = must(embedded::open({.directory = temp_.path(),
                                      .clock = clock_,
                                      .durability = store::Durability::relaxed,
                                      .hot_bytes_max = 4 << 20}));
    engine_ = std::make_unique<LocalEngine>(std::move(store),
                                            LocalEngineOptions{.scan = false, .events_max = 1'000});
  }

  template <class Op>
  Result<typename Op::Reply> run(Op operation) {
    return start(*engine_, std::move(operation)).get();
  }
  void run_scanners() { must(run_blocking(engine_->executor(), engine_->scanners().run_once())); }

  // One round of different lives; then so much time passes that nobody needs to remember them.
  void live(std::size_t round) {
    const auto lane = *LaneId::parse(fmt::format("lane-{}", round));
    const auto needs = *CapabilitySet::parse({fmt::format("capability-{}", round)});
    const auto worker = *WorkerId::parse(fmt::format("worker-{}", round));
    const Claim claim{.worker = worker, .lanes = {lane}, .capabilities = needs, .max = 256};

    auto in_vain = claim;
    in_vain.wait = 1ms;
    EXPECT_TRUE(must(run(in_vain)).executions.empty());

    SubmitMany batch;
    policy_.required_capabilities = needs;
    for (std::size_t i = 0; i < steps_per_round; ++i)
      batch.executions.push_back(
          {.idempotency_key = *IdempotencyKey::parse(fmt::format("key-{}-{}", round, i)),
           .lane = lane,
           .kind = *Kind::parse("k"),
           .payload = "payload",
           .tags = {{"app.round", std::to_string(round)}},
           .policy = policy_});
    must(run(std::move(batch)));

    const auto granted = must(run(Grant{.worker = worker, .lanes = {lane}, .capabilities = needs}));
    must(run(Cancel{.id = granted.execution->id}));
    finish(round, must(run(claim)).executions);
    clock_->advance(2ms);
    run_scanners();  // what failed is ready again
    finish(round, must(run(claim)).executions);
    must(run(ResetBudget{policy_.budgets[0]}));

    clock_->advance(25h);
    run_scanners();
  }

  // One in ten reports what it used, and one in twenty fails once.
  void finish(std::size_t round, const std::vector<ClaimedExecution>& claimed) {
    CompleteMany batch;
    for (std::size_t i = 0; i < claimed.size(); ++i) {
      const auto& [id, fence] = std::pair(claimed[i].id, claimed[i].fence);
      if (i % 10 == 0)
        must(run(
            ReportUsage{.id = policy_.budgets[0],
                        .amounts = {{"t", 1}},
                        .dedup_key = *DedupKey::parse(fmt::format("use-{}-{}", round, id.str())),
                        .execution = id}));
      if (i % 20 == 0 && claimed[i].attempt_index == 0)
        must(run(Fail{.id = id, .fence = fence, .reason = "once"}));
      else
        batch.executions.push_back({.id = id, .fence = fence, .result = "result"});
    }
    must(run(std::move(batch)));
  }

  Size size() const {
    ::malloc_trim(0);
    Size now{.memory = ::mallinfo2().uordblks + ::mallinfo2().hblkhd};
    for (const auto& file : std::filesystem::recursive_directory_iterator(temp_.path()))
      if (file.is_regular_file()) now.disk += file.file_size();
    return now;
  }

  // The kinds of all keys in the database, which is closed for it.
  std::map<char, std::size_t> keys_left() {
    engine_.reset();
    const auto database =
        must(embedded::Database::open({.directory = embedded::database_directory(temp_.path())}));
    std::map<char, std::size_t> kinds;
    for (char kind = 'a'; kind <= 'z'; ++kind)
      must(database->for_each(
          {.prefix = std::string(1, kind)},
          [&](std::string_view, std::string_view) -> Result<embedded::Database::Next> {
            ++kinds[kind];
            return embedded::Database::Next::go_on;
          }));
    return kinds;
  }

  TempDirectory temp_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::unique_ptr<LocalEngine> engine_;
  Policy policy_;
};

TEST_F(GrowthTest, NothingIsLeftOfWhatIsOver) {
  const auto rounds = steps_wanted() / steps_per_round;
  std::map<std::size_t, Size> at;  // by percent of the rounds
  for (std::size_t round = 1; round <= rounds; ++round) {
    live(round);
    for (const std::size_t percent : {10, 50, 100})
      if (round == rounds * percent / 100) {
        at[percent] = size();
        fmt::print("{:>3} %: {:>6} KiB of memory, {:>6} KiB of disk\n", percent,
                   at[percent].memory >> 10, at[percent].disk >> 10);
      }
  }
  // RocksDB's buffers and files come and go; what grows with every step grows by more.
  constexpr std::size_t buffers = 128 << 20;
  EXPECT_LT(at[100].memory, at[50].memory + buffers);
  EXPECT_LT(at[100].disk, at[50].disk + 2 * buffers);

  const auto left = keys_left();
  EXPECT_THAT(left, ::testing::UnorderedElementsAre(std::pair('s', 1), std::pair('b', 1),
                                                    std::pair('q', 1)));
}

}  // namespace
}  // namespace ff::test
