#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

using Claim = Contract;

constexpr auto claimed_core = R"(core attempt_state=running_attempt
core blocking_reason=none
core current_attempt_id=A1
core current_attempt_index=0
core current_lease_epoch=1
core current_lease_id=L1
core current_worker_id=w1
core current_worker_instance_id=w1-i1
core eligibility_state=not_applicable
core last_mutation_at=t
core last_transition_at=t
core lease_acquired_at=t
core lease_expires_at=t+30000
core lease_last_renewed_at=t
core lease_renewal_deadline=t+20000
core lifecycle_phase=active
core ownership_state=leased
core public_state=active
core started_at=t
core total_attempt_count=1
idx:lane:main:active <E>=t+30000
idx:lease_expiry <E>=t+30000
idx:worker:w1-i1:leases <E>=in
)";

constexpr auto first_attempt = R"(attempt:0 attempt_id=A1
attempt:0 attempt_index=0
attempt:0 attempt_state=started
attempt:0 attempt_type=initial
attempt:0 created_at=t
attempt:0 execution_id=<E>
attempt:0 lease_epoch=1
attempt:0 lease_id=L1
attempt:0 started_at=t
attempt:0 worker_id=w1
attempt:0 worker_instance_id=w1-i1
attempts 0=t
)";

constexpr auto used_grant = R"(claim_grant -(expires)
claim_grant -created_at
claim_grant -grant_expires_at
claim_grant -lane_id
claim_grant -worker_id
claim_grant -worker_instance_id
core -grant_expires_at
core -granted_to
idx:grants -<E>
idx:lane:main:eligible -<E>
)";

constexpr auto resumed_attempt_and_core = R"(attempt:0 acquired_at=t
attempt:0 attempt_state=started
attempt:0 lease_epoch=2
attempt:0 lease_id=L2
attempt:0 past_leases=[["L1","1","w1","t","t","worker_delay",""]]
attempt:0 resumed_at=t
core attempt_state=running_attempt
core blocking_reason=none
core current_lease_epoch=2
core current_lease_id=L2
core current_worker_id=w1
core current_worker_instance_id=w1-i1
core eligibility_state=not_applicable
core last_mutation_at=t
core last_transition_at=t
core lease_acquired_at=t
core lease_expires_at=t+30000
core lease_last_renewed_at=t
core lease_renewal_deadline=t+20000
core lifecycle_phase=active
core ownership_state=leased
core public_state=active
idx:lane:main:active <E>=t+30000
idx:lease_expiry <E>=t+30000
idx:worker:w1-i1:leases <E>=in
)";

using Text = std::string;

TEST_F(Claim, BeginsAnAttempt) {
  bring_to("granted");
  EXPECT_EQ(change(claim()),
            Text("1 OK L1 1 t+30000 A1 0 initial\n") + used_grant + first_attempt + claimed_core);
}

TEST_F(Claim, RefusesInThisOrder) {
  expect_refused(claim(), "0 execution_not_found");
  expect_refused(claim().with(7, "x").with(8, "y"),
                 "0 invalid_input lease_ttl_ms must be a number, got: x");
  expect_refused(claim().with(8, "y"), "0 invalid_input renew_before_ms must be a number, got: y");
  for (const Text state : {"active", "completed", "expired"}) {
    bring_to(state);
    expect_refused(claim(2), "0 execution_not_leaseable");
  }
  for (const Text state : {"delayed", "children", "blocked"}) {
    bring_to(state);
    expect_refused(claim(2), "0 execution_not_leaseable");
  }
  bring_to("granted");
  const auto put = [&](const Text& field, const Text& value) {
    command({"HSET", exec_key("core"), field, value});
  };
  put("attempt_state", "attempt_interrupted");
  expect_refused(claim(), "0 use_claim_resumed_execution");
  put("attempt_state", "running_attempt");
  expect_refused(claim(), "0 active_attempt_exists");
  put("terminal_outcome", "failed");
  expect_refused(claim(), "0 execution_not_leaseable");
  put("ownership_state", "leased");
  expect_refused(claim(), "0 lease_conflict");
}

TEST_F(Claim, WantsALiveGrantOfTheWorker) {
  bring_to("waiting");
  expect_refused(claim(), "0 invalid_claim_grant");
  bring_to("granted");
  expect_refused(claim(1, "w2"), "0 invalid_claim_grant");
  command({"HSET", exec_key("claim_grant"), "grant_expires_at", "1000"});
  command({"PERSIST", exec_key("claim_grant")});
  expect_refused(claim(), "0 claim_grant_expired");
}

// The reply to the first call may have been lost.
TEST_F(Claim, AnswersTheSameLeaseAgain) {
  bring_to("granted");
  const auto first = reply_of(claim());
  const auto claimed = store();
  EXPECT_EQ(reply_of(claim()), first);
  EXPECT_EQ(store(), claimed);
  expect_refused(claim(2), "0 execution_not_leaseable");
  rewind_lease();
  expect_refused(claim(), "0 execution_not_leaseable");
}

