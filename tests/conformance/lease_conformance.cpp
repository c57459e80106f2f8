#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, RenewedLeaseOutlivesItsFirstTerm) {
  submit();
  const auto claimed = claim();
  advance(lease_ttl - 1ms);
  const auto renewed =
      must(run(Renew{.id = claimed.id, .fence = claimed.fence, .lease_ttl = lease_ttl}));
  EXPECT_EQ(renewed.lease_expires_at, now() + lease_ttl);
  advance(lease_ttl - 1ms);
  home_->run_scanners();
  EXPECT_TRUE(run(complete(claimed)));
}

TEST_P(Conformance, WorkerThatDiedLosesTheExecutionToAnother) {
  const auto id = submit();
  const auto dead = claim("dead");
  advance(lease_ttl);
  home_->run_scanners();

  const auto heir = claim("heir");
  EXPECT_EQ(heir.id, id);
  EXPECT_EQ(heir.payload, "in");
  EXPECT_EQ(heir.attempt_index, 1u);
  EXPECT_EQ(heir.fence.lease_epoch, LeaseEpoch{2});
  EXPECT_EQ(error_of(complete(dead)), Errc::stale_lease);
  EXPECT_TRUE(run(complete(heir, "by the heir")));
  EXPECT_EQ(must(run(GetResult{id})).bytes, "by the heir");
}

TEST_P(Conformance, ManyLostWorkersDoNotStopTheExecution) {
  submit();
  for (int i = 0; i < 60; ++i) {
    claim();
    advance(lease_ttl);
    home_->run_scanners();
  }
  EXPECT_TRUE(run(complete(claim("last"))));
}

TEST_P(Conformance, ManyLostLeasesAtOnceAllComeBack) {
  constexpr std::uint32_t count = 120;
  for (std::uint32_t i = 0; i < count; ++i) submit();
  auto all = claim_by("dies");
  all.max = count;
  EXPECT_EQ(must(run(all)).executions.size(), count);
  advance(lease_ttl);
  home_->run_scanners();
  EXPECT_EQ(must(run(all)).executions.size(), count);
}

TEST_P(Conformance, ExpiredLeaseIsRefusedEvenBeforeAnyoneNoticed) {
  submit();
  const auto claimed = claim();
  advance(lease_ttl);
  EXPECT_EQ(error_of(complete(claimed)), Errc::lease_expired);
  EXPECT_EQ(error_of(Renew{.id = claimed.id, .fence = claimed.fence}), Errc::lease_expired);
  EXPECT_EQ(error_of(Fail{.id = claimed.id, .fence = claimed.fence, .reason = "r"}),
            Errc::lease_expired);
}

TEST_P(Conformance, LeaseIsHeldAcrossARestart) {
  submit();
  const auto claimed = claim();
  home_->restart();
  EXPECT_EQ(claimable(), 0u);
  EXPECT_TRUE(run(complete(claimed)));
}

TEST_P(Conformance, LeaseThatRanOutWhileTheEngineWasDownIsNoticed) {
  const auto id = submit();
  claim("dead");
  advance(lease_ttl);
  home_->restart();
  home_->run_scanners();
  EXPECT_EQ(claim("heir").id, id);
}

TEST_P(Conformance, AForgedFenceIsRefused) {
  submit();
  const auto claimed = claim();
  const auto with = [&](auto change) {
    auto forged = complete(claimed);
    change(forged.fence);
    return error_of(forged);
  };
  EXPECT_EQ(with([](Fence& f) { f.lease_id = LeaseId{}; }), Errc::stale_lease);
  EXPECT_EQ(with([](Fence& f) { f.lease_epoch = LeaseEpoch{2}; }), Errc::stale_lease);
  EXPECT_EQ(with([](Fence& f) { f.attempt_id = AttemptId{}; }), Errc::stale_lease);
  EXPECT_EQ(state_of(claimed.id), ExecutionState::active);
}

TEST_P(Conformance, RenewalMayShortenALeaseToo) {
  submit();
  const auto claimed = claim();
  auto shorter = renew(claimed);
  shorter.lease_ttl = 1s;
  EXPECT_EQ(must(run(shorter)).lease_expires_at, now() + 1s);
  EXPECT_EQ(info(claimed.id).lease_expires_at, now() + 1s);
  advance(1s);
  EXPECT_EQ(error_of(complete(claimed)), Errc::lease_expired);
}

TEST_P(Conformance, RenewalOfAnImpossibleLengthIsRefusedAndTheLeaseStays) {
  submit();
  const auto claimed = claim();
  for (const Millis ttl : {0ms, -1ms, limits::lease_ttl_max + 1ms}) {
    auto wrong = renew(claimed);
    wrong.lease_ttl = ttl;
    EXPECT_EQ(error_of(wrong), Errc::invalid_input);
  }
  EXPECT_EQ(info(claimed.id).lease_expires_at, claimed.lease_expires_at);
}

TEST_P(Conformance, LostLeaseIsSeenUntilAnotherWorkerHasIt) {
  const auto id = submit();
  claim("dies");
  pass(lease_ttl);
  const auto lost = info(id);
  EXPECT_EQ(lost.state, ExecutionState::active);
  EXPECT_EQ(lost.state_vector.ownership_state, OwnershipState::lease_expired_reclaimable);
  EXPECT_EQ(lost.worker, std::nullopt);
  EXPECT_EQ(lost.reclaims, 0u);
  EXPECT_EQ(claim("heir").attempt_type, AttemptType::reclaim);
  EXPECT_EQ(info(id).reclaims, 1u);
  EXPECT_EQ(info(id).state_vector.ownership_state, OwnershipState::leased);
}

