#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

constexpr auto released_lease = R"(core -current_lease_id
core -current_worker_id
core -current_worker_instance_id
core -lease_acquired_at
core -lease_expires_at
core -lease_last_renewed_at
core -lease_renewal_deadline
idx:lane:main:active -<E>
idx:lease_expiry -<E>
idx:worker:w1-i1:leases -<E>
)";

using Text = std::string;
using Complete = Contract;

TEST_F(Complete, EndsTheExecution) {
  bring_to("active");
  EXPECT_EQ(change(complete()), Text("1 OK completed\n") + released_lease +
                                    R"(attempt:0 attempt_state=ended_success
attempt:0 ended_at=t
core attempt_state=attempt_terminal
core completed_at=t
core last_mutation_at=t
core last_transition_at=t
core lifecycle_phase=terminal
core ownership_state=unowned
core public_state=completed
core terminal_outcome=success
idx:lane:main:terminal <E>=t
result =done
)");
}

TEST_F(Complete, WritesNoEmptyResult) {
  bring_to("active");
  run(complete().with(5, ""));
  EXPECT_FALSE(store().contains("result"));
}

TEST_F(Complete, ClosesTheStreamIfThereIsOne) {
  bring_to("active");
  const auto meta = "ff:stream:" + tag + ":" + E + ":0:meta";
  command({"HSET", meta, "opened_at", "1"});
  run(complete());
  EXPECT_EQ(store()["ff:stream:" + tag + ":<E>:0:meta"]["closed_reason"], "attempt_success");
}

TEST_F(Complete, LetsAnOperatorEndItWithoutAFence) {
  bring_to("active");
  EXPECT_EQ(run(complete().with(2, "").with(3, "").with(4, "").with(6, "operator_override")),
            "1 OK completed");
}

// Fence checks of all four fenced functions, in this order.
class Fence : public Contract {
 protected:
  static std::vector<Call> calls() {
    return {complete(), fail(1, ""), delay(), wait_for_children()};
  }
  static Call unfenced(const Call& call) { return call.with(2, "").with(3, "").with(4, ""); }
};

TEST_F(Fence, IsLookedAtBeforeTheState) {
  for (const auto& call : calls()) {
    bring_to("none");
    expect_refused(call, "0 execution_not_found");
    bring_to("completed");
    expect_refused(unfenced(call), "0 fence_required");
    for (const std::size_t missing : {2U, 3U, 4U})
      expect_refused(call.with(missing, ""), "0 partial_fence_triple");
    if (call.name != complete().name)
      expect_refused(call, "0 execution_not_active success 1 terminal A1");
  }
}

// The reply was lost, and the program asks again.
TEST_F(Fence, OfAnEndIsAnsweredAsTheFirstTime) {
  bring_to("active");
  EXPECT_EQ(run(complete()), "1 OK completed");
  EXPECT_EQ(change(complete()), "1 OK completed\n") << "nothing is written";
  expect_refused(complete().with(4, "A9"), "0 execution_not_active success 1 terminal A1");

  bring_to("active");
  EXPECT_EQ(run(fail(1, "")), "1 OK terminal_failed");
  EXPECT_EQ(change(fail(1, "")), "1 OK terminal_failed\n");

  bring_to("active");
  const auto retried = fail(1, R"({"max_retries":1,"backoff":{"type":"fixed","delay_ms":5000}})");
  const auto first = reply_of(retried);
  EXPECT_EQ(reply_of(retried), first);
  EXPECT_EQ(core("retry_count"), "1");
}

TEST_F(Fence, MustBeThatOfTheRunningLease) {
  for (const auto& call : calls()) {
    bring_to("active");
    for (const std::size_t wrong : {2U, 3U, 4U})
      expect_refused(call.with(wrong, "9"), "0 stale_lease");
    bring_to("revoked");
    expect_refused(call.with(2, "9"), "0 lease_revoked");
    bring_to("expired");
    expect_refused(call.with(2, "9"), "0 lease_expired");
    bring_to("paused");
    expect_refused(call, "0 execution_not_active none 1 runnable A1");
    bring_to("retrying");
    if (call.name != fail().name)
      expect_refused(call, "0 execution_not_active none 1 runnable \"\"");
    bring_to("resumed");
    expect_refused(call, "0 stale_lease");
  }
}