TEST_F(Claim, SetsAnAttemptsTimeAndTheDeadline) {
  bring_to("granted");
  run(claim().with(11, "1000").with(12, far_future));
  EXPECT_EQ(time_in_core("attempt_deadline_at"), time_in_core("lease_acquired_at") + 1000);
  EXPECT_EQ(store()["idx:attempt_timeout"]["<E>"], core("attempt_deadline_at"));
  EXPECT_EQ(store()["idx:execution_deadline"]["<E>"], far_future);
  bring_to("granted");
  run(claim().with(11, "0").with(12, "0"));
  EXPECT_FALSE(store().contains("idx:attempt_timeout"));
  EXPECT_FALSE(store().contains("idx:execution_deadline"));
}

TEST_F(Claim, AppliesThePolicysAttemptTimeout) {
  run(create().with(7, R"({"timeout_policy":{"attempt_timeout_ms":2000}})"));
  run(issue_claim_grant());
  run(claim());
  EXPECT_EQ(time_in_core("attempt_deadline_at"), time_in_core("lease_acquired_at") + 2000);
}

TEST_F(Claim, ReadsNumbersAsLuaDoes) {
  for (const auto& [text, ms] : std::vector<std::pair<Text, std::int64_t>>{
           {"1e3", 1000}, {" 7000 ", 7000}, {"0x1000", 4096}, {"1500.9", 1500}}) {
    bring_to("granted");
    run(claim().with(7, text));
    EXPECT_EQ(time_in_core("lease_expires_at"), time_in_core("lease_acquired_at") + ms) << text;
  }
}

TEST_F(Claim, LeavesNothingBehindInTheRealLane) {
  bring_to("granted");
  run(claim()
          .with(4, "other")
          .key(3, lane_key("eligible", "other"))
          .key(12, lane_key("active", "other")));
  EXPECT_FALSE(store().contains("idx:lane:main:eligible"));
  EXPECT_TRUE(store().contains("idx:lane:main:active"));
  EXPECT_FALSE(store().contains("idx:lane:other:active"));
}

TEST_F(Claim, RefusesMembersOfACancelledFlow) {
  bring_to("granted");
  command({"HSET", exec_key("core"), "flow_id", "f1"});
  command({"HSET", "ff:flow:" + tag + ":f1:core", "public_flow_state", "cancelled"});
  expect_refused(claim(), "0 execution_not_leaseable");
  expect_refused(grant_and_claim(), "0 execution_not_eligible");
  bring_to("resumable_granted");
  command({"HSET", exec_key("core"), "flow_id", "f1"});
  command({"HSET", "ff:flow:" + tag + ":f1:core", "public_flow_state", "cancelled"});
  expect_refused(claim_resumed(), "0 execution_not_leaseable");
}

TEST_F(Claim, TellsWhatARetryRetries) {
  bring_to("retrying");
  rewind_delay();
  run(promote());
  run(issue_claim_grant());
  EXPECT_EQ(run(claim(2)), "1 OK L2 2 X A2 1 retry");
  EXPECT_EQ(attempt("1", "retry_reason"), "oops");
  EXPECT_EQ(attempt("1", "previous_attempt_index"), "0");
  for (const Text field : {"pending_retry_reason", "pending_previous_attempt_index"})
    EXPECT_EQ(core(field), "");
}

using ClaimResumed = Contract;

TEST_F(ClaimResumed, GoesOnWithTheAttempt) {
  bring_to("resumable_granted");
  EXPECT_EQ(change(claim_resumed()), Text("1 OK L2 2 t+30000 A1 0 resumed\n") +
                                         "attempt:0 -suspended_at\nattempt:0 -suspension_id\n" +
                                         used_grant + resumed_attempt_and_core);
}

TEST_F(ClaimResumed, RefusesInThisOrder) {
  expect_refused(claim_resumed(), "0 execution_not_found");
  expect_refused(claim_resumed().with(7, "x"),
                 "0 invalid_input lease_ttl_ms must be a number, got: x");
  bring_to("active");
  expect_refused(claim_resumed(), "0 execution_not_leaseable");
  bring_to("waiting");
  expect_refused(claim_resumed(), "0 not_a_resumed_execution");
  bring_to("resumable");
  expect_refused(claim_resumed(), "0 invalid_claim_grant");
  bring_to("resumable_granted");
  expect_refused(claim_resumed(2, "w2"), "0 invalid_claim_grant");
}

