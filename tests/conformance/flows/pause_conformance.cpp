#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, DelayedAttemptGoesOnWithWhoeverClaimsItThen) {
  const auto id = submit("work");
  const auto first = claim("w1");
  EXPECT_EQ(must(run(delay(first, 10s))).state, ExecutionState::delayed);
  EXPECT_EQ(info(id).delay_until, now() + 10s);
  pass(10s - 1ms);
  EXPECT_EQ(claimable(), 0u);
  pass(1ms);

  const auto second = claim("w2");
  EXPECT_TRUE(second.resumed);
  EXPECT_FALSE(first.resumed);
  EXPECT_EQ(second.payload, "work");
  EXPECT_EQ(second.attempt_index, 0u);
  EXPECT_EQ(second.fence.attempt_id, first.fence.attempt_id);
  EXPECT_EQ(second.fence.lease_epoch, LeaseEpoch{2});
  EXPECT_TRUE(run(complete(second)));
  EXPECT_EQ(attempts_of(id), "0 initial by w2: success");
}

TEST_P(Conformance, DelayUntilATimeThatHasPassedIsReadyAtOnce) {
  submit();
  EXPECT_EQ(must(run(delay(claim(), 0ms))).state, ExecutionState::waiting);
  const auto resumed = claim();
  EXPECT_TRUE(resumed.resumed);
  EXPECT_EQ(must(run(delay(resumed, -1h))).state, ExecutionState::waiting);
  EXPECT_TRUE(claim().resumed);
}

TEST_P(Conformance, DelayBeyondTheEndOfTimeIsRefusedAndTheLeaseStays) {
  submit();
  const auto claimed = claim();
  const Delay wrong{.id = claimed.id, .fence = claimed.fence, .until = limits::time_max + 1ms};
  EXPECT_EQ(error_of(wrong), Errc::invalid_input);
  EXPECT_TRUE(run(complete(claimed)));
}

TEST_P(Conformance, RepeatedDelayAnswersAsTheFirstTime) {
  const auto id = submit();
  const auto claimed = claim();
  const auto pause = delay(claimed, 10s);
  const auto first = must(run(pause));
  advance(lease_ttl);
  auto again = pause;
  again.until += 1h;
  EXPECT_EQ(must(run(again)), first);
  EXPECT_EQ(info(id).delay_until, pause.until) << "the first one counts";
}

TEST_P(Conformance, WorkerThatGaveAnExecutionBackCannotChangeItAnyMore) {
  submit();
  const auto claimed = claim();
  must(run(delay(claimed, 10s)));
  EXPECT_EQ(error_of(complete(claimed)), Errc::execution_not_active);
  EXPECT_EQ(error_of(failure(claimed)), Errc::execution_not_active);
  EXPECT_EQ(error_of(renew(claimed)), Errc::execution_not_active);
  EXPECT_EQ(error_of(Cancel{.id = claimed.id, .fence = claimed.fence}), Errc::execution_not_active);
  pass(10s);
  claim("w2");
  EXPECT_EQ(error_of(complete(claimed)), Errc::stale_lease);
  EXPECT_EQ(error_of(delay(claimed, 10s)), Errc::stale_lease);
}

TEST_P(Conformance, PausedAttemptIsKeptAcrossARestart) {
  submit();
  const auto claimed = claim("w1");
  must(run(UpdateProgress{.id = claimed.id, .fence = claimed.fence, .percent = 40}));
  must(run(delay(claimed, 10s)));
  home_->restart();
  EXPECT_EQ(state_of(claimed.id), ExecutionState::delayed);
  EXPECT_EQ(attempts_of(claimed.id), "0 initial by w1: paused");
  pass(10s);
  const auto resumed = claim("w2");
  EXPECT_TRUE(resumed.resumed);
  EXPECT_EQ(resumed.fence.attempt_id, claimed.fence.attempt_id);
  EXPECT_EQ(info(claimed.id).progress->percent, 40u) << "progress belongs to the attempt";
}