// Also by a stranger: expiry is looked at before identity.
TEST_F(Fence, MarksALeaseThatItFindsExpired) {
  for (const auto& call : calls()) {
    bring_to("overdue");
    EXPECT_EQ(run(call.with(2, "9")), "0 lease_expired");
    EXPECT_EQ(core("ownership_state"), "lease_expired_reclaimable");
    EXPECT_EQ(attempt("0", "attempt_state"), "interrupted_reclaimed");
    EXPECT_FALSE(store().contains("idx:lease_expiry"));
    EXPECT_TRUE(store().contains("idx:lane:main:active"));
    EXPECT_TRUE(store().contains("idx:lane:main:reclaimable"));
  }
}

using Fail = Contract;

TEST_F(Fail, SchedulesARetry) {
  bring_to("active");
  EXPECT_EQ(change(fail(1, R"({"max_retries":1})")),
            Text("1 OK retry_scheduled t+1000\ncore -current_attempt_id\n") + released_lease +
                R"(attempt:0 attempt_state=ended_failure
attempt:0 ended_at=t
attempt:0 failure_category=transient
attempt:0 failure_reason=oops
attempt:0 retry_at=t+1000
core attempt_state=pending_retry_attempt
core blocking_detail=retry backoff until t+1000 (attempt 0 failed: oops)
core blocking_reason=waiting_for_retry_backoff
core delay_until=t+1000
core eligibility_state=not_eligible_until_time
core failure_reason=oops
core last_mutation_at=t
core last_transition_at=t
core lifecycle_phase=runnable
core ownership_state=unowned
core pending_previous_attempt_index=0
core pending_retry_reason=oops
core public_state=delayed
core retry_count=1
idx:delays <E>=t+1000
idx:lane:main:delayed <E>=t+1000
)");
}

