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

}  // namespace
}  // namespace ff::conformance
