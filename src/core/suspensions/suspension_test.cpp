#include "core/suspensions/memory_view.hpp"

namespace ff::core {
namespace {

SuspensionId suspension_id(std::uint8_t n) { return SuspensionId{uuid_of(n)}; }
WaitpointId waitpoint_id(std::uint8_t n) { return WaitpointId{uuid_of(n)}; }

Suspend suspend(std::uint8_t n = 1, Fence by = fence(1)) {
  return {.id = test_id(), .fence = by, .suspension_id = suspension_id(n)};
}
Suspend suspend_for(std::string signal, std::uint8_t n = 1, Fence by = fence(1)) {
  auto command = suspend(n, by);
  command.condition = {OneSignal{.name = signal_name(std::move(signal))}};
  return command;
}
SendSignal send(std::string signal, std::uint8_t n = 1) {
  return {
      .id = test_id(), .name = signal_name(std::move(signal)), .signal_id = SignalId{uuid_of(n)}};
}
CreateWaitpoint open(std::string waitpoint, std::uint8_t n = 1) {
  return {.id = test_id(),
          .fence = fence(1),
          .waitpoint = {.key = waitpoint_key(std::move(waitpoint)), .id = waitpoint_id(n)}};
}
Resume resume_by_operator() { return {.id = test_id(), .reason = "checked"}; }

std::string effect_of(const Result<SignalReply>& reply) {
  if (!reply) return std::string(reply.error().name());
  return std::string(to_string(reply->effect)) + (reply->duplicate ? " (duplicate)" : "");
}

TEST(Suspend, GivesUpTheLeaseAndWaits) {
  MemoryView view(active());
  const auto reply = must(view.run(suspend_for("go"), t0 + 1s));
  EXPECT_EQ(view.story(), "suspended(waiting_for_signal since +1000) [suspended]");
  EXPECT_EQ(reply.state, ExecutionState::suspended);
  EXPECT_EQ(view.execution().attempt->past_leases.back().end, LeaseEnd::suspended);
}

TEST(Suspend, AnswersARepeatedCallAsTheFirstTime) {
  MemoryView view(active());
  const auto first = must(view.run(suspend_for("go"), t0 + 1s));
  EXPECT_EQ(must(view.run(suspend_for("go"), t0 + 2s)), first);
  EXPECT_EQ(show(view.execution()), "suspended(waiting_for_signal since +1000)");
}

TEST(Suspend, RefusesAnotherCallUnderTheSameLease) {
  MemoryView view(active());
  must(view.run(suspend_for("go", 1), t0 + 1s));
  const auto before = view.story();
  EXPECT_EQ(verdict(view.run(suspend_for("go", 2), t0 + 2s)), "execution_not_active");
  EXPECT_EQ(verdict(view.run(suspend_for("other", 2), t0 + 2s)), "execution_not_active");
  EXPECT_EQ(view.story(), before);
}

TEST(Suspend, UnderALaterLeaseWithTheSameIdIsNoRepeat) {
  MemoryView view(active());
  must(view.run(suspend_for("go", 1), t0 + 1s));
  must(view.run(send("go"), t0 + 2s));
  must(view.run(claim(1), t0 + 3s));
  auto second = suspend_for("again", 2, std::get<Active>(view.execution().state).lease.fence);
  ASSERT_EQ(second.fence.lease_id, fence(1).lease_id);
  EXPECT_EQ(must(view.run(second, t0 + 4s)).suspension_id, suspension_id(2));
}

TEST(Suspend, RefusesToCountMoreSignalsThanThePolicyAllows) {
  Policy policy;
  policy.max_signals = 2;
  auto command = suspend();
  command.condition = {CountOf{.n = 3}};
  EXPECT_EQ(verdict(MemoryView(active(policy)).run(command, t0)), "invalid_condition");
}

TEST(Suspend, NeedsTheLease) {
  MemoryView view(active());
  EXPECT_EQ(verdict(view.run(suspend(1, fence(2)), t0 + 1s)), "stale_lease");
  EXPECT_EQ(verdict(MemoryView(waiting()).run(suspend(), t0)), "execution_not_active");
  EXPECT_EQ(verdict(MemoryView(lapsed()).run(suspend(), t0 + 2s)), "lease_expired");
  EXPECT_EQ(view.record_count(), 0u);
}

TEST(Suspend, KeepsTheRestOfTheAttemptsTime) {
  Policy policy;
  policy.attempt_timeout = 60s;
  MemoryView view(active(policy));
  must(view.run(suspend_for("go"), t0 + 20s));
  must(view.run(send("go"), t0 + 1h));
  const auto claimed = must(view.run(claim(2), t0 + 1h));
  EXPECT_EQ(claimed.attempt_deadline, t0 + 1h + 40s);
  EXPECT_TRUE(claimed.resumed);
  EXPECT_EQ(claimed.attempt_index, 0u);
  EXPECT_EQ(claimed.wake->cause, WakeCause::signals);
}

TEST(Signal, ResumesAndTellsTheSender) {
  MemoryView view(active());
  must(view.run(suspend_for("go"), t0 + 1s));
  EXPECT_EQ(effect_of(view.run(send("stop", 1), t0 + 2s)), "signal_ignored_matcher_failed");
  EXPECT_EQ(effect_of(view.run(send("go", 2), t0 + 3s)), "resume_condition_satisfied");
  EXPECT_EQ(view.story(), "waiting(resume) [resumed]");
}

TEST(Signal, BeforeTheSuspensionCounts) {
  MemoryView view(active());
  EXPECT_EQ(effect_of(view.run(send("go"), t0)), "buffered_for_pending_waitpoint");
  const auto reply = must(view.run(suspend_for("go"), t0 + 1s));
  EXPECT_TRUE(reply.satisfied);
  EXPECT_EQ(view.story(), "active(w1#1 until +30000) [resumed]");
  EXPECT_EQ(must(view.run(suspend_for("go"), t0 + 2s)), reply);
}

TEST(Signal, CountsForOneSuspensionOnly) {
  MemoryView view(active());
  must(view.run(send("go"), t0));
  must(view.run(suspend_for("go", 1), t0 + 1s));
  const auto second = must(view.run(suspend_for("go", 2), t0 + 2s));
  EXPECT_FALSE(second.satisfied);
  EXPECT_EQ(view.story(), "suspended(waiting_for_signal since +2000) [suspended]");
}

TEST(Signal, IsKeptForALaterSuspensionIfItDidNotCount) {
  MemoryView view(active());
  must(view.run(suspend_for("first"), t0));
  must(view.run(send("second", 1), t0 + 1s));
  must(view.run(send("first", 2), t0 + 2s));
  must(view.run(claim(2), t0 + 3s));
  EXPECT_TRUE(must(view.run(suspend_for("second", 2, fence(2, 1)), t0 + 4s)).satisfied);
}

TEST(Signal, UncountedOnesDoNotMakeLaterSuspensionsReadAllAfterThem) {
  MemoryView view(active());
  must(view.run(send("noise", 1), t0));
  for (std::uint8_t round = 2; round < 52; ++round) {
    must(view.run(send("go", round), t0));
    EXPECT_TRUE(must(view.run(suspend_for("go", round), t0)).satisfied);
  }
  EXPECT_LE(view.signals_read, 2 * 50u);
  EXPECT_TRUE(must(view.run(suspend_for("noise", 99), t0)).satisfied) << "it counts in the end";
}

TEST(Signal, OfAClosedWaitpointIsNotReadAgain) {
  MemoryView view(active());
  must(view.run(open("deploy"), t0));
  auto signal = send("approve", 1);
  signal.waitpoint = waitpoint_id(1);
  must(view.run(signal, t0));
  must(view.run(CloseWaitpoint{.id = test_id(), .waitpoint = waitpoint_id(1)}, t0));
  for (std::uint8_t round = 2; round < 4; ++round) {
    must(view.run(send("go", round), t0));
    must(view.run(suspend_for("go", round), t0));
  }
  EXPECT_EQ(view.signals_read, 3u);
}

TEST(Signal, WithAnIdThatIsKnownAnswersAsTheFirstTimeAndCountsOnce) {
  MemoryView view(active());
  auto command = suspend();
  command.condition = {CountOf{.n = 2}};
  must(view.run(command, t0));
  const auto first = must(view.run(send("vote", 1), t0));
  EXPECT_EQ(must(view.run(send("vote", 1), t0 + 1s)), first);
  EXPECT_EQ(view.execution().signal_count, 1u);
  EXPECT_EQ(effect_of(view.run(send("vote", 2), t0 + 2s)), "resume_condition_satisfied");
}

TEST(Signal, IsKnownByItsKeyUntilTheWindowEnds) {
  MemoryView view(active());
  auto signal = send("go", 1);
  signal.idempotency_key = *SignalKey::parse("k");
  signal.dedup_window = 10s;
  must(view.run(suspend_for("other"), t0));
  EXPECT_EQ(effect_of(view.run(signal, t0 + 1s)), "signal_ignored_matcher_failed");
  signal.signal_id = SignalId{uuid_of(2)};
  const auto again = must(view.run(signal, t0 + 2s));
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.signal_id, SignalId{uuid_of(1)});
  EXPECT_FALSE(must(view.run(signal, t0 + 11s)).duplicate);
}

TEST(Signal, RepeatedAfterTheEndStillAnswersAsTheFirstTime) {
  MemoryView view(active());
  auto signal = send("go", 1);
  signal.idempotency_key = *SignalKey::parse("k");
  must(view.run(signal, t0));
  must(view.run(complete(fence(1)), t0 + 1s));
  EXPECT_EQ(effect_of(view.run(signal, t0 + 2s)), "buffered_for_pending_waitpoint");
  signal.signal_id = SignalId{uuid_of(2)};
  EXPECT_TRUE(must(view.run(signal, t0 + 2s)).duplicate);
  EXPECT_EQ(effect_of(view.run(send("go", 2), t0 + 2s)), "target_not_signalable");
}

TEST(Signal, IsLimitedByThePolicy) {
  Policy policy;
  policy.max_signals = 2;
  MemoryView view(active(policy));
  must(view.run(send("a", 1), t0));
  must(view.run(send("a", 2), t0));
  EXPECT_EQ(effect_of(view.run(send("a", 3), t0)), "signal_limit_exceeded");
}

TEST(Signal, ResumesAfterADelayAndIsNotStranded) {
  MemoryView view(active());
  auto command = suspend_for("go");
  command.resume_delay = 10s;
  must(view.run(command, t0));
  must(view.run(send("go"), t0 + 1s));
  EXPECT_EQ(view.story(), "delayed(until +11000) [resumed]");
  EXPECT_EQ(state_vector(view.execution()).blocking_reason,
            BlockingReason::waiting_for_resume_delay);
  must(view.run(fire(TimerKind::delay), t0 + 11s));
  EXPECT_EQ(view.story(), "waiting(resume) [promoted]");
}

TEST(Waitpoint, IsOpenedOncePerKeyAndTakenByItsSuspension) {
  MemoryView view(active());
  const auto opened = must(view.run(open("deploy", 1), t0));
  EXPECT_FALSE(opened.duplicate);
  const auto again = must(view.run(open("deploy", 2), t0 + 1s));
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.waitpoint.info.id, waitpoint_id(1));
  auto command = suspend();
  command.condition = {OneSignal{.waitpoint = waitpoint_key("deploy")}};
  command.waitpoints = {{.key = waitpoint_key("deploy"), .id = waitpoint_id(3)}};
  const auto suspended = must(view.run(command, t0 + 2s));
  ASSERT_EQ(suspended.waitpoints.size(), 1u);
  EXPECT_EQ(suspended.waitpoints[0].info.id, waitpoint_id(1));
  EXPECT_EQ(suspended.waitpoints[0].info.state, WaitpointState::active);
}

