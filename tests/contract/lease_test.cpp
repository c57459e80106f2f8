#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

using Renew = Contract;

TEST_F(Renew, PushesTheExpiryOut) {
  bring_to("active");
  EXPECT_EQ(change(renew()), R"(1 OK t+60000
core last_mutation_at=t
core lease_expires_at=t+60000
core lease_last_renewed_at=t
core lease_renewal_deadline=t+40000
idx:lane:main:active <E>=t+60000
idx:lease_expiry <E>=t+60000
)");
}

TEST_F(Renew, MayShortenTheLease) {
  bring_to("active");
  run(renew().with(6, "1000"));
  EXPECT_EQ(time_in_core("lease_expires_at"), time_in_core("lease_last_renewed_at") + 1000);
}

TEST_F(Renew, RefusesInThisOrder) {
  expect_refused(renew(), "0 execution_not_found");
  expect_refused(renew().with(6, "x").with(7, "y"),
                 "0 invalid_input lease_ttl_ms must be a number, got: x");
  expect_refused(renew().with(7, "y"),
                 "0 invalid_input lease_history_grace_ms must be a number, got: y");
  bring_to("completed");
  expect_refused(renew().with(3, "").with(4, "").with(5, ""), "0 fence_required");
  expect_refused(renew().with(3, ""), "0 partial_fence_triple");
  expect_refused(renew(), "0 execution_not_active success 1 terminal A1");
  bring_to("revoked");
  expect_refused(renew().with(4, "L9"), "0 lease_revoked");
  bring_to("expired");
  expect_refused(renew().with(4, "L9"), "0 lease_expired");
  bring_to("active");
  for (const std::size_t wrong : {2U, 3U, 4U, 5U})
    expect_refused(renew().with(wrong, "9"), "0 stale_lease");
}

TEST_F(Renew, MarksALeaseThatItFindsExpired) {
  bring_to("overdue");
  EXPECT_EQ(run(renew()), "0 lease_expired");
  EXPECT_EQ(core("ownership_state"), "lease_expired_reclaimable");
}

// The revocation of a lease does not affect later leases.
TEST_F(Renew, SucceedsAfterARevocationOfAnotherRun) {
  bring_to("revoked");
  run(cancel());
  run(replay());
  run(issue_claim_grant());
  ASSERT_EQ(run(claim(2)), "1 OK L2 2 X A2 1 replay");
  for (const std::string field : {"lease_revoked_at", "lease_revoke_reason", "lease_expired_at"})
    EXPECT_EQ(core(field), "");
  EXPECT_EQ(run(renew(2).with(2, "1")), "1 OK X");
}

using MarkExpired = Contract;

TEST_F(MarkExpired, FreesTheExecution) {
  bring_to("overdue");
  EXPECT_EQ(change(mark_expired()), R"(1 OK marked_expired
idx:lease_expiry -<E>
idx:worker:w1-i1:leases -<E>
attempt:0 attempt_state=interrupted_reclaimed
attempt:0 ended_at=t
attempt:0 failure_reason=lease expired
attempt:0 lease_end=expired
core attempt_state=attempt_interrupted
core blocking_detail=lease expired, awaiting reclaim
core blocking_reason=waiting_for_worker
core last_mutation_at=t
core last_transition_at=t
core lease_expired_at=t
core ownership_state=lease_expired_reclaimable
idx:lane:main:reclaimable <E>=t
)");
}

TEST_F(MarkExpired, SaysWhyThereIsNothingToDo) {
  const auto stray = [&] { command({"ZADD", index_key("lease_expiry"), "1", E}); };
  stray();
  EXPECT_EQ(run(mark_expired()), "1 ALREADY_SATISFIED execution_not_found");
  EXPECT_TRUE(store().empty());
  bring_to("completed");
  stray();
  EXPECT_EQ(run(mark_expired()), "1 ALREADY_SATISFIED not_active");
  EXPECT_FALSE(store().contains("idx:lease_expiry"));
  bring_to("expired");
  expect_refused(mark_expired(), "1 ALREADY_SATISFIED already_expired");
  bring_to("revoked");
  expect_refused(mark_expired(), "1 ALREADY_SATISFIED already_revoked");
  bring_to("active");
  expect_refused(mark_expired(), "1 ALREADY_SATISFIED not_yet_expired");
  command({"HSET", exec_key("core"), "ownership_state", "unowned"});
  EXPECT_EQ(run(mark_expired()), "1 ALREADY_SATISFIED unowned");
  EXPECT_FALSE(store().contains("idx:lease_expiry"));
}

// A scanner that reads the lowest scores finds those that are not marked yet.
TEST_F(MarkExpired, MakesRoomForTheNext) {
  bring_to("expired");
  EXPECT_FALSE(store().contains("idx:lease_expiry"));
  EXPECT_EQ(store()["idx:lane:main:reclaimable"].count("<E>"), 1U);
}

using Revoke = Contract;

TEST_F(Revoke, TakesTheLeaseAway) {
  bring_to("active");
  EXPECT_EQ(change(revoke()), R"(1 OK revoked L1 1
idx:lease_expiry -<E>
idx:worker:w1-i1:leases -<E>
attempt:0 attempt_state=interrupted_reclaimed
attempt:0 ended_at=t
attempt:0 failure_reason=lease revoked: operator_revoke
attempt:0 lease_end=revoked
core attempt_state=attempt_interrupted
core blocking_detail=lease revoked: operator_revoke
core blocking_reason=waiting_for_worker
core last_mutation_at=t
core last_transition_at=t
core lease_revoke_reason=operator_revoke
core lease_revoked_at=t
core ownership_state=lease_revoked
idx:lane:main:reclaimable <E>=t
)");
}

TEST_F(Revoke, RefusesInThisOrder) {
  expect_refused(revoke(), "0 execution_not_found");
  bring_to("waiting");
  expect_refused(revoke(), "0 execution_not_active none 0 runnable \"\"");
  bring_to("active");
  expect_refused(revoke().with(2, "L9"), "0 stale_lease expected L9 but current is L1");
  command({"HSET", exec_key("core"), "ownership_state", "unowned"});
  expect_refused(revoke().with(2, "L9"), "0 no_active_lease");
}

TEST_F(Revoke, CallsAMissingReasonOperator) {
  bring_to("active");
  EXPECT_EQ(run(revoke().with(2, "L1").cut(2)), "1 OK revoked L1 1");
  EXPECT_EQ(core("lease_revoke_reason"), "operator");
}

using UpdateProgress = Contract;

TEST_F(UpdateProgress, KeepsWhatIsNotTold) {
  bring_to("active");
  EXPECT_EQ(change(progress()), R"(1 OK
core last_mutation_at=t
core progress_message=half
core progress_pct=50
core progress_updated_at=t
)");
  EXPECT_EQ(run(progress().with(4, "").with(5, "")), "1 OK");
  EXPECT_EQ(core("progress_pct") + core("progress_message"), "50half");
}

TEST_F(UpdateProgress, RefusesInThisOrder) {
  expect_refused(progress(), "0 execution_not_found");
  bring_to("paused");
  expect_refused(progress(), "0 execution_not_active none 1 runnable A1");
  bring_to("revoked");
  expect_refused(progress().with(2, "L9"), "0 lease_revoked");
  bring_to("overdue");
  expect_refused(progress().with(2, "L9"), "0 lease_expired");
  bring_to("active");
  expect_refused(progress().with(2, "L9"), "0 stale_lease");
  expect_refused(progress().with(3, "9"), "0 stale_lease");
}

}  // namespace
}  // namespace ff::test
