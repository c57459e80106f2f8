#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

using Cancel = Contract;

Call by_worker(int number = 1) {
  return cancel("worker").with(4, "L" + std::to_string(number)).with(5, std::to_string(number));
}

TEST_F(Cancel, EndsWhatAWorkerHas) {
  bring_to("active");
  EXPECT_EQ(change(cancel()), R"(1 OK cancelled active
core -current_lease_id
core -current_worker_id
core -current_worker_instance_id
core -lease_acquired_at
core -lease_expires_at
core -lease_last_renewed_at
core -lease_renewal_deadline
idx:lane:main:active -<E>
idx:lease_expiry -<E>
idx:worker:w1-i1:leases -<E>
attempt:0 attempt_state=ended_cancelled
attempt:0 ended_at=t
attempt:0 failure_reason=cancelled: not needed
core attempt_state=attempt_terminal
core cancellation_reason=not needed
core cancelled_by=operator_override
core completed_at=t
core last_mutation_at=t
core last_transition_at=t
core lifecycle_phase=terminal
core ownership_state=unowned
core public_state=cancelled
core terminal_outcome=cancelled
idx:lane:main:terminal <E>=t
idx:totals main)"
                              "\x1f"
                              R"(cancelled=1
)");
}

TEST_F(Cancel, NamesTheExecutionWhereNoSourceIsGiven) {
  bring_to("waiting");
  EXPECT_EQ(change(cancel("")), R"(1 OK cancelled runnable
idx:lane:main:eligible -<E>
core blocking_reason=none
core cancellation_reason=not needed
core cancelled_by=<E>
core completed_at=t
core eligibility_state=not_applicable
core last_mutation_at=t
core last_transition_at=t
core lifecycle_phase=terminal
core public_state=cancelled
core terminal_outcome=cancelled
idx:lane:main:terminal <E>=t
idx:totals main)"
                                "\x1f"
                                R"(cancelled=1
)");
}

TEST_F(Cancel, LeavesNoIndexEntryButThatOfTheEnd) {
  for (const std::string state :
       {"waiting", "delayed", "granted", "active", "overdue", "expired", "revoked", "retrying",
        "paused", "resumable", "children", "blocked"}) {
    bring_to(state);
    EXPECT_TRUE(run(cancel()).starts_with("1 OK cancelled ")) << state;
    std::string found;
    for (const auto& [key, members] : store())
      if (members.contains("<E>")) found += key + " ";
    EXPECT_EQ(found, "idx:all_executions idx:lane:main:terminal ") << state;
    EXPECT_FALSE(store().contains("claim_grant")) << state;
  }
}

TEST_F(Cancel, RefusesWhatHasEnded) {
  expect_refused(cancel(), "0 execution_not_found");
  bring_to("failed");
  expect_refused(cancel(), "0 execution_not_active failed 1 terminal A1");
}

TEST_F(Cancel, WantsTheLeaseOfWhoeverIsNoOperator) {
  for (const std::string source : {"worker", "lease_holder", "", "someone"}) {
    bring_to("active");
    expect_refused(cancel(source), "0 fence_required");
  }
  expect_refused(by_worker().with(4, "L9"), "0 stale_lease");
  expect_refused(by_worker().with(5, "9"), "0 stale_lease");
  EXPECT_EQ(run(by_worker()), "1 OK cancelled active");
  EXPECT_EQ(change(by_worker()), "1 OK cancelled active\n") << "the same lease, once more";
  expect_refused(by_worker().with(5, "9"), "0 execution_not_active cancelled 1 terminal A1");
  for (const std::string source : {"operator_override", "flow_cascade", "system_timeout"}) {
    bring_to("active");
    EXPECT_EQ(run(cancel(source)), "1 OK cancelled active");
  }
}

TEST_F(Cancel, RefusesARevokedLease) {
  bring_to("revoked");
  expect_refused(by_worker(), "0 lease_revoked");
  expect_refused(cancel("someone"), "0 lease_revoked");
  EXPECT_EQ(run(cancel()), "1 OK cancelled active");
}

TEST_F(Cancel, RefusesAWorkerWhoseLeaseIsOver) {
  bring_to("overdue");
  EXPECT_EQ(run(by_worker()), "0 lease_expired");
  EXPECT_EQ(core("ownership_state"), "lease_expired_reclaimable");
  expect_refused(by_worker(), "0 lease_expired");
  bring_to("retrying");
  expect_refused(by_worker(), "0 execution_not_active none 1 runnable \"\"");
  bring_to("resumed");
  expect_refused(by_worker(), "0 stale_lease");
}

// Keys that were read before may be those of an attempt that is over, or of another worker.
TEST_F(Cancel, FindsTheKeysItself) {
  bring_to("lost_granted");
  run(reclaim(2));
  const auto stale = cancel();
  EXPECT_EQ(stale.keys[1], "ff:attempt:" + tag + ":" + E + ":0");
  run(stale.key(7, index_key("worker:none:leases")));
  EXPECT_EQ(attempt("0", "attempt_state"), "interrupted_reclaimed");
  EXPECT_EQ(attempt("1", "attempt_state"), "ended_cancelled");
  EXPECT_FALSE(store().contains("idx:worker:w1-i1:leases"));
}

}  // namespace
}  // namespace ff::test
