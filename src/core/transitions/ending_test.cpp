#include "core/refusals.hpp"
#include "core/test_support.hpp"

namespace ff::core {
namespace {

// ---- Complete

TEST(Complete, EndsOnlyWhatIsActive) {
  EXPECT_EQ(in_every_state(complete(fence(1))), R"(
waiting: execution_not_active
granted(w1 until +60000): execution_not_active
delayed(until +60000): execution_not_active
waiting_children: execution_not_active
active(w1#1 until +30000) -> completed(+10000) [completed]
waiting(reclaim): lease_expired
waiting(reclaim): lease_revoked
completed(+1000): unchanged
failed(+1000, broke, permanent): execution_not_active
cancelled(+1000, why): execution_not_active
expired(+1000, execution_deadline): execution_not_active
)");
}

TEST(Complete, StoresTheResult) {
  EXPECT_EQ(must(apply(active(), complete(fence(1)), t0)).result, "out");
}

TEST(Complete, TellsNoResultFromAnEmptyOne) {
  auto command = complete(fence(1));
  command.result = "";
  EXPECT_EQ(must(apply(active(), command, t0)).result, "");
  command.result.reset();
  EXPECT_EQ(must(apply(active(), command, t0)).result, std::nullopt);
}

TEST(Complete, RepeatedWithItsFenceAnswersAsTheFirstTime) {
  auto command = complete(fence(1));
  command.result = "other";
  const auto again = must(apply(completed(), command, t0 + 1h));
  EXPECT_EQ(again.reply, EndReply{ExecutionState::completed});
  EXPECT_FALSE(again.next);
  EXPECT_FALSE(again.result);
  EXPECT_FALSE(again.event);
}

TEST(Complete, RepeatedWithAnotherFenceIsRefused) {
  EXPECT_EQ(verdict(apply(completed(), complete(fence(2)), t0 + 2s)), "execution_not_active");
}

TEST(Complete, RepeatedAfterAReplayIsRefused) {
  auto execution = after(apply(completed(), replay(), t0 + 2s));
  EXPECT_EQ(verdict(apply(execution, complete(fence(1)), t0 + 3s)), "execution_not_active");
  execution = after(apply(execution, claim(2), t0 + 3s));
  EXPECT_EQ(verdict(apply(execution, complete(fence(1)), t0 + 4s)), "stale_lease");
}

// ---- Fail

TEST(Fail, EndsOnlyWhatIsActive) {
  EXPECT_EQ(in_every_state(fail_with(fence(1), "transient")), R"(
waiting: execution_not_active
granted(w1 until +60000): execution_not_active
delayed(until +60000): execution_not_active
waiting_children: execution_not_active
active(w1#1 until +30000) -> failed(+10000, broke, transient) [failed]
waiting(reclaim): lease_expired
waiting(reclaim): lease_revoked
completed(+1000): execution_not_active
failed(+1000, broke, permanent): unchanged
cancelled(+1000, why): execution_not_active
expired(+1000, execution_deadline): execution_not_active
)");
}

TEST(Fail, WithoutAPolicyIsFinal) {
  const auto step = must(apply(active(), fail_with(fence(1)), t0 + 1s));
  EXPECT_EQ(step.reply, (FailReply{.state = ExecutionState::failed}));
  EXPECT_EQ(step.next->attempt->end->outcome, AttemptOutcome::failure);
}

TEST(Fail, RepeatedWithItsFenceAnswersAsTheFirstTime) {
  const auto again = must(apply(failed(), fail_with(fence(1), "other"), t0 + 1h));
  EXPECT_EQ(again.reply, (FailReply{.state = ExecutionState::failed}));
  EXPECT_FALSE(again.next);
}

TEST(Fail, ARetriedFailureIsDelayed) {
  const auto step = must(apply(active(retrying()), fail_with(fence(1)), t0 + 1s));
  EXPECT_EQ(step.reply, (FailReply{.state = ExecutionState::delayed, .retry_at = t0 + 2s}));
  EXPECT_EQ(show(*step.next), "delayed(until +2000)");
  EXPECT_EQ(step.event, EventType::retry_scheduled);
  EXPECT_EQ(step.next->retry_count, 1u);
  EXPECT_EQ(step.next->attempt->end->retry_at, t0 + 2s);
}

TEST(Fail, ARepeatOfARetriedFailureGetsTheFirstAnswer) {
  const FailReply first{.state = ExecutionState::delayed, .retry_at = t0 + 2s};
  EXPECT_EQ(must(apply(retry_delayed(), fail_with(fence(1)), t0 + 1s)).reply, first);
  const auto due = after(apply(retry_delayed(), fire(TimerKind::delay), t0 + 2s));
  const auto again = must(apply(due, fail_with(fence(1)), t0 + 2s));
  EXPECT_EQ(again.reply, first);
  EXPECT_FALSE(again.next);
}

TEST(Fail, WithoutABackoffIsReadyAtOnce) {
  const auto step = must(apply(active(retrying(FixedBackoff{0s})), fail_with(fence(1)), t0 + 1s));
  EXPECT_EQ(show(*step.next), "waiting(retry)");
  const FailReply first{.state = ExecutionState::waiting, .retry_at = t0 + 1s};
  EXPECT_EQ(step.reply, first);
  EXPECT_EQ(must(apply(*step.next, fail_with(fence(1)), t0 + 2s)).reply, first);
}

TEST(Fail, RepeatedAfterTheNextAttemptBeganIsRefused) {
  auto execution = after(apply(retry_delayed(), fire(TimerKind::delay), t0 + 2s));
  execution = after(apply(execution, claim(2), t0 + 2s));
  EXPECT_EQ(verdict(apply(execution, fail_with(fence(1)), t0 + 3s)), "stale_lease");
}

// An attempt that a timeout ended was not ended by the worker's call.
TEST(Fail, AfterATimeoutIsNotARepeat) {
  const Policy timed{.attempt_timeout = 1s};
  const auto over = after(apply(active(timed), fire(TimerKind::attempt_timeout), t0 + 1s));
  EXPECT_EQ(trace(over, fail_with(fence(1)), t0 + 2s),
            "expired(+1000, attempt_timeout): execution_not_active");
  auto retried = retrying();
  retried.attempt_timeout = 1s;
  const auto later = after(apply(active(retried), fire(TimerKind::attempt_timeout), t0 + 1s));
  EXPECT_EQ(trace(later, fail_with(fence(1)), t0 + 1s),
            "delayed(until +2000): execution_not_active");
  const Policy deadline{.execution_deadline = 5s};
  for (const auto& execution : {active(deadline), paused(deadline)}) {
    const auto ended = after(apply(execution, fire(TimerKind::execution_deadline), t0 + 5s));
    EXPECT_EQ(trace(ended, fail_with(fence(1)), t0 + 6s),
              "expired(+5000, execution_deadline): execution_not_active");
  }
}

// ---- Reading

TEST(ReadResult, IsThereOnlyAfterSuccess) {
  EXPECT_EQ(read_result(completed(), "r"), (Bytes{.bytes = "r"}));
  EXPECT_EQ(read_result(completed(), ""), (Bytes{.bytes = ""}));
  EXPECT_EQ(read_result(completed(), {}), (Bytes{.bytes = "", .absent = true}));
}

TEST(ReadResult, BeforeTheEndIsRefused) {
  for (const auto& execution : {waiting(), granted(), delayed(), waiting_children(), active(),
                                lapsed(), revoked(), replayed()}) {
    const auto error = read_result(execution, "r").error();
    EXPECT_EQ(error.code, Errc::execution_not_terminal);
    EXPECT_EQ(detail(error, "state"), to_string(public_state(execution)));
  }
}

TEST(ReadResult, OfAnotherEndTellsTheReason) {
  const auto told = [](const Execution& execution) {
    const auto error = read_result(execution, {}).error();
    EXPECT_EQ(error.code, Errc::execution_failed);
    EXPECT_THAT(error.message, ::testing::StartsWith("execution " + test_id().str()));
    return detail(error, "state") + ": " + detail(error, "reason");
  };
  EXPECT_EQ(told(failed()), "failed: broke");
  EXPECT_EQ(told(cancelled()), "cancelled: why");
  EXPECT_EQ(told(expired()), "expired: execution_deadline");
}

TEST(NotFound, NamesTheId) {
  const auto error = refusals::not_found(test_id()).error();
  EXPECT_EQ(error.code, Errc::execution_not_found);
  EXPECT_THAT(error.message, ::testing::HasSubstr(test_id().str()));
}

}  // namespace
}  // namespace ff::core
