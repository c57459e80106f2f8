#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

using Expire = Contract;

TEST_F(Expire, EndsWhatAWorkerHas) {
  bring_to("active");
  EXPECT_EQ(change(expire()), R"(1 OK expired active
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
attempt:0 attempt_state=ended_failure
attempt:0 ended_at=t
attempt:0 failure_category=timeout
attempt:0 failure_reason=execution_deadline
attempt:0 lease_end=timed_out
core attempt_state=attempt_terminal
core completed_at=t
core failure_reason=execution_deadline
core last_mutation_at=t
core last_transition_at=t
core lifecycle_phase=terminal
core ownership_state=unowned
core public_state=expired
core terminal_outcome=expired
idx:lane:main:terminal <E>=t
idx:totals main)"
                              "\x1f"
                              R"(expired=1
)");
}

TEST_F(Expire, EndsWhatWaits) {
  for (const std::string state :
       {"waiting", "delayed", "children", "blocked", "retrying", "paused"}) {
    bring_to(state);
    EXPECT_EQ(run(expire()), "1 OK expired runnable") << state;
    std::string found;
    for (const auto& [key, members] : store())
      if (members.contains("<E>")) found += key + " ";
    EXPECT_EQ(found, "idx:all_executions idx:lane:main:terminal ") << state;
  }
}

TEST_F(Expire, RemovesEntriesThatShouldNotBeThere) {
  const auto stray = [&] {
    command({"ZADD", index_key("attempt_timeout"), "1", E});
    command({"ZADD", index_key("execution_deadline"), "1", E});
  };
  stray();
  EXPECT_EQ(run(expire()), "1 OK not_found_cleaned");
  EXPECT_TRUE(store().empty());
  bring_to("completed");
  stray();
  EXPECT_EQ(run(expire()), "1 OK already_terminal");
  EXPECT_FALSE(store().contains("idx:attempt_timeout") ||
               store().contains("idx:execution_deadline"));
}

TEST_F(Expire, TakesAMissingReasonForAnAttemptsTimeout) {
  bring_to("active");
  EXPECT_EQ(run(expire().cut(1)), "1 OK expired active");
  EXPECT_EQ(core("failure_reason"), "attempt_timeout");
}

// The caller may have read an outdated index; the core decides.
TEST_F(Expire, DoesNothingForATimeThatCountsNoMore) {
  bring_to("granted");
  run(claim().with(11, "60000").with(12, far_future));
  expect_refused(expire("attempt_timeout"), "1 OK not_yet_due");
  expect_refused(expire("execution_deadline"), "1 OK not_yet_due");
  rewind("attempt_deadline_at");
  EXPECT_EQ(run(expire("attempt_timeout")), "1 OK expired active");
  for (const std::string state : {"retrying", "paused", "expired"}) {
    bring_to(state);
    expect_refused(expire("attempt_timeout"), "1 OK not_yet_due");
  }
}

TEST_F(Expire, RetriesAnAttemptThatTookTooLong) {
  run(create().with(7, R"({"retry_policy":{"max_retries":1}})"));
  run(grant_and_claim());
  EXPECT_EQ(run(expire("attempt_timeout")), "1 OK retry_scheduled X");
  EXPECT_EQ(core("public_state"), "delayed");
  EXPECT_EQ(attempt("0", "failure_reason"), "attempt_timeout");
  rewind_delay();
  run(promote());
  run(grant_and_claim(2));
  EXPECT_EQ(run(expire("attempt_timeout")), "1 OK expired active");
}

}  // namespace
}  // namespace ff::test