TEST(Waitpoint, ASignalThatItGotBeforeTheSuspensionCounts) {
  MemoryView view(active());
  must(view.run(open("deploy"), t0));
  auto signal = send("approve");
  signal.waitpoint = waitpoint_id(1);
  EXPECT_EQ(effect_of(view.run(signal, t0)), "buffered_for_pending_waitpoint");
  auto command = suspend();
  command.condition = {OneSignal{.waitpoint = waitpoint_key("deploy")}};
  command.waitpoints = {{.key = waitpoint_key("deploy")}};
  EXPECT_TRUE(must(view.run(command, t0 + 1s)).satisfied);
}

TEST(Waitpoint, IsClosedWithItsSuspensionAndOpensNothingLater) {
  MemoryView view(active());
  auto command = suspend();
  command.waitpoints = {{.key = waitpoint_key("deploy"), .id = waitpoint_id(1)}};
  must(view.run(command, t0));
  must(view.run(resume_by_operator(), t0 + 1s));
  auto signal = send("approve");
  signal.waitpoint = waitpoint_id(1);
  EXPECT_EQ(effect_of(view.run(signal, t0 + 2s)), "waitpoint_closed");
  must(view.run(claim(2), t0 + 3s));
  must(view.run(suspend(2, fence(2, 1)), t0 + 4s));
  EXPECT_EQ(effect_of(view.run(signal, t0 + 5s)), "waitpoint_not_found");
  EXPECT_EQ(show(view.execution()), "suspended(waiting_for_signal since +4000)");
}

