#include "core/test_support.hpp"

namespace ff::core {
namespace {

Execution parent() {
  auto execution = active();
  execution.flow = Membership{.flow = {}, .edges_in = 1};
  return execution;
}

// ---- Delay

TEST(Delay, GivesBackOnlyWhatIsActive) {
  EXPECT_EQ(in_every_state(delay(fence(1), t0 + 20s)), R"(
waiting: execution_not_active
granted(w1 until +60000): execution_not_active
delayed(until +60000): execution_not_active
waiting_children: execution_not_active
active(w1#1 until +30000) -> delayed(until +20000) [delayed]
waiting(reclaim): lease_expired
waiting(reclaim): lease_revoked
completed(+1000): execution_not_active
failed(+1000, broke, permanent): execution_not_active
cancelled(+1000, why): execution_not_active
expired(+1000, execution_deadline): execution_not_active
)");
}

TEST(Delay, UntilNowOrBeforeIsReadyAtOnce) {
  const auto step = must(apply(active(), delay(fence(1), t0 + 1s), t0 + 1s));
  EXPECT_EQ(show(*step.next), "waiting(resume)");
  EXPECT_EQ(step.reply, EndReply{ExecutionState::waiting});
  EXPECT_EQ(show(after(apply(active(), delay(fence(1), t0 - 1h), t0 + 1s))), "waiting(resume)");
}

TEST(Delay, RepeatedWithItsFenceChangesNothing) {
  const auto again = must(apply(paused(), delay(fence(1), t0 + 2h), t0 + 2s));
  EXPECT_EQ(again.reply, EndReply{ExecutionState::delayed});
  EXPECT_FALSE(again.next);
  const auto due = after(apply(paused(), fire(TimerKind::delay), t0 + 60s));
  EXPECT_EQ(trace(due, delay(fence(1)), t0 + 60s), "waiting(resume): unchanged");
  const auto set_aside = after(apply(due, grant(2), t0 + 60s));
  EXPECT_EQ(trace(set_aside, delay(fence(1)), t0 + 60s), "granted(w2 until +120000): unchanged");
}

TEST(Delay, RepeatedAfterTheAttemptWentOnOrEndedIsRefused) {
  const auto due = after(apply(paused(), fire(TimerKind::delay), t0 + 60s));
  const auto resumed = after(apply(due, claim(2), t0 + 60s));
  EXPECT_EQ(verdict(apply(resumed, delay(fence(1)), t0 + 61s)), "stale_lease");
  const auto ended = after(apply(paused(), cancel(), t0 + 2s));
  EXPECT_EQ(verdict(apply(ended, delay(fence(1)), t0 + 3s)), "execution_not_active");
  EXPECT_EQ(verdict(apply(paused(), wait_for_children(fence(1)), t0 + 3s)), "execution_not_active");
}

// ---- Resuming

TEST(Resume, GoesOnWithTheAttempt) {
  const auto due = after(apply(paused(), fire(TimerKind::delay), t0 + 60s));
  EXPECT_EQ(show(due), "waiting(resume)");
  const auto step = must(apply(due, claim(2), t0 + 60s));
  EXPECT_TRUE(step.reply.resumed);
  EXPECT_EQ(step.reply.attempt_index, 0u);
  EXPECT_EQ(step.reply.attempt_type, AttemptType::initial);
  EXPECT_EQ(step.reply.fence, fence(2, 1));
  EXPECT_EQ(step.next->attempt_count, 1u);
  EXPECT_EQ(step.next->attempt->worker, worker(2));
  EXPECT_EQ(step.next->attempt->started_at, t0);
  EXPECT_FALSE(step.archive);
}

TEST(Resume, KeepsTheProgress) {
  auto execution = after(apply(active(), progress(fence(1)), t0));
  execution = after(apply(execution, delay(fence(1), t0), t0));
  EXPECT_TRUE(after(apply(execution, claim(2), t0)).progress);
}

TEST(Resume, RepeatedWithItsLeaseIdAnswersAsTheFirstTime) {
  const auto ready = after(apply(active(), delay(fence(1), t0), t0 + 1s));
  const auto first = must(apply(ready, claim(2), t0 + 2s));
  EXPECT_EQ(must(apply(*first.next, claim(2), t0 + 3s)).reply, first.reply);
}

TEST(Resume, HasWhatWasLeftOfTheAttemptsTime) {
  auto execution = active({.attempt_timeout = 10s});
  execution = after(apply(execution, delay(fence(1), t0 + 1h), t0 + 4s));
  EXPECT_EQ(execution.attempt->timeout_left, 6s);
  execution = after(apply(execution, fire(TimerKind::delay), t0 + 1h));
  const auto step = must(apply(execution, claim(2), t0 + 1h));
  EXPECT_EQ(step.reply.attempt_deadline, t0 + 1h + 6s);
  EXPECT_FALSE(step.next->attempt->timeout_left);
}

// The timer may be late; an attempt that paused just before must not run for ever.
TEST(Resume, HasAMomentLeftIfTheTimeWasUp) {
  auto execution = active({.attempt_timeout = 10s});
  execution = after(apply(execution, delay(fence(1), t0), t0 + 20s));
  EXPECT_EQ(must(apply(execution, claim(2), t0 + 20s)).reply.attempt_deadline, t0 + 20s + 1ms);
}

// ---- WaitForChildren

TEST(WaitForChildren, GivesBackOnlyWhatIsActive) {
  EXPECT_EQ(in_every_state(wait_for_children(fence(1))), R"(
waiting: execution_not_active
granted(w1 until +60000): execution_not_active
delayed(until +60000): execution_not_active
waiting_children: unchanged
active(w1#1 until +30000) -> waiting(resume) [waiting_children]
waiting(reclaim): lease_expired
waiting(reclaim): lease_revoked
completed(+1000): execution_not_active
failed(+1000, broke, permanent): execution_not_active
cancelled(+1000, why): execution_not_active
expired(+1000, execution_deadline): execution_not_active
)");
}

TEST(WaitForChildren, WaitsIfThereAreAny) {
  const auto step = must(apply(parent(), wait_for_children(fence(1)), t0 + 1s));
  EXPECT_EQ(show(*step.next), "waiting_children");
  EXPECT_EQ(step.reply, EndReply{ExecutionState::waiting_children});
  EXPECT_EQ(step.event, EventType::waiting_children);
}

TEST(WaitForChildren, WithoutAnyIsReadyAtOnce) {
  const auto step = must(apply(active(), wait_for_children(fence(1)), t0 + 1s));
  EXPECT_EQ(step.reply, EndReply{ExecutionState::waiting});
  EXPECT_TRUE(is_claimable(*step.next, t0 + 1s));
}

TEST(WaitForChildren, RepeatedWithItsFenceAnswersAsTheFirstTime) {
  const auto again = must(apply(waiting_children(), wait_for_children(fence(1)), t0 + 1h));
  EXPECT_EQ(again.reply, EndReply{ExecutionState::waiting_children});
  EXPECT_FALSE(again.next);
}

TEST(WaitForChildren, RepeatedAfterTheAttemptWentOnIsRefused) {
  const auto ready = after(apply(active(), wait_for_children(fence(1)), t0 + 1s));
  const auto resumed = after(apply(ready, claim(2), t0 + 2s));
  EXPECT_EQ(verdict(apply(resumed, wait_for_children(fence(1)), t0 + 3s)), "stale_lease");
}

TEST(WaitForChildren, KeepsWhatIsLeftOfTheAttemptsTime) {
  const auto execution = waiting_children({.attempt_timeout = 10s});
  EXPECT_EQ(execution.attempt->timeout_left, 9s);
}

}  // namespace
}  // namespace ff::core