TEST_F(Fail, EndsTheExecution) {
  bring_to("active");
  EXPECT_EQ(change(fail()), Text("1 OK terminal_failed\n") + released_lease +
                                R"(attempt:0 attempt_state=ended_failure
attempt:0 ended_at=t
attempt:0 failure_category=transient
attempt:0 failure_reason=oops
core attempt_state=attempt_terminal
core completed_at=t
core failure_category=transient
core failure_reason=oops
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

class Backoff : public Contract {
 protected:
  // Milliseconds until the retry; -1: none.
  std::int64_t delay_after_failure(const std::string& retry_policy, int retries = 0) {
    bring_to("active");
    if (retries > 0) command({"HSET", exec_key("core"), "retry_count", std::to_string(retries)});
    const auto reply = reply_of(fail(1, retry_policy));
    if (reply.at(2) != "retry_scheduled") return reply.at(2) == "terminal_failed" ? -1 : -2;
    return std::stoll(reply.at(3)) - time_in_core("last_mutation_at");
  }
};

TEST_F(Backoff, FollowsThePolicy) {
  struct Row {
    std::string policy;
    int retries;
    std::int64_t delay;
  };
  const std::string exponential = R"({"max_retries":9,"backoff":{"type":"exponential")";
  const std::vector<Row> rows{
      {R"({"max_retries":2})", 1, 1000},
      {R"({"max_retries":2})", 2, -1},
      {"{}", 0, -1},
      {"[]", 0, -1},
      {"null", 0, -1},
      {"{", 0, -1},
      {"5", 0, -1},
      {exponential + "}}", 3, 8000},
      {exponential + R"(,"initial_delay_ms":100,"multiplier":3,"max_delay_ms":250}})", 1, 250},
      {exponential + R"(,"initial_delay_ms":100,"multiplier":1.5}})", 2, 225},
      {exponential + R"(,"initial_delay_ms":0,"multiplier":1e300}})", 5, 0},
      {R"({"max_retries":1,"backoff":{"type":"fixed"}})", 0, 1000},
      {R"({"max_retries":1,"backoff":{"type":"fixed","delay_ms":70}})", 0, 70},
      {R"({"max_retries":1,"backoff":{"type":"fixed","delay_ms":-70}})", 0, 0},
      {R"({"max_retries":1,"backoff":{"type":"fixed","delay_ms":1e300}})", 0, 315569520000},
      {R"({"max_retries":1,"backoff":{"type":"weird"}})", 0, 1000},
      {R"({"max_retries":1,"backoff":[]})", 0, 1000},
      {R"({"max_retries":1,"backoff":"fast"})", 0, 1000}};
  for (const auto& row : rows)
    EXPECT_EQ(delay_after_failure(row.policy, row.retries), row.delay) << row.policy;
}

TEST_F(Backoff, TakesWhatIsNoNumberForAbsent) {
  for (const std::string policy :
       {R"({"max_retries":null})", R"({"max_retries":"two"})", R"({"max_retries":[1]})",
        R"({"max_retries":NaN})", R"({"max_retries":Infinity})"})
    EXPECT_EQ(delay_after_failure(policy), -1) << policy;
  for (const std::string backoff :
       {"null", "5", "true", R"({"type":null})", R"({"type":"fixed","delay_ms":null})"})
    EXPECT_EQ(delay_after_failure(R"({"max_retries":1,"backoff":)" + backoff + "}"), 1000)
        << backoff;
}

TEST_F(Backoff, IsWholeMilliseconds) {
  EXPECT_EQ(delay_after_failure(R"({"max_retries":1,"backoff":{"type":"fixed","delay_ms":10.25}})"),
            10);
}

TEST_F(Backoff, IsSpreadByJitter) {
  bring_to("granted");
  run(claim().with(9, "00000000"));
  const auto shortest =
      reply_of(fail()
                   .with(4, "00000000")
                   .with(7, R"({"max_retries":1,"backoff":{"type":"exponential","jitter":true}})"));
  EXPECT_EQ(std::stoll(shortest.at(3)), time_in_core("last_mutation_at") + 500);
  bring_to("granted");
  run(claim().with(9, "ffffffff"));
  const auto longest =
      reply_of(fail()
                   .with(4, "ffffffff")
                   .with(7, R"({"max_retries":1,"backoff":{"type":"exponential","jitter":true}})"));
  EXPECT_EQ(std::stoll(longest.at(3)), time_in_core("last_mutation_at") + 1000);
}

TEST_F(Fail, DelaysARetryThatIsDueAtOnce) {
  bring_to("active");
  run(fail(1, R"({"max_retries":1,"backoff":{"type":"fixed","delay_ms":0}})"));
  EXPECT_EQ(core("public_state"), "delayed");
  EXPECT_EQ(run(promote()), "1 OK promoted");
}

TEST_F(Fail, RetriesOnlyWhatMayBeRetried) {
  const auto after = [&](const std::string& category, const std::string& policy) {
    bring_to("active");
    return reply_of(fail(1, policy).with(6, category)).at(2);
  };
  EXPECT_EQ(after("permanent", R"({"max_retries":3})"), "terminal_failed");
  EXPECT_EQ(after("cancelled", R"({"max_retries":3})"), "terminal_failed");
  EXPECT_EQ(after("timeout", R"({"max_retries":3})"), "retry_scheduled");
  const std::string only = R"({"max_retries":3,"retryable_categories":["infra_crash"]})";
  EXPECT_EQ(after("transient", only), "terminal_failed");
  EXPECT_EQ(after("infra_crash", only), "retry_scheduled");
}

TEST_F(Fail, FollowsTheStoredPolicyIfNoneIsGiven) {
  run(create().with(
      7, R"({"retry_policy":{"max_retries":1,"backoff":{"type":"fixed","delay_ms":7}}})"));
  run(grant_and_claim());
  const auto reply = reply_of(fail());
  EXPECT_EQ(reply.at(2), "retry_scheduled");
  EXPECT_EQ(std::stoll(reply.at(3)), time_in_core("last_mutation_at") + 7);
}

}  // namespace
}  // namespace ff::test
