// Claims that name what they want, and claims that are repeated.
#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, ClaimOfOneExecutionTakesThatOneWhicheverLaneItIsIn) {
  submit(Submit{.kind = greet, .priority = 9000});
  const auto id = submit(Submit{.lane = lane("mail"), .kind = greet, .payload = "letter"});
  const auto claimed = must(run(claim_of(id)));
  EXPECT_EQ(claimed.id, id);
  EXPECT_EQ(claimed.lane, lane("mail"));
  EXPECT_EQ(claimed.payload, "letter");
  EXPECT_TRUE(run(complete(claimed)));
}

TEST_P(Conformance, ClaimOfOneExecutionThatIsNotReadyIsRefused) {
  const auto delayed = submit(Submit{.kind = greet, .delay_until = now() + 1h});
  EXPECT_EQ(error_of(claim_of(delayed)), Errc::execution_not_leaseable);
  const auto id = submit();
  const auto claimed = must(run(claim_of(id)));
  EXPECT_EQ(error_of(claim_of(id, "w2")), Errc::execution_not_leaseable);
  must(run(complete(claimed)));
  EXPECT_EQ(error_of(claim_of(id)), Errc::execution_not_leaseable);
  EXPECT_EQ(error_of(claim_of(id_in(1, 1))), Errc::execution_not_found);
}

TEST_P(Conformance, RepeatedClaimOfAnExecutionWithItsLeaseIdAnswersAsTheFirstTime) {
  const auto id = submit();
  auto claim = claim_of(id);
  claim.lease_id = lease_id(7);
  const auto first = must(run(claim));
  advance(1s);
  EXPECT_EQ(must(run(claim)), first);
  EXPECT_EQ(info(id).lease_epoch, LeaseEpoch{1});
}

TEST_P(Conformance, LeaseIdOfAnotherWorkerIsNoKeyToItsLease) {
  const auto id = submit();
  auto claim = claim_of(id);
  claim.lease_id = lease_id(7);
  must(run(claim));
  claim.worker = worker("thief");
  EXPECT_EQ(error_of(claim), Errc::execution_not_leaseable);
  claim.worker = worker("w1");
  claim.lease_id = lease_id(8);
  EXPECT_EQ(error_of(claim), Errc::execution_not_leaseable);
}

TEST_P(Conformance, RepeatedClaimOfAnExecutionAnswersAsTheFirstTimeAfterARestart) {
  const auto id = submit();
  auto claim = claim_of(id);
  claim.lease_id = lease_id(7);
  const auto first = must(run(claim));
  home_->restart();
  EXPECT_EQ(must(run(claim)), first);
}

// ---- Repeated with the same request id -----------------------------------------------------------

TEST_P(Conformance, RepeatedClaimWithItsRequestIdAnswersWithTheSameExecutions) {
  for (int i = 0; i < 3; ++i) submit();
  auto two = claim_by("w1");
  two.max = 2;
  two.request_id = request_id(1);
  const auto first = must(run(two)).executions;
  EXPECT_EQ(first.size(), 2u);
  EXPECT_EQ(must(run(two)).executions, first);
  two.request_id = request_id(2);
  EXPECT_EQ(must(run(two)).executions.size(), 1u) << "the third one";
}

TEST_P(Conformance, RepeatedClaimAnswersOnlyWithWhatTheWorkerStillHolds) {
  for (int i = 0; i < 3; ++i) submit();
  auto claim = claim_by("w1");
  claim.max = 3;
  claim.request_id = request_id(1);
  const auto first = must(run(claim)).executions;
  must(run(complete(first[0])));
  must(run(Delay{.id = first[1].id, .fence = first[1].fence, .until = now()}));
  const auto again = must(run(claim)).executions;
  ASSERT_EQ(again.size(), 1u) << "one has ended, one was given back";
  EXPECT_EQ(again[0], first[2]);
}

TEST_P(Conformance, RepeatedClaimThatHoldsNothingAnyMoreTakesNothingFromOthers) {
  const auto id = submit();
  auto claim = claim_by("w1");
  claim.request_id = request_id(1);
  must(run(claim));
  pass(lease_ttl);
  EXPECT_TRUE(must(run(claim)).executions.empty());
  EXPECT_EQ(must(run(claim_by("w2"))).executions.at(0).id, id);
}

TEST_P(Conformance, RequestIdOfAnotherWorkerIsNoKeyToItsLeases) {
  submit();
  auto claim = claim_by("w1");
  claim.request_id = request_id(1);
  must(run(claim));
  claim.worker = worker("thief");
  EXPECT_TRUE(must(run(claim)).executions.empty());
}

TEST_P(Conformance, EachExecutionOfARequestHasALeaseOfItsOwn) {
  for (int i = 0; i < 20; ++i) submit();
  auto claim = claim_by("w1");
  claim.max = 20;
  claim.request_id = request_id(1);
  std::set<LeaseId> leases;
  for (const auto& each : must(run(claim)).executions) leases.insert(each.fence.lease_id);
  EXPECT_EQ(leases.size(), 20u);
}

// The first call's connection may be lost without the engine's knowledge.
TEST_P(Conformance, WaitingClaimThatIsRepeatedGetsTheWorkAtOnce) {
  auto claim = claim_by("w1", 60s);
  claim.request_id = request_id(1);
  auto first = start(claim);
  await_waiting_claims(1);
  auto again = start(claim);
  EXPECT_TRUE(must(first.get()).executions.empty()) << "its caller does not wait for it any more";
  const auto id = submit();
  ASSERT_EQ(again.wait_for(wake_up_max), std::future_status::ready);
  EXPECT_EQ(woken(again).id, id);
}

TEST_P(Conformance, RepeatedClaimWhoseWorkIsGoneDoesNotWait) {
  submit();
  auto claim = claim_by("w1", 60s);
  claim.request_id = request_id(1);
  must(run(complete(must(run(claim)).executions.at(0))));
  auto again = start(claim);
  ASSERT_EQ(again.wait_for(wake_up_max), std::future_status::ready);
  EXPECT_TRUE(must(again.get()).executions.empty());
}

TEST_P(Conformance, RequestThatFoundNothingMayFindSomethingLater) {
  auto claim = claim_by("w1");
  claim.request_id = request_id(1);
  EXPECT_TRUE(must(run(claim)).executions.empty());
  const auto id = submit();
  EXPECT_EQ(must(run(claim)).executions.at(0).id, id);
}

}  // namespace
}  // namespace ff::conformance