TEST_P(Conformance, WorkerIsToldWhatBecameOfItsLease) {
  submit();
  const auto lost = claim("dies");
  pass(lease_ttl);
  EXPECT_EQ(error_of(complete(lost)), Errc::lease_expired);
  EXPECT_EQ(error_of(UpdateProgress{.id = lost.id, .fence = lost.fence}), Errc::lease_expired);
  const auto heir = claim("heir");
  EXPECT_EQ(error_of(renew(lost)), Errc::stale_lease);
  EXPECT_EQ(error_of(delay(lost, 1s)), Errc::stale_lease);
  EXPECT_EQ(error_of(Cancel{.id = lost.id, .fence = lost.fence}), Errc::stale_lease);
  must(run(complete(heir)));
  EXPECT_EQ(error_of(complete(lost)), Errc::execution_not_active);
}

TEST_P(Conformance, ManyDeadExecutionsInOnePartitionAllRunAgainWithoutHelp) {
  constexpr std::uint16_t count = 120;
  for (std::uint16_t i = 0; i < count; ++i) submit(Submit{.id = id_in(5, i), .kind = greet});
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(claim_many(count, "dies").size(), count);
    pass(lease_ttl);
  }
  submit(Submit{.id = id_in(5, count), .kind = greet});
  const auto claimed = claim_many(2 * count, "lives");
  EXPECT_EQ(claimed.size(), count + 1u);
  for (const auto& each : claimed) EXPECT_TRUE(run(complete(each)));
}

TEST_P(Conformance, DeadExecutionsThatNobodyTakesDoNotKeepOthersFromBeingNoticed) {
  for (std::uint16_t i = 0; i < 120; ++i) submit(Submit{.id = id_in(5, i), .kind = greet});
  claim_many(120, "dies");
  pass(lease_ttl);
  const auto late = submit(Submit{.id = id_in(5, 200), .kind = greet, .priority = 9});
  EXPECT_EQ(claim("dies-too").id, late);
  pass(lease_ttl);
  EXPECT_EQ(claim("heir").id, late);
}

TEST_P(Conformance, ExecutionFailsWhenTooManyWorkersDied) {
  const auto id = submit(Submit{.kind = greet, .policy = {.max_reclaim_count = 2}});
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(is_terminal(state_of(id)));
    claim("dies");
    pass(lease_ttl);
  }
  EXPECT_EQ(info(id).state, ExecutionState::failed);
  EXPECT_THAT(*info(id).failure_reason, ::testing::HasSubstr("max_reclaims_exceeded"));
  EXPECT_EQ(info(id).failure_category, "infra_crash");
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(Conformance, ExecutionThatMayNotBeReclaimedFailsWithItsFirstWorker) {
  const auto id = submit(Submit{.kind = greet, .policy = {.max_reclaim_count = 0}});
  claim("dies");
  pass(lease_ttl);
  EXPECT_EQ(state_of(id), ExecutionState::failed);
}

TEST_P(Conformance, LostLeasesDoNotUseUpRetries) {
  const auto id =
      submit(Submit{.kind = greet,
                    .policy = {.retry = RetryPolicy{.max_retries = 1, .backoff = FixedBackoff{}}}});
  for (int i = 0; i < 5; ++i) {
    claim("dies");
    pass(lease_ttl);
  }
  EXPECT_EQ(info(id).retries, 0u);
  EXPECT_EQ(must(run(failure(claim()))).state, ExecutionState::delayed);
}

// ---- Progress ------------------------------------------------------------------------------------

TEST_P(Conformance, ProgressIsSeenWithItsTime) {
  submit();
  const auto claimed = claim();
  EXPECT_EQ(info(claimed.id).progress, std::nullopt);
  advance(1s);
  must(run(UpdateProgress{.id = claimed.id, .fence = claimed.fence, .percent = 40}));
  advance(1s);
  must(run(UpdateProgress{.id = claimed.id, .fence = claimed.fence, .message = "half way"}));
  EXPECT_EQ(info(claimed.id).progress,
            (Progress{.percent = 40, .message = "half way", .at = now()}));
}

TEST_P(Conformance, ProgressNeedsTheLeaseAndAPercentage) {
  submit();
  const auto claimed = claim();
  auto forged = claimed.fence;
  forged.attempt_id = {};
  EXPECT_EQ(error_of(UpdateProgress{.id = claimed.id, .fence = forged}), Errc::stale_lease);
  EXPECT_EQ(error_of(UpdateProgress{.id = claimed.id, .fence = claimed.fence, .percent = 101}),
            Errc::invalid_input);
  EXPECT_EQ(info(claimed.id).progress, std::nullopt);
}

TEST_P(Conformance, ProgressOfALostAttemptIsNotThatOfTheNext) {
  submit();
  const auto claimed = claim();
  must(run(UpdateProgress{.id = claimed.id, .fence = claimed.fence, .percent = 40}));
  pass(lease_ttl);
  claim("heir");
  EXPECT_EQ(info(claimed.id).progress, std::nullopt);
}

}  // namespace
}  // namespace ff::conformance
