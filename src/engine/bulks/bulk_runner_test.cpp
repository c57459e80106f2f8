// A bulk job reaches its end, whatever breaks on its way, and nothing happens twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/breaking_store.hpp"
#include "engine/bulks/bulk_runner.hpp"
#include "tests/support/blocking_store.hpp"

namespace ff {
namespace {

constexpr int tasks = 5;

class BulkBreaksOff : public OnABreakingStore, public ::testing::WithParamInterface<Break> {
 protected:
  BulkId start(BulkAction action) {
    StartBulk start;
    start.where = "kind:bulk";
    start.work.action = action;
    return *must(run(start)).id;
  }
  void submit_all() {
    for (int i = 0; i < tasks; ++i)
      ids_.push_back(must(run(Submit{.kind = *Kind::parse("bulk")})).id);
  }
  void run_jobs() {
    WorkerCache workers(*store_);
    BulkRunner runner({.store = *store_, .workers = workers, .engine = *engine_, .name = name_});
    for (bool more = true; more;) {
      const auto scan = test::run_blocking(engine_->executor(), runner.run_once());
      more = scan && scan->more;
    }
  }
  // The job of a new store is broken off one call later each time; then another process goes on with it.
  template <class Prepare, class Expect>
  void break_everywhere(BulkAction action, Prepare prepare, Expect expect) {
    for (int number = 0; number < 100; ++number) {
      SCOPED_TRACE(number);
      ids_.clear();
      begin();
      submit_all();
      prepare();
      const auto job = start(action);
      clock_->advance(1ms);
      name_ = "first";
      store_->break_call(number, GetParam());
      run_jobs();
      const bool broke = store_->broke();
      store_->mend();
      if (GetParam() == Break::crash) open();
      name_ = "second";
      clock_->advance(core::bulk_lease_ttl);
      run_jobs();
      const auto info = must(run(GetBulk{job}));
      EXPECT_EQ(info.state, BulkState::completed);
      EXPECT_EQ(info.counts.matched, static_cast<std::uint64_t>(tasks));
      EXPECT_EQ(info.counts.failed, 0u);
      expect();
      if (!broke) {
        EXPECT_GT(number, 3) << "it was broken at some point";
        return;
      }
    }
    FAIL() << "it never ended";
  }

  std::vector<ExecutionId> ids_;
  std::string name_;
};

TEST_P(BulkBreaksOff, AndEverythingIsCancelled) {
  break_everywhere(
      BulkAction::cancel, [] {},
      [this] {
        for (const auto& id : ids_)
          EXPECT_EQ(must(run(GetExecution{id})).state, ExecutionState::cancelled);
      });
}

TEST_P(BulkBreaksOff, AndNothingIsReplayedTwice) {
  break_everywhere(
      BulkAction::replay,
      [this] {
        for (const auto& id : ids_) must(run(Cancel{.id = id}));
      },
      [this] {
        for (const auto& id : ids_) EXPECT_EQ(must(run(GetExecution{id})).replays, 1u);
      });
}

INSTANTIATE_TEST_SUITE_P(, BulkBreaksOff,
                         ::testing::Values(Break::before, Break::after, Break::crash));

class BulkRunnerTest : public BulkBreaksOff {};

TEST_P(BulkRunnerTest, LeavesAJobToTheProcessThatHasIt) {
  begin();
  submit_all();
  const auto job = start(BulkAction::cancel);
  auto bulk = must(test::run(*store_, core::ReadBulk{job}));
  bulk.lease = core::BulkLease{.runner = "other", .until = clock_->now() + 5s};
  ASSERT_TRUE(must(test::run(*store_, core::SaveBulk{bulk})));
  name_ = "this";
  run_jobs();
  EXPECT_EQ(must(run(GetBulk{job})).counts.matched, 0u);
  clock_->advance(5s);
  run_jobs();
  EXPECT_EQ(must(run(GetBulk{job})).counts.done, static_cast<std::uint64_t>(tasks));
}

TEST_P(BulkRunnerTest, ARecordThatWasChangedMeanwhileIsNotOverwritten) {
  begin();
  const auto job = start(BulkAction::cancel);
  const auto before = must(test::run(*store_, core::ReadBulk{job}));
  must(run(StopBulk{job}));
  EXPECT_FALSE(must(test::run(*store_, core::SaveBulk{before})));
  EXPECT_EQ(must(run(GetBulk{job})).state, BulkState::stopped);
}

INSTANTIATE_TEST_SUITE_P(, BulkRunnerTest, ::testing::Values(Break::before));

}  // namespace
}  // namespace ff