TEST(Waitpoint, ClosesAtItsExpiryEvenBeforeTheTimerFires) {
  MemoryView view(active());
  auto command = open("deploy");
  command.waitpoint.expires_in = 10s;
  must(view.run(command, t0));
  auto signal = send("approve");
  signal.waitpoint = waitpoint_id(1);
  EXPECT_EQ(effect_of(view.run(signal, t0 + 10s)), "waitpoint_closed");
  EXPECT_EQ(next_timer(view.execution()),
            (Timer{.kind = TimerKind::waitpoint_expiry, .due = t0 + 10s}));
  EXPECT_TRUE(must(view.run(fire(TimerKind::waitpoint_expiry), t0 + 10s)).fired);
  EXPECT_EQ(view.waits()->waitpoints[0].close_reason, "never_committed");
  EXPECT_EQ(next_timer(view.execution())->kind, TimerKind::lease_expiry);
}

TEST(Waitpoint, CanBeClosedByItsOwner) {
  MemoryView view(active());
  must(view.run(open("deploy"), t0));
  const CloseWaitpoint close{.id = test_id(), .waitpoint = waitpoint_id(1)};
  EXPECT_TRUE(must(view.run(close, t0)).closed);
  EXPECT_FALSE(must(view.run(close, t0)).closed);
  EXPECT_EQ(verdict(view.run(CloseWaitpoint{.id = test_id(), .waitpoint = waitpoint_id(7)}, t0)),
            "waitpoint_not_found");
}

