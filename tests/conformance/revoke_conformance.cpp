#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, RevokedLeaseIsGoneForItsWorker) {
  const auto id = submit();
  const auto claimed = claim("w1");
  EXPECT_EQ(must(run(RevokeLease{.id = id, .reason = "maintenance"})),
            (RevokeReply{RevokeStatus::revoked, LeaseEpoch{1}}));
  EXPECT_EQ(info(id).state_vector.ownership_state, OwnershipState::lease_revoked);
  EXPECT_EQ(error_of(complete(claimed)), Errc::lease_revoked);
  EXPECT_EQ(error_of(failure(claimed)), Errc::lease_revoked);
  EXPECT_EQ(error_of(renew(claimed)), Errc::lease_revoked);
  EXPECT_EQ(error_of(delay(claimed, 1s)), Errc::lease_revoked);
  EXPECT_EQ(error_of(UpdateProgress{.id = id, .fence = claimed.fence}), Errc::lease_revoked);
  EXPECT_EQ(error_of(Cancel{.id = id, .fence = claimed.fence}), Errc::lease_revoked);
}

TEST_P(Conformance, RevokedExecutionIsReadyForAnotherWorkerAtOnce) {
  const auto id = submit();
  const auto revoked = claim("w1");
  auto waiting = start(claim_by("w2", wake_up_max));
  must(run(RevokeLease{.id = id}));
  const auto heir = woken(waiting);
  EXPECT_EQ(heir.id, id);
  EXPECT_EQ(heir.attempt_type, AttemptType::reclaim);
  EXPECT_EQ(heir.fence.lease_epoch, LeaseEpoch{2});
  EXPECT_EQ(error_of(complete(revoked)), Errc::stale_lease);
}

TEST_P(Conformance, LeaseAfterARevokedOneCanBeRenewed) {
  const auto id = submit();
  claim("w1");
  must(run(RevokeLease{.id = id}));
  const auto heir = claim("w2");
  advance(lease_ttl - 1ms);
  EXPECT_EQ(must(run(renew(heir))).lease_expires_at, now() + lease_ttl);
  pass(lease_ttl - 1ms);
  EXPECT_TRUE(run(complete(heir)));
}

TEST_P(Conformance, ReplayOfACancelledExecutionWhoseLeaseWasRevokedCanBeRenewed) {
  const auto id = submit();
  claim("w1");
  must(run(RevokeLease{.id = id}));
  must(run(Cancel{.id = id}));
  must(run(Replay{.id = id}));
  const auto claimed = claim("w2");
  EXPECT_TRUE(run(renew(claimed)));
  EXPECT_TRUE(run(complete(claimed)));
  EXPECT_EQ(leases_of(id),
            "acquired#1 w1, revoked#1 w1, replay_initiated, acquired#2 w2, "
            "released#2 w2 (completed)");
}

TEST_P(Conformance, SecondRevocationSaysThatThereIsNothingLeftToRevoke) {
  const auto id = submit();
  claim();
  must(run(RevokeLease{.id = id}));
  EXPECT_EQ(must(run(RevokeLease{.id = id})).status, RevokeStatus::already_revoked);
  claim();
  pass(lease_ttl);
  EXPECT_EQ(must(run(RevokeLease{.id = id})),
            (RevokeReply{RevokeStatus::already_expired, LeaseEpoch{2}}));
}

TEST_P(Conformance, RevocationOfANamedLeaseTouchesNoOther) {
  const auto id = submit();
  const auto claimed = claim();
  EXPECT_EQ(error_of(RevokeLease{.id = id, .lease_id = lease_id(9)}), Errc::stale_lease);
  EXPECT_TRUE(run(renew(claimed)));
  const RevokeLease named{.id = id, .lease_id = claimed.fence.lease_id};
  EXPECT_EQ(must(run(named)).status, RevokeStatus::revoked);
}

TEST_P(Conformance, OnlyWhatIsActiveHasALeaseToRevoke) {
  const auto waiting = submit();
  EXPECT_EQ(error_of(RevokeLease{.id = waiting}), Errc::execution_not_active);
  must(run(complete(claim())));
  EXPECT_EQ(error_of(RevokeLease{.id = waiting}), Errc::execution_not_active);
  EXPECT_EQ(error_of(RevokeLease{.id = id_in(1, 1)}), Errc::execution_not_found);
}

TEST_P(Conformance, RevocationIsKnownAfterARestart) {
  const auto id = submit();
  const auto claimed = claim("w1");
  must(run(RevokeLease{.id = id, .reason = "why"}));
  home_->restart();
  EXPECT_EQ(error_of(complete(claimed)), Errc::lease_revoked);
  EXPECT_EQ(claim("w2").id, id);
  EXPECT_EQ(leases_of(id), "acquired#1 w1, revoked#1 w1 (why), acquired#2 w2");
}

}  // namespace
}  // namespace ff::conformance
