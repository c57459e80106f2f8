#include "core/execution/event.hpp"
#include "core/test_support.hpp"

namespace ff::core {
namespace {

// As the contract writes it.
std::string vector_of(const Execution& execution) {
  const auto v = state_vector(execution);
  return fmt::format("{} / {} / {} / {} / {} / {} / {}", to_string(v.lifecycle_phase),
                     to_string(v.ownership_state), to_string(v.eligibility_state),
                     to_string(v.blocking_reason), to_string(v.terminal_outcome),
                     to_string(v.attempt_state), to_string(public_state(execution)));
}

Execution promoted(const Execution& execution) {
  return after(apply(execution, fire(TimerKind::delay), t0 + 60s));
}

TEST(StateVector, OfWhatWasCreated) {
  const auto due_now =
      "runnable / unowned / eligible_now / waiting_for_worker / none / pending_first_attempt / "
      "waiting";
  EXPECT_EQ(vector_of(waiting()), due_now);
  EXPECT_EQ(vector_of(granted()), due_now);
  EXPECT_EQ(vector_of(delayed()),
            "runnable / unowned / not_eligible_until_time / waiting_for_delay / none / "
            "pending_first_attempt / delayed");
}

TEST(StateVector, OfEveryKindOfClaim) {
  const auto leased = "active / leased / not_applicable / none / none / running_attempt / active";
  EXPECT_EQ(vector_of(active()), leased);
  for (const auto& ready :
       {lapsed(), revoked(), promoted(paused()), promoted(retry_delayed()), replayed()})
    EXPECT_EQ(vector_of(after(apply(ready, claim(2), t0 + 60s))), leased);
}

TEST(StateVector, OfALostLeaseIsStillActive) {
  const auto lost =
      "active / lease_expired_reclaimable / not_applicable / waiting_for_worker / none / "
      "attempt_interrupted / active";
  EXPECT_EQ(vector_of(lapsed()), lost);
  EXPECT_EQ(vector_of(after(apply(lapsed(), grant(2), t0 + 2s))), lost);
  EXPECT_EQ(vector_of(revoked()),
            "active / lease_revoked / not_applicable / waiting_for_worker / none / "
            "attempt_interrupted / active");
}

TEST(StateVector, OfEveryEnd) {
  const auto ended = [](std::string_view outcome, std::string_view state) {
    return fmt::format("terminal / unowned / not_applicable / none / {} / attempt_terminal / {}",
                       outcome, state);
  };
  EXPECT_EQ(vector_of(completed()), ended("success", "completed"));
  EXPECT_EQ(vector_of(failed()), ended("failed", "failed"));
  EXPECT_EQ(vector_of(cancelled()), ended("cancelled", "cancelled"));
  const auto capped = active({.max_reclaim_count = 0});
  EXPECT_EQ(vector_of(after(apply(capped, fire(TimerKind::lease_expiry), t0 + ttl))),
            ended("failed", "failed"));
  const auto timed = active({.attempt_timeout = 1s});
  EXPECT_EQ(vector_of(after(apply(timed, fire(TimerKind::attempt_timeout), t0 + 1s))),
            ended("expired", "expired"));
}

TEST(StateVector, OfAnEndWithoutAnAttemptKeepsItPending) {
  EXPECT_EQ(vector_of(after(apply(waiting(), cancel(), t0))),
            "terminal / unowned / not_applicable / none / cancelled / pending_first_attempt / "
            "cancelled");
  EXPECT_EQ(vector_of(expired()),
            "terminal / unowned / not_applicable / none / expired / pending_first_attempt / "
            "expired");
}

TEST(StateVector, OfAScheduledRetry) {
  EXPECT_EQ(vector_of(retry_delayed()),
            "runnable / unowned / not_eligible_until_time / waiting_for_retry_backoff / none / "
            "pending_retry_attempt / delayed");
}

TEST(StateVector, OfAPausedAttempt) {
  EXPECT_EQ(vector_of(paused()),
            "runnable / unowned / not_eligible_until_time / waiting_for_delay / none / "
            "attempt_interrupted / delayed");
  EXPECT_EQ(vector_of(waiting_children()),
            "runnable / unowned / blocked_by_dependencies / waiting_for_children / none / "
            "attempt_interrupted / waiting_children");
}

TEST(StateVector, OfAPromotionKeepsTheAttemptsState) {
  const auto ready = [](std::string_view attempt) {
    return fmt::format(
        "runnable / unowned / eligible_now / waiting_for_worker / none / {} / waiting", attempt);
  };
  EXPECT_EQ(vector_of(promoted(delayed())), ready("pending_first_attempt"));
  EXPECT_EQ(vector_of(promoted(retry_delayed())), ready("pending_retry_attempt"));
  EXPECT_EQ(vector_of(promoted(paused())), ready("attempt_interrupted"));
}

TEST(StateVector, OfAReplay) {
  const auto expected =
      "runnable / unowned / eligible_now / waiting_for_worker / none / pending_replay_attempt / "
      "waiting";
  EXPECT_EQ(vector_of(replayed()), expected);
  const auto capped = active({.max_reclaim_count = 0});
  const auto lost = after(apply(capped, fire(TimerKind::lease_expiry), t0 + ttl));
  EXPECT_EQ(vector_of(after(apply(lost, replay(), t0 + 60s))), expected);
}

// ---- Info

TEST(Info, ShowsTheLeaseOnlyWhileItIsHeld) {
  const auto held = info_of(active());
  EXPECT_EQ(held.worker, worker(1));
  EXPECT_EQ(held.lease_expires_at, t0 + ttl);
  EXPECT_EQ(held.started_at, t0);
  for (const auto& execution : {waiting(), granted(), lapsed(), paused(), completed()}) {
    EXPECT_FALSE(info_of(execution).worker);
    EXPECT_FALSE(info_of(execution).lease_expires_at);
  }
}

TEST(Info, ShowsADelayOnlyWhileItLasts) {
  EXPECT_EQ(info_of(delayed()).delay_until, t0 + 60s);
  EXPECT_FALSE(info_of(promoted(delayed())).delay_until);
}

TEST(Info, ShowsHowItEnded) {
  EXPECT_EQ(info_of(completed()).completed_at, t0 + 1s);
  EXPECT_EQ(info_of(completed()).failure_reason, std::nullopt);
  EXPECT_EQ(info_of(failed()).failure_reason, "broke");
  EXPECT_EQ(info_of(failed()).failure_category, "permanent");
  EXPECT_EQ(info_of(cancelled()).cancel_reason, "why");
  EXPECT_EQ(info_of(cancelled()).failure_reason, std::nullopt);
  EXPECT_EQ(info_of(expired()).failure_reason, "execution_deadline");
  EXPECT_EQ(info_of(replayed()).completed_at, std::nullopt);
}

TEST(Info, ShowsWhyThereWillBeAnotherAttempt) {
  EXPECT_EQ(info_of(retry_delayed()).failure_reason, "broke");
  EXPECT_EQ(info_of(lapsed()).failure_reason, "lease expired");
}

TEST(Info, CountsWhatHappened) {
  const auto info = info_of(after(apply(lapsed(), claim(2), t0 + 2s)));
  EXPECT_EQ(info.attempts, 2u);
  EXPECT_EQ(info.reclaims, 1u);
  EXPECT_EQ(info.lease_epoch, LeaseEpoch{2});
  EXPECT_EQ(info_of(retry_delayed()).retries, 1u);
  EXPECT_EQ(info_of(replayed()).replays, 1u);
}

TEST(Info, HasTheVectorAndWhatWasSubmitted) {
  const auto info = info_of(active(retrying()));
  EXPECT_EQ(info.id, test_id());
  EXPECT_EQ(info.kind.str(), "greet");
  EXPECT_EQ(info.policy, retrying());
  EXPECT_EQ(info.created_at, t0);
  EXPECT_EQ(info.state, ExecutionState::active);
  EXPECT_EQ(info.state_vector, state_vector(active()));
}

// ---- Claimable

TEST(Claimable, IsWhatNobodyHas) {
  for (const auto& execution : {waiting(), lapsed(), revoked(), replayed(), promoted(paused())})
    EXPECT_TRUE(is_claimable(execution, t0 + 60s)) << show(execution);
  for (const auto& execution :
       {delayed(), waiting_children(), active(), completed(), failed(), cancelled(), expired()})
    EXPECT_FALSE(is_claimable(execution, t0 + 60s)) << show(execution);
}

TEST(ExecutionChange, TellsTheStateAfterAndWhatComesNext) {
  const auto change = make_change(EventType::claimed, active(), t0);
  EXPECT_EQ(change.event, (Event{.type = EventType::claimed,
                                 .at = t0,
                                 .id = test_id(),
                                 .ns = default_namespace(),
                                 .lane = default_lane(),
                                 .kind = *Kind::parse("greet"),
                                 .state = ExecutionState::active,
                                 .attempts = 1}));
  EXPECT_FALSE(change.claimable);
  EXPECT_EQ(change.timer, (Timer{TimerKind::lease_expiry, t0 + ttl}));
  EXPECT_TRUE(make_change(EventType::lease_expired, lapsed(), t0).claimable);
}

}  // namespace
}  // namespace ff::core