TEST(Waitpoint, OpenOnesAreLimited) {
  MemoryView view(active());
  for (std::uint8_t n = 0; n < limits::waitpoints_max; ++n)
    must(view.run(open(fmt::format("w{}", n), n), t0));
  EXPECT_EQ(verdict(view.run(open("more", 200), t0)), "waitpoint_limit_exceeded");
}

TEST(Waitpoint, OldestClosedOnesAreForgotten) {
  MemoryView view(active());
  for (std::uint8_t n = 0; n < 100; ++n) {
    must(view.run(open(fmt::format("w{}", n), n), t0));
    must(view.run(CloseWaitpoint{.id = test_id(), .waitpoint = waitpoint_id(n)}, t0));
  }
  EXPECT_LE(view.waits()->waitpoints.size(), limits::waitpoints_max + 1);
  auto signal = send("approve");
  signal.waitpoint = waitpoint_id(99);
  EXPECT_EQ(effect_of(view.run(signal, t0)), "waitpoint_closed");
  signal.waitpoint = waitpoint_id(0);
  EXPECT_EQ(effect_of(view.run(signal, t0)), "waitpoint_not_found");
}

std::string after_timeout(TimeoutAction action) {
  MemoryView view(active());
  auto command = suspend_for("go");
  command.timeout = 10s;
  command.on_timeout = action;
  must(view.run(command, t0));
  EXPECT_FALSE(must(view.run(fire(TimerKind::suspension_timeout), t0 + 9s)).fired);
  EXPECT_TRUE(must(view.run(fire(TimerKind::suspension_timeout), t0 + 10s)).fired);
  return view.story();
}

TEST(SuspensionTimeout, DoesWhatTheSuspensionSays) {
  EXPECT_EQ(after_timeout(TimeoutAction::fail),
            "failed(+10000, suspension_timeout:fail, timeout) [failed]");
  EXPECT_EQ(after_timeout(TimeoutAction::cancel),
            "cancelled(+10000, suspension_timeout:cancel) [cancelled]");
  EXPECT_EQ(after_timeout(TimeoutAction::expire),
            "expired(+10000, suspension_timeout:expire) [expired]");
  EXPECT_EQ(after_timeout(TimeoutAction::auto_resume), "waiting(resume) [resumed]");
  EXPECT_EQ(after_timeout(TimeoutAction::escalate),
            "suspended(waiting_for_operator_review since +0) [escalated]");
}

TEST(SuspensionTimeout, TellsTheWorkerThatItWasATimeout) {
  MemoryView view(active());
  auto command = suspend_for("go");
  command.timeout = 10s;
  command.on_timeout = TimeoutAction::auto_resume;
  must(view.run(command, t0));
  must(view.run(fire(TimerKind::suspension_timeout), t0 + 10s));
  EXPECT_EQ(must(view.run(claim(2), t0 + 11s)).wake,
            (Wake{.suspension_id = suspension_id(1), .cause = WakeCause::timeout, .at = t0 + 10s}));
}

