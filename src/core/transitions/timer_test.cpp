#include "core/test_support.hpp"

namespace ff::core {
namespace {

using enum TimerKind;

std::string show_timer(const Execution& execution) {
  constexpr std::array names{"lease_expiry", "delay", "attempt_timeout", "execution_deadline",
                             "grant_expiry"};
  const auto timer = next_timer(execution);
  if (!timer) return "none";
  return fmt::format("{} {}", names[static_cast<std::size_t>(timer->kind)], show(timer->due));
}

// ---- The next timer

TEST(NextTimer, FollowsTheState) {
  EXPECT_EQ(show_timer(waiting()), "none");
  EXPECT_EQ(show_timer(granted()), "grant_expiry +60000");
  EXPECT_EQ(show_timer(delayed()), "delay +60000");
  EXPECT_EQ(show_timer(waiting_children()), "none");
  EXPECT_EQ(show_timer(active()), "lease_expiry +30000");
  EXPECT_EQ(show_timer(lapsed()), "none");
}

TEST(NextTimer, IsTheEarliest) {
  EXPECT_EQ(show_timer(active({.attempt_timeout = 40s})), "lease_expiry +30000");
  EXPECT_EQ(show_timer(active({.attempt_timeout = 20s})), "attempt_timeout +20000");
  EXPECT_EQ(show_timer(active({.attempt_timeout = 20s, .execution_deadline = 10s})),
            "execution_deadline +10000");
  EXPECT_EQ(show_timer(delayed({.execution_deadline = 70s})), "delay +60000");
}

TEST(NextTimer, AtOneInstantIsTheMoreFinal) {
  EXPECT_EQ(show_timer(active({.attempt_timeout = ttl})), "attempt_timeout +30000");
  EXPECT_EQ(show_timer(active({.attempt_timeout = ttl, .execution_deadline = ttl})),
            "execution_deadline +30000");
  EXPECT_EQ(show_timer(delayed({.execution_deadline = 60s})), "execution_deadline +60000");
}

TEST(NextTimer, IsNoneAfterTheEnd) {
  const Policy policy{.attempt_timeout = 10s, .execution_deadline = 1h};
  for (const auto& ended : {completed(policy), failed(policy), cancelled(policy), expired(policy)})
    EXPECT_EQ(show_timer(ended), "none");
}

TEST(TimerFire, DoesNothingBeforeItsTimeOrForAnotherTimer) {
  const auto fired = [](const Execution& execution, TimerKind kind, TimePoint now) {
    const auto step = must(apply(execution, fire(kind), now));
    EXPECT_EQ(step.reply.fired, step.next.has_value());
    return step.reply.fired;
  };
  EXPECT_FALSE(fired(active(), lease_expiry, t0 + ttl - 1ms));
  EXPECT_TRUE(fired(active(), lease_expiry, t0 + ttl));
  EXPECT_FALSE(fired(delayed(), delay, t0 + 60s - 1ms));
  EXPECT_TRUE(fired(delayed(), delay, t0 + 60s));
  for (const auto kind : {lease_expiry, attempt_timeout, execution_deadline, grant_expiry})
    EXPECT_FALSE(fired(delayed(), kind, t0 + 1h));
}

// A renewed lease or a new attempt is not ended by what was set up for the old one.
TEST(TimerFire, LooksAtTheTimerOfNow) {
  const auto renewed = after(apply(active(), renew(fence(1), 1h), t0 + 10s));
  EXPECT_EQ(trace(renewed, fire(lease_expiry), t0 + ttl), "active(w1#1 until +3610000): unchanged");
}

TEST(TimerFire, IsSafeToRepeatInEveryState) {
  for (const auto kind : {lease_expiry, TimerKind::delay, attempt_timeout, grant_expiry})
    for (const auto& execution : {waiting(), waiting_children(), lapsed(), revoked(), completed(),
                                  failed(), cancelled(), expired()})
      EXPECT_EQ(trace(execution, fire(kind), t0 + 24h), show(execution) + ": unchanged");
}

// ---- Delays and grants

TEST(DelayTimer, MakesItReady) {
  EXPECT_EQ(trace(delayed(), fire(TimerKind::delay), t0 + 60s),
            "delayed(until +60000) -> waiting [promoted]");
  EXPECT_EQ(trace(retry_delayed(), fire(TimerKind::delay), t0 + 2s),
            "delayed(until +2000) -> waiting(retry) [promoted]");
  EXPECT_EQ(trace(paused(), fire(TimerKind::delay), t0 + 60s),
            "delayed(until +60000) -> waiting(resume) [promoted]");
}

TEST(DelayTimer, KeepsThePlaceInTheQueue) {
  EXPECT_EQ(after(apply(delayed(), fire(TimerKind::delay), t0 + 1h)).queued_at, t0);
}

TEST(GrantTimer, MakesItReady) {
  EXPECT_EQ(trace(granted(), fire(grant_expiry), t0 + 60s),
            "granted(w1 until +60000) -> waiting [promoted]");
}

// ---- Lease expiry

TEST(LeaseTimer, LeavesItForAnotherWorker) {
  const auto step = must(apply(active(), fire(lease_expiry), t0 + 40s));
  EXPECT_EQ(show(*step.next), "waiting(reclaim)");
  EXPECT_EQ(step.event, EventType::lease_expired);
  EXPECT_EQ(step.next->attempt->end, (AttemptEnd{.at = t0 + 40s,
                                                 .outcome = AttemptOutcome::interrupted,
                                                 .reason = "lease expired"}));
  EXPECT_TRUE(is_claimable(*step.next, t0 + 40s));
}

TEST(LeaseTimer, GivesUpAfterTooManyLostWorkers) {
  auto execution = waiting({.max_reclaim_count = 2});
  std::string events;
  for (std::uint8_t n = 1; n <= 3; ++n) {
    execution = after(apply(execution, claim(n), t0));
    const auto step = must(apply(execution, fire(lease_expiry), t0 + ttl));
    events += std::string(to_string(*step.event)) + " ";
    execution = *step.next;
  }
  EXPECT_EQ(events, "lease_expired lease_expired failed ");
  EXPECT_EQ(execution.reclaim_count, 2u);
  EXPECT_EQ(show(execution),
            "failed(+30000, max_reclaims_exceeded: 3 workers let its lease run out, infra_crash)");
}

TEST(LeaseTimer, WithACapOfZeroFailsAtTheFirstExpiry) {
  EXPECT_EQ(trace(active({.max_reclaim_count = 0}), fire(lease_expiry), t0 + ttl),
            "active(w1#1 until +30000) -> failed(+30000, max_reclaims_exceeded: 1 workers let its "
            "lease run out, infra_crash) [failed]");
}

TEST(LeaseTimer, IsNotARetry) {
  const auto execution = after(apply(active(retrying()), fire(lease_expiry), t0 + ttl));
  EXPECT_EQ(execution.retry_count, 0u);
}

// ---- Attempt timeout

TEST(AttemptTimeout, ComesFromThePolicy) {
  const auto step = must(apply(waiting({.attempt_timeout = 10s}), claim(1), t0 + 5s));
  EXPECT_EQ(step.reply.attempt_deadline, t0 + 15s);
  EXPECT_EQ(show_timer(*step.next), "attempt_timeout +15000");
}

TEST(AttemptTimeout, WithoutRetriesExpiresTheExecution) {
  const auto step = must(apply(active({.attempt_timeout = 10s}), fire(attempt_timeout), t0 + 11s));
  EXPECT_EQ(show(*step.next), "expired(+11000, attempt_timeout)");
  EXPECT_EQ(step.event, EventType::expired);
  EXPECT_EQ(step.next->attempt->end, (AttemptEnd{.at = t0 + 11s,
                                                 .outcome = AttemptOutcome::failure,
                                                 .reason = "attempt_timeout",
                                                 .category = "timeout"}));
}

TEST(AttemptTimeout, IsRetriedByThePolicy) {
  auto policy = retrying(FixedBackoff{1s}, 1);
  policy.attempt_timeout = 10s;
  auto execution = active(policy);
  EXPECT_EQ(trace(execution, fire(attempt_timeout), t0 + 10s),
            "active(w1#1 until +30000) -> delayed(until +11000) [retry_scheduled]");
  execution = after(apply(execution, fire(attempt_timeout), t0 + 10s));
  EXPECT_EQ(execution.attempt->end->retry_at, t0 + 11s);
  execution = after(apply(execution, fire(TimerKind::delay), t0 + 11s));
  execution = after(apply(execution, claim(2), t0 + 12s));
  EXPECT_EQ(show_timer(execution), "attempt_timeout +22000");
  EXPECT_EQ(trace(execution, fire(attempt_timeout), t0 + 22s),
            "active(w2#2 until +42000) -> expired(+22000, attempt_timeout) [expired]");
}

TEST(AttemptTimeout, IsACategoryOfItsOwn) {
  auto policy = retrying();
  policy.attempt_timeout = 10s;
  policy.retry->retryable_categories = {"transient"};
  EXPECT_EQ(trace(active(policy), fire(attempt_timeout), t0 + 10s),
            "active(w1#1 until +30000) -> expired(+10000, attempt_timeout) [expired]");
  policy.retry->retryable_categories = {"timeout"};
  EXPECT_EQ(trace(active(policy), fire(attempt_timeout), t0 + 10s),
            "active(w1#1 until +30000) -> delayed(until +11000) [retry_scheduled]");
}

TEST(AttemptTimeout, OfAReclaimedAttemptBeginsAnew) {
  const auto lost = after(apply(active({.attempt_timeout = 40s}), fire(lease_expiry), t0 + ttl));
  EXPECT_EQ(must(apply(lost, claim(2), t0 + 35s)).reply.attempt_deadline, t0 + 75s);
}

TEST(AttemptTimeout, DoesNotRunWhilePaused) {
  EXPECT_EQ(show_timer(paused({.attempt_timeout = 10s})), "delay +60000");
}

// ---- Deadline

TEST(Deadline, EndsItInEveryState) {
  const Policy policy{.execution_deadline = 5s};
  for (const auto& execution :
       {waiting(policy), granted(policy), delayed(policy), waiting_children(policy), active(policy),
        lapsed(policy), revoked(policy), paused(policy)}) {
    EXPECT_EQ(show_timer(execution), "execution_deadline +5000");
    EXPECT_EQ(trace(execution, fire(execution_deadline), t0 + 5s - 1ms),
              show(execution) + ": unchanged");
    EXPECT_EQ(trace(execution, fire(execution_deadline), t0 + 5s),
              show(execution) + " -> expired(+5000, execution_deadline) [expired]");
  }
}

TEST(Deadline, EndsTheAttemptThatRunsOrPauses) {
  const Policy policy{.execution_deadline = 5s};
  for (const auto& execution : {active(policy), paused(policy), waiting_children(policy)}) {
    const auto ended = after(apply(execution, fire(execution_deadline), t0 + 5s));
    EXPECT_EQ(ended.attempt->end, (AttemptEnd{.at = t0 + 5s,
                                              .outcome = AttemptOutcome::failure,
                                              .reason = "execution_deadline",
                                              .category = "timeout"}));
  }
  const auto lost = lapsed(policy);
  EXPECT_EQ(after(apply(lost, fire(execution_deadline), t0 + 5s)).attempt, lost.attempt);
}

TEST(Deadline, IsNeverRetried) {
  auto policy = retrying();
  policy.execution_deadline = 5s;
  EXPECT_EQ(trace(active(policy), fire(execution_deadline), t0 + 5s),
            "active(w1#1 until +30000) -> expired(+5000, execution_deadline) [expired]");
}

}  // namespace
}  // namespace ff::core