TEST_F(ClaimResumed, RemovesAGrantThatIsOver) {
  bring_to("resumable_granted");
  command({"HSET", exec_key("claim_grant"), "grant_expires_at", "1000"});
  command({"PERSIST", exec_key("claim_grant")});
  EXPECT_EQ(run(claim_resumed()), "0 claim_grant_expired");
  EXPECT_FALSE(store().contains("claim_grant"));
  EXPECT_FALSE(store().contains("idx:grants"));
}

TEST_F(ClaimResumed, AnswersTheSameLeaseAgain) {
  bring_to("resumable_granted");
  const auto first = reply_of(claim_resumed());
  EXPECT_EQ(reply_of(claim_resumed()), first);
}

// A grant for what is delayed is not issued; one is put there by hand.
TEST_F(ClaimResumed, LeavesNoEntryInTheDelayedSet) {
  bring_to("paused");
  command({"HSET", exec_key("claim_grant"), "worker_id", "w1"});
  EXPECT_EQ(run(claim_resumed()), "1 OK L2 2 X A1 0 resumed");
  EXPECT_FALSE(store().contains("idx:lane:main:delayed"));
  EXPECT_FALSE(store().contains("idx:delays"));
}

TEST_F(ClaimResumed, HasTheTimeThatWasLeftToTheAttempt) {
  bring_to("granted");
  run(claim().with(11, "10000"));
  run(delay());
  const auto left = std::stoll(core("attempt_left_ms"));
  EXPECT_GT(left, 5000);
  run(grant_and_claim(2));
  EXPECT_EQ(time_in_core("attempt_deadline_at"), time_in_core("lease_acquired_at") + left);
}

using GrantAndClaim = Contract;

TEST_F(GrantAndClaim, BeginsAnAttempt) {
  bring_to("waiting");
  EXPECT_EQ(change(grant_and_claim()),
            Text("1 OK L1 1 0\nidx:lane:main:eligible -<E>\n") + first_attempt + claimed_core);
}

TEST_F(GrantAndClaim, GoesOnWithAnAttemptEvenWhileItIsDelayed) {
  bring_to("paused");
  EXPECT_EQ(change(grant_and_claim(2)), Text(R"(1 OK L2 2 0
attempt:0 -suspended_at
attempt:0 -suspension_id
core -blocking_detail
core -delay_until
idx:delays -<E>
idx:lane:main:delayed -<E>
)") + resumed_attempt_and_core);
}

TEST_F(GrantAndClaim, SetsTheTimesOfNewAttemptsOnly) {
  const auto timed = [](const Call& call) { return call.with(10, "1000").with(11, far_future); };
  bring_to("paused");
  run(timed(grant_and_claim(2)));
  EXPECT_EQ(core("attempt_deadline_at") + core("deadline"), "");
  bring_to("waiting");
  run(timed(grant_and_claim()));
  EXPECT_EQ(time_in_core("attempt_deadline_at"), time_in_core("lease_acquired_at") + 1000);
  EXPECT_EQ(core("deadline"), far_future);
}

// Other programs may have written a core in the original's way.
TEST_F(Claim, TakesAnEmptyFieldForNone) {
  bring_to("granted");
  for (const Text field : {"flow_id", "current_attempt_index", "attempt_timeout_ms", "delay_until",
                           "lease_revoked_at", "started_at"})
    command({"HSET", exec_key("core"), field, ""});
  EXPECT_EQ(run(claim()), "1 OK L1 1 X A1 0 initial");
  EXPECT_EQ(run(renew()), "1 OK X");
  EXPECT_EQ(run(complete()), "1 OK completed");
}

TEST_F(GrantAndClaim, RefusesInThisOrder) {
  expect_refused(grant_and_claim(), "0 execution_not_found");
  expect_refused(grant_and_claim().with(7, "x"),
                 "0 invalid_input lease_ttl_ms must be a number, got: x");
  bring_to("active");
  expect_refused(grant_and_claim(2), "0 execution_not_eligible");
  bring_to("delayed");
  expect_refused(grant_and_claim(), "0 execution_not_in_eligible_set");
  bring_to("granted");
  expect_refused(grant_and_claim(), "0 grant_already_exists");
  command({"HSET", exec_key("core"), "attempt_state", "running_attempt"});
  expect_refused(grant_and_claim(), "0 active_attempt_exists");
  command({"HSET", exec_key("core"), "terminal_outcome", "failed"});
  expect_refused(grant_and_claim(), "0 execution_not_eligible");
  command({"HSET", exec_key("core"), "ownership_state", "leased"});
  expect_refused(grant_and_claim(), "0 lease_conflict");
}

TEST_F(GrantAndClaim, AnswersTheSameLeaseAgain) {
  bring_to("waiting");
  EXPECT_EQ(run(grant_and_claim()), "1 OK L1 1 0");
  EXPECT_EQ(run(grant_and_claim()), "1 OK L1 1 0");
}

}  // namespace
}  // namespace ff::test