TEST(SuspensionTimeout, AfterAnEscalationSignalsCountButDoNotResume) {
  MemoryView view(active());
  auto command = suspend_for("go");
  command.timeout = 10s;
  command.on_timeout = TimeoutAction::escalate;
  must(view.run(command, t0));
  must(view.run(fire(TimerKind::suspension_timeout), t0 + 10s));
  EXPECT_EQ(effect_of(view.run(send("go"), t0 + 11s)), "appended_to_waitpoint");
  EXPECT_EQ(view.story(), "suspended(waiting_for_operator_review since +0) [signalled]");
}

TEST(Operator, ResumesAlsoWhatWasEscalated) {
  MemoryView view(active());
  auto command = suspend();
  command.condition = {OperatorOnly{}};
  command.timeout = 10s;
  command.on_timeout = TimeoutAction::escalate;
  must(view.run(command, t0));
  must(view.run(fire(TimerKind::suspension_timeout), t0 + 10s));
  EXPECT_EQ(next_timer(view.execution()), std::nullopt);
  must(view.run(resume_by_operator(), t0 + 11s));
  EXPECT_EQ(view.story(), "waiting(resume) [resumed]");
  EXPECT_EQ(view.execution().wake->reason, "checked");
  EXPECT_EQ(verdict(view.run(resume_by_operator(), t0 + 12s)), "execution_not_suspended");
}

TEST(SuspendedExecution, EndsByCancelAndDeadline) {
  MemoryView view(active());
  must(view.run(suspend_for("go"), t0));
  must(view.run(cancel(), t0 + 1s));
  EXPECT_EQ(view.story(), "cancelled(+1000, why) [cancelled]");
  Policy policy;
  policy.execution_deadline = 5s;
  MemoryView other(active(policy));
  must(other.run(suspend_for("go"), t0));
  must(other.run(fire(TimerKind::execution_deadline), t0 + 5s));
  EXPECT_EQ(other.story(), "expired(+5000, execution_deadline) [expired]");
}

TEST(SuspendedExecution, ReplayStartsWithoutSignalsWaitpointsAndSteps) {
  MemoryView view(active());
  must(view.run(PutStep{.id = test_id(), .name = *StepName::parse("s"), .fence = fence(1)}, t0));
  must(view.run(suspend_for("go"), t0));
  auto signal = send("stop");
  signal.payload = "p";
  signal.idempotency_key = *SignalKey::parse("k");
  must(view.run(signal, t0));
  must(view.run(cancel(), t0 + 1s));
  EXPECT_EQ(view.record_count(), 5u);
  must(view.run(replay(), t0 + 2s));
  EXPECT_EQ(view.record_count(), 0u);
  EXPECT_EQ(view.execution().signal_count, 0u);
  EXPECT_FALSE(view.execution().wake);
}

TEST(SuspendedExecution, CannotBeClaimed) {
  MemoryView view(active());
  must(view.run(suspend_for("go"), t0));
  EXPECT_EQ(verdict(view.run(claim(2), t0 + 1s)), "execution_not_leaseable");
}

TEST(Step, KeepsTheFirstResultUnderTheLease) {
  MemoryView view(active());
  const PutStep step{
      .id = test_id(), .name = *StepName::parse("mail"), .fence = fence(1), .result = "sent"};
  EXPECT_FALSE(must(view.run(step, t0)).duplicate);
  EXPECT_TRUE(must(view.run(step, t0)).duplicate);
  EXPECT_EQ(view.execution().step_count, 1u);
  auto stale = step;
  stale.fence = fence(2);
  EXPECT_EQ(verdict(view.run(stale, t0)), "stale_lease");
}

TEST(Step, ResultsAreLimitedInNumberAndSize) {
  MemoryView view(active());
  PutStep step{.id = test_id(),
               .name = {},
               .fence = fence(1),
               .result = std::string(limits::step_bytes_max, 'x')};
  const auto fit = limits::steps_bytes_max / limits::step_bytes_max;
  for (std::size_t n = 0; n < fit; ++n) {
    step.name = *StepName::parse(fmt::format("s{}", n));
    must(view.run(step, t0));
  }
  step.name = *StepName::parse("more");
  EXPECT_EQ(verdict(view.run(step, t0)), "step_limit_exceeded");
}

}  // namespace
}  // namespace ff::core
