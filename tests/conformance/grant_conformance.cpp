#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

constexpr Millis grant_ttl = 5s;

Grant grant_to(const char* name) { return {.worker = worker(name), .grant_ttl = grant_ttl}; }
ClaimGranted claim_grant(const ExecutionId& id, const char* name) {
  return {.id = id, .worker = worker(name)};
}

TEST_P(Conformance, GrantBecomesALease) {
  const auto id = submit("work");
  const auto granted = must(run(grant_to("w1")));
  EXPECT_EQ(granted.execution, (GrantedExecution{id, now() + grant_ttl}));
  EXPECT_EQ(state_of(id), ExecutionState::waiting);

  const auto claimed = must(run(claim_grant(id, "w1")));
  EXPECT_EQ(claimed.id, id);
  EXPECT_EQ(claimed.payload, "work");
  EXPECT_EQ(claimed.fence.lease_epoch, LeaseEpoch{1});
  EXPECT_EQ(info(id).worker, worker("w1"));
  EXPECT_TRUE(run(complete(claimed)));
}

TEST_P(Conformance, GrantWithNothingToDoIsNone) {
  EXPECT_EQ(must(run(grant_to("w1"))).execution, std::nullopt);
}

TEST_P(Conformance, GrantedExecutionIsKeptFromOthers) {
  const auto id = submit();
  must(run(grant_to("w1")));
  EXPECT_EQ(must(run(grant_to("w2"))).execution, std::nullopt);
  EXPECT_EQ(claimable(), 0u);
  EXPECT_EQ(error_of(claim_of(id, "w2")), Errc::grant_already_exists);
  EXPECT_EQ(error_of(claim_grant(id, "w2")), Errc::invalid_claim_grant);
  EXPECT_TRUE(run(claim_grant(id, "w1"))) << "the grant must survive all of that";
}

TEST_P(Conformance, ClaimWithoutAGrantIsRefused) {
  const auto waiting = submit();
  EXPECT_EQ(error_of(claim_grant(waiting, "w1")), Errc::invalid_claim_grant);
  const auto active = claim().id;
  EXPECT_EQ(error_of(claim_grant(active, "w1")), Errc::execution_not_leaseable);
  EXPECT_EQ(error_of(claim_grant(id_in(1, 1), "w1")), Errc::execution_not_found);
}

TEST_P(Conformance, GrantThatRanOutIsRefusedEvenBeforeAnyoneNoticed) {
  const auto id = submit();
  must(run(grant_to("late")));
  advance(grant_ttl);
  EXPECT_EQ(error_of(claim_grant(id, "late")), Errc::claim_grant_expired);
  EXPECT_TRUE(run(claim_of(id, "quick")));
}

TEST_P(Conformance, ExecutionIsFreeAgainWhenItsGrantRunsOut) {
  const auto id = submit();
  must(run(grant_to("late")));
  auto waiting = start(claim_by("quick", wake_up_max));
  pass(grant_ttl);
  EXPECT_EQ(woken(waiting).id, id);
  EXPECT_EQ(error_of(claim_grant(id, "late")), Errc::execution_not_leaseable);
}

TEST_P(Conformance, GrantIsUsedOnce) {
  const auto id = submit();
  must(run(grant_to("w1")));
  const auto claimed = must(run(claim_grant(id, "w1")));
  EXPECT_EQ(error_of(claim_grant(id, "w1")), Errc::execution_not_leaseable);
  pass(lease_ttl);
  EXPECT_EQ(error_of(claim_grant(id, "w1")), Errc::invalid_claim_grant);
}

TEST_P(Conformance, RepeatedClaimOfAGrantWithItsLeaseIdAnswersAsTheFirstTime) {
  const auto id = submit();
  must(run(grant_to("w1")));
  auto claim = claim_grant(id, "w1");
  claim.lease_id = lease_id(7);
  const auto first = must(run(claim));
  EXPECT_EQ(first.fence.lease_id, lease_id(7));
  EXPECT_EQ(must(run(claim)), first);
  EXPECT_EQ(info(id).attempts, 1u);
}

TEST_P(Conformance, GrantOfAnImpossibleLengthIsRefusedAndLeavesItFree) {
  const auto id = submit();
  for (const Millis ttl : {0ms, -1ms, limits::grant_ttl_max + 1ms}) {
    auto wrong = grant_to("w1");
    wrong.grant_ttl = ttl;
    EXPECT_EQ(error_of(wrong), Errc::invalid_input);
  }
  EXPECT_EQ(claim().id, id);
}

TEST_P(Conformance, GrantIsHeldAcrossARestart) {
  const auto id = submit();
  must(run(grant_to("w1")));
  home_->restart();
  EXPECT_EQ(claimable(), 0u);
  EXPECT_TRUE(run(claim_grant(id, "w1")));
}

TEST_P(Conformance, GrantThatRanOutWhileTheEngineWasDownIsNoticed) {
  const auto id = submit();
  must(run(grant_to("w1")));
  home_->restart();
  pass(grant_ttl);
  EXPECT_EQ(claim().id, id);
}

TEST_P(Conformance, CancelledExecutionCannotBeClaimedByItsGrant) {
  const auto id = submit();
  must(run(grant_to("w1")));
  must(run(Cancel{.id = id}));
  EXPECT_EQ(error_of(claim_grant(id, "w1")), Errc::execution_not_leaseable);
  pass(grant_ttl);
  EXPECT_EQ(state_of(id), ExecutionState::cancelled);
}

TEST_P(Conformance, PausedExecutionGoesOnByAGrant) {
  const auto id = submit();
  const auto first = claim();
  must(run(delay(first, 1s)));
  pass(1s);
  EXPECT_EQ(must(run(grant_to("w2"))).execution->id, id);
  const auto resumed = must(run(claim_grant(id, "w2")));
  EXPECT_TRUE(resumed.resumed);
  EXPECT_EQ(resumed.fence.attempt_id, first.fence.attempt_id);
}

TEST_P(Conformance, ExecutionWhoseWorkerDiedIsReclaimedByAGrant) {
  const auto id = submit();
  claim("dies");
  pass(lease_ttl);
  EXPECT_EQ(must(run(grant_to("heir"))).execution->id, id);
  EXPECT_EQ(state_of(id), ExecutionState::active) << "as long as nobody has claimed it";
  EXPECT_EQ(must(run(claim_grant(id, "heir"))).attempt_type, AttemptType::reclaim);
}

TEST_P(Conformance, GrantsFollowLanesAndPriorities) {
  submit(Submit{.lane = lane("mail"), .kind = greet});
  const auto urgent = submit(Submit{.lane = lane("mail"), .kind = greet, .priority = 5});
  EXPECT_EQ(must(run(grant_to("w1"))).execution, std::nullopt);
  auto grant = grant_to("w1");
  grant.lanes = {default_lane(), lane("mail")};
  EXPECT_EQ(must(run(grant)).execution->id, urgent);
  grant.ns = ns("tenant");
  EXPECT_EQ(must(run(grant)).execution, std::nullopt);
}

}  // namespace
}  // namespace ff::conformance
