#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

class Reclaim : public Contract {
 protected:
  // Lost by its first worker and granted to the next.
  void lose_with_policy(const std::string& json) {
    bring_to("none");
    run(create().with(7, json));
    run(grant_and_claim());
    rewind_lease();
    run(mark_expired());
    run(issue_reclaim_grant());
  }
};

TEST_F(Reclaim, BeginsTheNextAttempt) {
  bring_to("lost_granted");
  EXPECT_EQ(change(reclaim()), R"(1 OK L2 2 t+30000 A2 1 reclaim
claim_grant -(expires)
claim_grant -created_at
claim_grant -grant_expires_at
claim_grant -lane_id
claim_grant -worker_id
claim_grant -worker_instance_id
core -blocking_detail
core -grant_expires_at
core -granted_to
core -lease_expired_at
idx:grants -<E>
idx:lane:main:reclaimable -<E>
attempt:1 attempt_id=A2
attempt:1 attempt_index=1
attempt:1 attempt_state=started
attempt:1 attempt_type=reclaim
attempt:1 created_at=t
attempt:1 execution_id=<E>
attempt:1 lease_epoch=2
attempt:1 lease_id=L2
attempt:1 previous_attempt_index=0
attempt:1 reclaim_reason=lease expired
attempt:1 started_at=t
attempt:1 worker_id=w1
attempt:1 worker_instance_id=w1-i1
attempts 1=t
core attempt_state=running_attempt
core blocking_reason=none
core current_attempt_id=A2
core current_attempt_index=1
core current_lease_epoch=2
core current_lease_id=L2
core last_mutation_at=t
core last_transition_at=t
core lease_acquired_at=t
core lease_expires_at=t+30000
core lease_last_renewed_at=t
core lease_reclaim_count=1
core lease_renewal_deadline=t+20000
core ownership_state=leased
core total_attempt_count=2
idx:lane:main:active <E>=t+30000
idx:lease_expiry <E>=t+30000
idx:worker:w1-i1:leases <E>=in
)");
}

TEST_F(Reclaim, RefusesInThisOrder) {
  expect_refused(reclaim(), "0 execution_not_found");
  expect_refused(reclaim().with(6, "x"), "0 invalid_input lease_ttl_ms must be a number, got: x");
  for (const std::string state : {"waiting", "active", "overdue", "completed"}) {
    bring_to(state);
    expect_refused(reclaim(), "0 execution_not_reclaimable");
  }
  bring_to("revoked");
  expect_refused(reclaim(), "0 invalid_claim_grant");
  bring_to("lost_granted");
  expect_refused(reclaim(2, "w2"), "0 invalid_claim_grant");
}

TEST_F(Reclaim, ClosesTheOldAttemptsStream) {
  bring_to("lost_granted");
  command({"HSET", "ff:stream:" + tag + ":" + E + ":0:meta", "closed_reason", "lease_expired"});
  run(reclaim());
  EXPECT_EQ(store()["ff:stream:" + tag + ":<E>:0:meta"]["closed_reason"], "reclaimed");
}

TEST_F(Reclaim, AnswersTheSameLeaseAgain) {
  bring_to("lost_granted");
  const auto first = reply_of(reclaim());
  EXPECT_EQ(reply_of(reclaim()), first);
}

TEST_F(Reclaim, EndsWhatWasLostTooOften) {
  lose_with_policy(R"({"max_reclaim_count":0})");
  command({"HSET", exec_key("core"), "flow_id", "f1"});
  EXPECT_EQ(change(reclaim()), R"(0 max_retries_exhausted 0
claim_grant -(expires)
claim_grant -created_at
claim_grant -grant_expires_at
claim_grant -lane_id
claim_grant -worker_id
claim_grant -worker_instance_id
core -blocking_detail
core -current_lease_id
core -current_worker_id
core -current_worker_instance_id
core -grant_expires_at
core -granted_to
core -lease_acquired_at
core -lease_expired_at
core -lease_expires_at
core -lease_last_renewed_at
core -lease_renewal_deadline
idx:grants -<E>
idx:lane:main:active -<E>
idx:lane:main:reclaimable -<E>
core attempt_state=attempt_terminal
core blocking_reason=none
core completed_at=t
core failure_category=infra_crash
core failure_reason=max_reclaims_exceeded
core last_mutation_at=t
core last_transition_at=t
core lifecycle_phase=terminal
core ownership_state=unowned
core public_state=failed
core terminal_outcome=failed
idx:lane:main:terminal <E>=t
idx:totals main)"
                               "\x1f"
                               R"(failed=1
)");
}

TEST_F(Reclaim, TakesTheCapFromPolicyThenCallerThenDefault) {
  lose_with_policy(R"({"max_reclaim_count":2})");
  EXPECT_EQ(run(reclaim().with(9, "0")), "1 OK L2 2 X A2 1 reclaim");
  lose_with_policy(R"({"timeout_policy":{"max_reclaim_count":0}})");
  EXPECT_EQ(run(reclaim()), "0 max_retries_exhausted 0");
  lose_with_policy("");
  EXPECT_EQ(run(reclaim().with(9, "0")), "0 max_retries_exhausted 0");
  lose_with_policy("");
  command({"HSET", exec_key("core"), "lease_reclaim_count", "100"});
  EXPECT_EQ(run(reclaim().cut(8)), "0 max_retries_exhausted 100");
}

TEST_F(Reclaim, EndsNothingWithoutAGrant) {
  lose_with_policy(R"({"max_reclaim_count":0})");
  expect_refused(reclaim(2, "w2"), "0 invalid_claim_grant");
  command({"DEL", exec_key("claim_grant")});
  expect_refused(reclaim(), "0 invalid_claim_grant");
}

// Such a policy is refused today, but may be stored from before.
TEST_F(Reclaim, TakesACapThatIsNoNumberForAbsent) {
  lose_with_policy("");
  command({"SET", exec_key("policy"), R"({"max_reclaim_count":null})"});
  EXPECT_EQ(run(reclaim()), "1 OK L2 2 X A2 1 reclaim");
}

TEST_F(Reclaim, GivesTheNewAttemptItsOwnTime) {
  lose_with_policy(R"({"timeout_policy":{"attempt_timeout_ms":5000}})");
  EXPECT_FALSE(store().contains("idx:attempt_timeout"));
  run(reclaim());
  EXPECT_EQ(time_in_core("attempt_deadline_at"), time_in_core("lease_acquired_at") + 5000);
}

}  // namespace
}  // namespace ff::test
