#include "core/bulks/bulk.hpp"

#include <gtest/gtest.h>

namespace ff::core::bulks_test {
namespace {

using namespace std::chrono_literals;

const TimePoint now{1'000'000s};
const BulkId id{must(BulkId::parse("01920000-0000-7000-8000-000000000009"))};

Bulk job(BulkAction action, std::string where = "state:failed") {
  StartBulk start;
  start.where = std::move(where);
  start.work.action = action;
  return make_bulk(start, id, must(bulk_filter(start, now)), now);
}

ExecutionInfo execution(ExecutionState state, std::optional<TimePoint> ended = {}) {
  ExecutionInfo info;
  info.state = state;
  info.completed_at = ended;
  return info;
}

TEST(Bulk, TouchesOnlyWhatWasSubmittedBeforeItsStart) {
  EXPECT_EQ(job(BulkAction::cancel, "created:>-1h").where,
            "created:>=1970-01-12T12:46:40.001Z created:<1970-01-12T13:46:40.001Z");
}

TEST(Bulk, NeedsATerm) {
  EXPECT_EQ(bulk_filter(StartBulk{.where = " ", .work = {}}, now).error().code,
            Errc::invalid_input);
}

TEST(Bulk, EndsOnce) {
  const auto stopped_job = must(stopped(job(BulkAction::cancel), now));
  EXPECT_EQ(stopped_job.state, BulkState::stopped);
  EXPECT_EQ(stopped(stopped_job, now).error().code, Errc::bulk_not_running);
}

TEST(Bulk, IsRunByOneProcessUntilItsLeaseEnds) {
  auto bulk = job(BulkAction::cancel);
  EXPECT_TRUE(may_run(bulk, "a", now));
  bulk.lease = BulkLease{.runner = "a", .until = now + 1s};
  EXPECT_TRUE(may_run(bulk, "a", now));
  EXPECT_FALSE(may_run(bulk, "b", now));
  EXPECT_TRUE(may_run(bulk, "b", now + 1s));
  end(bulk, BulkState::completed, now);
  EXPECT_FALSE(may_run(bulk, "a", now));
}

TEST(Bulk, SkipsWhatItsActionDoesNotApplyTo) {
  using enum ExecutionState;
  EXPECT_TRUE(applies(job(BulkAction::cancel), execution(waiting)));
  EXPECT_FALSE(applies(job(BulkAction::cancel), execution(failed, now)));
  EXPECT_FALSE(applies(job(BulkAction::priority), execution(completed, now)));
  EXPECT_TRUE(applies(job(BulkAction::tags), execution(completed, now)));
  EXPECT_FALSE(applies(job(BulkAction::remove), execution(active)));
  EXPECT_TRUE(applies(job(BulkAction::remove), execution(failed, now)));
  EXPECT_FALSE(applies(job(BulkAction::redrive), execution(failed, now))) << "it is in no flow";
}

TEST(Bulk, ReplaysNothingThatEndedAfterItsStart) {
  EXPECT_TRUE(applies(job(BulkAction::replay), execution(ExecutionState::failed, now)));
  EXPECT_FALSE(applies(job(BulkAction::replay), execution(ExecutionState::failed, now + 1ms)));
  EXPECT_FALSE(applies(job(BulkAction::replay), execution(ExecutionState::waiting)));
}

TEST(Bulk, ShowsItsFirstFailures) {
  auto bulk = job(BulkAction::cancel);
  for (std::size_t i = 0; i < 20; ++i) note_failure(bulk, {}, Error(Errc::internal, "broke"));
  EXPECT_EQ(bulk.counts.failed, 20u);
  EXPECT_EQ(bulk.failures.size(), limits::bulk_failures_max);
}

}  // namespace
}  // namespace ff::core::bulks_test
