#include "core/test_support.hpp"

namespace ff::core {
namespace {

TEST(Cancel, EndsWhatHasNotEnded) {
  EXPECT_EQ(in_every_state(cancel()), R"(
waiting -> cancelled(+10000, why) [cancelled]
granted(w1 until +60000) -> cancelled(+10000, why) [cancelled]
delayed(until +60000) -> cancelled(+10000, why) [cancelled]
waiting_children -> cancelled(+10000, why) [cancelled]
active(w1#1 until +30000) -> cancelled(+10000, why) [cancelled]
waiting(reclaim) -> cancelled(+10000, why) [cancelled]
waiting(reclaim) -> cancelled(+10000, why) [cancelled]
completed(+1000): execution_not_active
failed(+1000, broke, permanent): execution_not_active
cancelled(+1000, why): unchanged
expired(+1000, execution_deadline): execution_not_active
)");
}

TEST(Cancel, ByAWorkerNeedsItsLease) {
  EXPECT_EQ(in_every_state(cancel(fence(1))), R"(
waiting: execution_not_active
granted(w1 until +60000): execution_not_active
delayed(until +60000): execution_not_active
waiting_children: execution_not_active
active(w1#1 until +30000) -> cancelled(+10000, why) [cancelled]
waiting(reclaim): lease_expired
waiting(reclaim): lease_revoked
completed(+1000): execution_not_active
failed(+1000, broke, permanent): execution_not_active
cancelled(+1000, why): execution_not_active
expired(+1000, execution_deadline): execution_not_active
)");
}

TEST(Cancel, EndsTheAttemptToo) {
  for (const auto& execution : {active(), paused(), waiting_children()}) {
    const auto ended = after(apply(execution, cancel(), t0 + 2s));
    EXPECT_EQ(ended.attempt->end, (AttemptEnd{.at = t0 + 2s,
                                              .outcome = AttemptOutcome::cancelled,
                                              .reason = "cancelled: why"}));
  }
  EXPECT_FALSE(after(apply(waiting(), cancel(), t0)).attempt);
}

TEST(Cancel, LeavesAnAttemptThatEndedBefore) {
  for (const auto& execution : {lapsed(), revoked(), retry_delayed(), replayed()})
    EXPECT_EQ(after(apply(execution, cancel(), t0 + 3s)).attempt, execution.attempt);
}

TEST(Cancel, RepeatedAnswersAsTheFirstTime) {
  const auto by_worker = after(apply(active(), cancel(fence(1)), t0 + 1s));
  const auto again = must(apply(by_worker, cancel(fence(1)), t0 + 1h));
  EXPECT_EQ(again.reply, EndReply{ExecutionState::cancelled});
  EXPECT_FALSE(again.next);
  EXPECT_FALSE(again.event);
}

TEST(Cancel, ByAnOperatorOfWhatIsCancelledSucceeds) {
  const auto by_worker = after(apply(active(), cancel(fence(1)), t0 + 1s));
  EXPECT_EQ(trace(by_worker, cancel(), t0 + 2s), "cancelled(+1000, why): unchanged");
}

TEST(Cancel, ByAWorkerThatDidNotDoItIsRefused) {
  const auto by_worker = after(apply(active(), cancel(fence(1)), t0 + 1s));
  EXPECT_EQ(verdict(apply(by_worker, cancel(fence(2)), t0 + 2s)), "execution_not_active");
  EXPECT_EQ(verdict(apply(cancelled(), cancel(fence(1)), t0 + 2s)), "execution_not_active");
}

TEST(Cancel, RepeatedAfterAReplayIsRefused) {
  auto execution = after(apply(active(), cancel(fence(1)), t0 + 1s));
  execution = after(apply(execution, replay(), t0 + 2s));
  EXPECT_EQ(verdict(apply(execution, cancel(fence(1)), t0 + 3s)), "execution_not_active");
  execution = after(apply(execution, claim(2), t0 + 3s));
  EXPECT_EQ(verdict(apply(execution, cancel(fence(1)), t0 + 4s)), "stale_lease");
}

}  // namespace
}  // namespace ff::core
