#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, CancelledExecutionHasItsReasonAndNoResult) {
  const auto id = submit();
  EXPECT_EQ(must(run(Cancel{.id = id, .reason = "not needed"})).state, ExecutionState::cancelled);
  EXPECT_EQ(info(id).cancel_reason, "not needed");
  EXPECT_EQ(info(id).completed_at, now());
  const auto result = run(GetResult{id});
  EXPECT_EQ(result.error().code, Errc::execution_failed);
  EXPECT_THAT(result.error().message, ::testing::HasSubstr("not needed"));
}

TEST_P(Conformance, CancelEndsAnExecutionInEveryState) {
  const Policy policy{.retry = RetryPolicy{.backoff = FixedBackoff{1min}}};
  const auto one = [&] { return submit(Submit{.kind = greet, .policy = policy}); };
  std::vector<ExecutionId> ids{one()};
  must(run(Grant{.worker = worker("w1"), .grant_ttl = 60s}));  // granted
  ids.push_back(one());
  must(run(RevokeLease{.id = claim().id}));
  must(run(claim_of(ids.back())));  // active again
  ids.push_back(one());
  must(run(delay(claim(), 1min)));  // paused
  ids.push_back(one());
  must(run(failure(claim())));  // in its backoff
  ids.push_back(submit(Submit{.kind = greet, .delay_until = now() + 1min}));
  ids.push_back(one());
  claim("dies");
  pass(lease_ttl);       // lost, like the one that was active
  ids.push_back(one());  // waiting

  for (const auto& id : ids) EXPECT_TRUE(run(Cancel{.id = id}));
  pass(1h);
  for (const auto& id : ids) EXPECT_EQ(state_of(id), ExecutionState::cancelled);
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(Conformance, WorkerOfACancelledExecutionIsRefused) {
  const auto id = submit();
  const auto claimed = claim();
  must(run(Cancel{.id = id}));
  EXPECT_EQ(error_of(complete(claimed)), Errc::execution_not_active);
  EXPECT_EQ(error_of(failure(claimed)), Errc::execution_not_active);
  EXPECT_EQ(error_of(renew(claimed)), Errc::execution_not_active);
  EXPECT_EQ(error_of(delay(claimed, 1s)), Errc::execution_not_active);
  EXPECT_EQ(attempts_of(id), "0 initial by w1: cancelled (cancelled: )");
}

TEST_P(Conformance, CancelledExecutionCanBeCancelledAgain) {
  const auto id = submit();
  const auto first = must(run(Cancel{.id = id, .reason = "first"}));
  advance(1s);
  EXPECT_EQ(must(run(Cancel{.id = id, .reason = "second"})), first);
  EXPECT_EQ(info(id).cancel_reason, "first");
  EXPECT_EQ(info(id).completed_at, now() - 1s);
}

TEST_P(Conformance, CompletedExecutionCannotBeCancelled) {
  const auto id = submit();
  must(run(complete(claim())));
  EXPECT_EQ(error_of(Cancel{.id = id}), Errc::execution_not_active);
  EXPECT_EQ(must(run(GetResult{id})).bytes, "out");
  EXPECT_EQ(error_of(Cancel{.id = id_in(1, 1)}), Errc::execution_not_found);
}

TEST_P(Conformance, WaitingForAResultEndsWithTheCancellation) {
  const auto id = submit();
  auto waiting = start(GetResult{.id = id, .wait = wake_up_max});
  must(run(Cancel{.id = id}));
  EXPECT_EQ(waiting.get().error().code, Errc::execution_failed);
}

// ---- By its worker -------------------------------------------------------------------------------

TEST_P(Conformance, WorkerCancelsWhatItHolds) {
  const auto id = submit();
  const auto claimed = claim();
  const Cancel cancel{.id = id, .reason = "asked to", .fence = claimed.fence};
  const auto first = must(run(cancel));
  EXPECT_EQ(first.state, ExecutionState::cancelled);
  EXPECT_EQ(must(run(cancel)), first) << "repeated";
  EXPECT_TRUE(run(Cancel{.id = id})) << "by an operator";
}

TEST_P(Conformance, WorkerCannotCancelWhatItDoesNotHold) {
  const auto id = submit();
  EXPECT_EQ(error_of(Cancel{.id = id, .fence = Fence{}}), Errc::execution_not_active);
  const auto claimed = claim();
  auto forged = claimed.fence;
  forged.lease_id = lease_id(9);
  EXPECT_EQ(error_of(Cancel{.id = id, .fence = forged}), Errc::stale_lease);
  advance(lease_ttl);
  EXPECT_EQ(error_of(Cancel{.id = id, .fence = claimed.fence}), Errc::lease_expired);
  home_->run_scanners();
  EXPECT_EQ(error_of(Cancel{.id = id, .fence = claimed.fence}), Errc::lease_expired);
  EXPECT_EQ(state_of(id), ExecutionState::active);
}

TEST_P(Conformance, WorkerIsNotToldThatItCancelledWhatAnOperatorDid) {
  const auto id = submit();
  const auto claimed = claim();
  must(run(Cancel{.id = id}));
  EXPECT_EQ(error_of(Cancel{.id = id, .fence = claimed.fence}), Errc::execution_not_active);
}

TEST_P(Conformance, CancellationIsKnownAfterARestart) {
  const auto id = submit();
  const auto claimed = claim();
  const Cancel cancel{.id = id, .reason = "why", .fence = claimed.fence};
  const auto first = must(run(cancel));
  home_->restart();
  EXPECT_EQ(info(id).cancel_reason, "why");
  EXPECT_EQ(must(run(cancel)), first);
  EXPECT_EQ(claimable(), 0u);
}

}  // namespace
}  // namespace ff::conformance