TEST_P(Conformance, PausedAttemptKeepsWhatIsLeftOfItsTime) {
  const auto id = submit(Submit{.kind = greet, .policy = {.attempt_timeout = 60s}});
  const auto first = claim();
  EXPECT_EQ(first.attempt_deadline, now() + 60s);
  advance(20s);
  must(run(delay(first, 1h)));
  pass(1h);
  EXPECT_EQ(state_of(id), ExecutionState::waiting) << "the pause does not count";
  EXPECT_EQ(claim().attempt_deadline, now() + 40s);
}

TEST_P(Conformance, ResumedAttemptCanBePausedAgainAndAgain) {
  const auto id = submit();
  constexpr std::size_t pauses = limits::leases_per_attempt_max + 3;
  for (std::size_t i = 0; i < pauses; ++i) must(run(delay(claim(), 0ms)));
  const auto last = claim();
  EXPECT_TRUE(last.resumed);
  EXPECT_EQ(last.fence.lease_epoch, LeaseEpoch{pauses + 1});
  EXPECT_TRUE(run(complete(last)));
  EXPECT_EQ(info(id).attempts, 1u);
}

TEST_P(Conformance, ResumedAttemptThatIsLostIsFollowedByAnother) {
  submit();
  must(run(delay(claim(), 1s)));
  pass(1s);
  claim("dies");
  pass(lease_ttl);
  const auto heir = claim("heir");
  EXPECT_FALSE(heir.resumed);
  EXPECT_EQ(heir.attempt_index, 1u);
  EXPECT_EQ(heir.attempt_type, AttemptType::reclaim);
}

// ---- Waiting for children ------------------------------------------------------------------------

TEST_P(Conformance, WaitingForChildrenWithoutAnyIsReadyAtOnce) {
  const auto id = submit();
  const auto first = claim();
  const WaitForChildren wait{.id = id, .fence = first.fence};
  EXPECT_EQ(must(run(wait)).state, ExecutionState::waiting);
  const auto resumed = claim();
  EXPECT_TRUE(resumed.resumed);
  EXPECT_EQ(resumed.fence.attempt_id, first.fence.attempt_id);
  EXPECT_TRUE(run(complete(resumed)));
}

TEST_P(Conformance, RepeatedWaitingForChildrenAnswersAsTheFirstTime) {
  const auto id = submit();
  const WaitForChildren wait{.id = id, .fence = claim().fence};
  const auto first = must(run(wait));
  EXPECT_EQ(must(run(wait)), first);
  claim();
  EXPECT_EQ(error_of(wait), Errc::stale_lease);
}

// ---- Handing back --------------------------------------------------------------------------------

TEST_P(Conformance, HandedBackExecutionIsResumedByAnotherWorkerAtOnce) {
  const auto id = submit("work");
  const auto first = claim("leaving");
  auto waiting = start(claim_by("next", 20s));
  const HandBack back{.id = id, .fence = first.fence, .reason = "stopping"};
  EXPECT_EQ(must(run(back)).state, ExecutionState::waiting);
  const auto heirs = must(waiting.get()).executions;
  ASSERT_EQ(heirs.size(), 1u);
  EXPECT_EQ(heirs[0].payload, "work");
  EXPECT_TRUE(heirs[0].resumed);
  EXPECT_EQ(heirs[0].fence.attempt_id, first.fence.attempt_id);
  EXPECT_EQ(error_of(complete(first)), Errc::stale_lease);
  EXPECT_TRUE(run(complete(heirs[0])));
  EXPECT_EQ(info(id).attempts, 1u);
}

TEST_P(Conformance, RepeatedHandBackAnswersAsTheFirstTime) {
  const auto id = submit();
  const HandBack back{.id = id, .fence = claim().fence};
  const auto first = must(run(back));
  EXPECT_EQ(must(run(back)), first);
  claim();
  EXPECT_EQ(error_of(back), Errc::stale_lease);
}

TEST_P(Conformance, HandBackNeedsALeaseThatHolds) {
  const auto id = submit();
  const auto claimed = claim();
  advance(lease_ttl);
  EXPECT_EQ(error_of(HandBack{.id = id, .fence = claimed.fence}), Errc::lease_expired);
  EXPECT_EQ(error_of(HandBack{.id = id, .fence = claimed.fence, .reason = std::string(4097, 'x')}),
            Errc::invalid_input);
}

}  // namespace
}  // namespace ff::conformance
