#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, ClaimGivesTheExecutionUnderALease) {
  const auto id = submit("work");
  const auto claimed = claim("w1");
  EXPECT_EQ(claimed.id, id);
  EXPECT_EQ(claimed.payload, "work");
  EXPECT_EQ(claimed.kind.str(), "greet");
  EXPECT_EQ(claimed.attempt_index, 0u);
  EXPECT_EQ(claimed.fence.lease_epoch, LeaseEpoch{1});
  EXPECT_EQ(claimed.lease_expires_at, now() + lease_ttl);

  const auto info = must(run(GetExecution{id}));
  EXPECT_EQ(info.state, ExecutionState::active);
  EXPECT_EQ(info.worker->str(), "w1");
  EXPECT_EQ(info.attempts, 1u);
}

TEST_P(Conformance, ClaimWithNothingToDoIsEmpty) { EXPECT_EQ(claimable(), 0u); }

TEST_P(Conformance, ClaimedExecutionIsNotClaimedAgain) {
  submit();
  claim();
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(Conformance, ClaimTakesTheHighestPriorityThenTheOldest) {
  const auto submit_with = [&](std::int32_t priority, const char* payload) {
    must(run(Submit{.kind = *Kind::parse("greet"), .priority = priority, .payload = payload}));
    advance(1ms);
  };
  submit_with(0, "old");
  submit_with(7, "urgent");
  submit_with(0, "new");
  auto three = claim_by("w1");
  three.max = 3;
  EXPECT_THAT(payloads(must(run(three))), ::testing::ElementsAre("urgent", "old", "new"));
}

TEST_P(Conformance, ClaimGivesNoMoreThanAskedFor) {
  for (int i = 0; i < 5; ++i) submit();
  auto two = claim_by("w1");
  two.max = 2;
  EXPECT_EQ(must(run(two)).executions.size(), 2u);
}

// One reply stays within 16 MiB of payloads; the rest is there for the next claim.
TEST_P(Conformance, ClaimOfLargePayloadsGivesFewerThanAskedFor) {
  const std::string payload(limits::payload_bytes_max, 'x');
  for (int i = 0; i < 17; ++i) submit(payload);
  EXPECT_EQ(claim_many(256).size(), 16u);
  EXPECT_EQ(claim_many(256).size(), 1u);
}

TEST_P(Conformance, ClaimOfSmallThenLargePayloadsStaysWithinItsBytes) {
  for (int i = 0; i < 17; ++i) {
    submit("small");
    advance(1ms);
  }
  for (int i = 0; i < 17; ++i) submit(std::string(limits::payload_bytes_max, 'x'));
  std::size_t claimed = 0;
  for (int claims = 0; claims < 3; ++claims) {
    std::size_t bytes = 0;
    for (const auto& each : claim_many(256)) {
      ++claimed;
      bytes += each.payload.size();
    }
    EXPECT_LE(bytes, limits::batch_bytes_max);
  }
  EXPECT_EQ(claimed, 34u);
}

TEST_P(Conformance, ClaimSeesOnlyItsLanesAndItsNamespace) {
  const auto kind = *Kind::parse("greet");
  const auto mail = *LaneId::parse("mail");
  const auto tenant = *Namespace::parse("tenant");
  must(run(Submit{.lane = mail, .kind = kind, .payload = "mail"}));
  must(run(Submit{.ns = tenant, .kind = kind, .payload = "tenant"}));
  EXPECT_EQ(claimable(), 0u);

  auto other_lane = claim_by("w1");
  other_lane.lanes = {default_lane(), mail};
  EXPECT_THAT(payloads(must(run(other_lane))), ::testing::ElementsAre("mail"));
  auto other_tenant = claim_by("w1");
  other_tenant.ns = tenant;
  EXPECT_THAT(payloads(must(run(other_tenant))), ::testing::ElementsAre("tenant"));
}

TEST_P(Conformance, WaitingClaimWakesOnNewWork) {
  auto waiting = start(claim_by("w1", wake_up_max));
  submit("late");
  EXPECT_THAT(payloads(must(waiting.get())), ::testing::ElementsAre("late"));
}

TEST_P(Conformance, EachOfManyWaitingClaimsGetsOneOfTheNewExecutions) {
  constexpr int count = 20;
  std::vector<test::Started<Claim>> waiting;
  for (int i = 0; i < count; ++i) waiting.push_back(start(claim_by("w", wake_up_max)));
  for (int i = 0; i < count; ++i) submit();
  std::set<ExecutionId> claimed;
  for (auto& each : waiting) claimed.insert(woken(each).id);
  EXPECT_EQ(claimed.size(), static_cast<std::size_t>(count));
}

TEST_P(Conformance, NoWaitingClaimSleepsWhileThereIsWorkForIt) {
  const auto kind = *Kind::parse("greet");
  const auto mail = *LaneId::parse("mail");
  for (int round = 0; round < 20; ++round) {
    auto both = claim_by("both", wake_up_max);
    both.lanes = {default_lane(), mail};
    auto waiting_for_both = start(both);
    auto waiting_for_one = start(claim_by("one", wake_up_max));
    must(run(Submit{.kind = kind}));
    must(run(Submit{.lane = mail, .kind = kind, .priority = 9}));
    const auto taken = woken(waiting_for_both);
    // The default lane's execution went to one of them; if it was not `one`, there is another for it.
    if (taken.lane == default_lane()) must(run(Submit{.kind = kind}));
    EXPECT_EQ(must(waiting_for_one.get()).executions.size(), 1u);
    both.wait = 0s;
    must(run(both));
  }
}

TEST_P(Conformance, WaitingClaimWakesOnALostLease) {
  submit();
  claim("dies");
  auto waiting = start(claim_by("heir", wake_up_max));
  advance(lease_ttl);
  home_->run_scanners();
  EXPECT_EQ(woken(waiting).attempt_index, 1u);
}

TEST_P(Conformance, WaitingClaimWakesWhenADelayOrABackoffIsOver) {
  submit(Submit{.kind = greet,
                .delay_until = now() + 1s,
                .policy = {.retry = RetryPolicy{.backoff = FixedBackoff{1s}}}});
  auto waiting = start(claim_by("w1", wake_up_max));
  pass(1s);
  must(run(failure(woken(waiting))));
  waiting = start(claim_by("w1", wake_up_max));
  pass(1s);
  must(run(delay(woken(waiting), 1s)));
  waiting = start(claim_by("w1", wake_up_max));
  pass(1s);
  EXPECT_TRUE(woken(waiting).resumed);
}

TEST_P(Conformance, WaitingClaimGivesUpInTheEnd) {
  EXPECT_TRUE(must(run(claim_by("w1", 1ms))).executions.empty());
}

TEST_P(Conformance, RacingWorkersNeverGetTheSameExecution) {
  constexpr int executions = 60, workers = 6;
  for (int i = 0; i < executions; ++i) submit();
  std::vector<test::Started<Claim>> claims;
  std::map<ExecutionId, int> times_claimed;
  for (int round = 0; round < executions / workers; ++round) {
    for (int i = 0; i < workers; ++i) claims.push_back(start(claim_by("w")));
    for (auto& each : std::exchange(claims, {}))
      for (const auto& claimed : must(each.get()).executions) ++times_claimed[claimed.id];
  }
  EXPECT_EQ(times_claimed.size(), static_cast<std::size_t>(executions));
  for (const auto& [id, times] : times_claimed) EXPECT_EQ(times, 1) << id.str();
}

TEST_P(Conformance, ClaimWithWrongArgumentsIsRefused) {
  auto none = claim_by("w1");
  none.max = 0;
  EXPECT_EQ(error_of(none), Errc::invalid_input);
  auto no_lane = claim_by("w1");
  no_lane.lanes.clear();
  EXPECT_EQ(error_of(no_lane), Errc::invalid_input);
  auto too_short = claim_by("w1");
  too_short.lease_ttl = 0ms;
  EXPECT_EQ(error_of(too_short), Errc::invalid_input);
}

}  // namespace
}  // namespace ff::conformance
