// Replies that were seen from the original, word for word.
#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

using Samples = Contract;

const std::string idempotency_key = "ff:idem:" + tag + ":default:once";

Call remembered(const Call& call) { return call.key(6, idempotency_key).with(10, "60000"); }

TEST_F(Samples, Create) {
  EXPECT_EQ(run(create()), "1 OK <E> waiting");
  EXPECT_EQ(run(create()), "1 DUPLICATE <E>");
  bring_to("none");
  EXPECT_EQ(run(create().with(9, far_future)), "1 OK <E> delayed");
}

TEST_F(Samples, CreateWithAnIdempotencyKey) {
  EXPECT_EQ(run(remembered(create())), "1 OK <E> waiting");
  EXPECT_EQ(run(remembered(create().of(other_E))), "1 DUPLICATE <E>");
  EXPECT_EQ(core("execution_id", other_E), "");
}

TEST_F(Samples, Claim) {
  bring_to("waiting");
  EXPECT_EQ(run(claim()), "0 invalid_claim_grant");
  bring_to("granted");
  EXPECT_EQ(run(claim(1, "w2")), "0 invalid_claim_grant");
  EXPECT_EQ(run(claim().with(3, "other-instance")), "1 OK L1 1 X A1 0 initial");
  EXPECT_EQ(run(claim(2)), "0 execution_not_leaseable");
}

TEST_F(Samples, ClaimOfWhatAWorkerDelayed) {
  bring_to("resumable_granted");
  EXPECT_EQ(run(claim(2)), "0 use_claim_resumed_execution");
  EXPECT_EQ(run(claim_resumed()), "1 OK L2 2 X A1 0 resumed");
  bring_to("granted");
  EXPECT_EQ(run(claim_resumed()), "0 not_a_resumed_execution");
}

TEST_F(Samples, CompleteAndItsFence) {
  bring_to("waiting");
  const auto unfenced = complete().with(2, "").with(3, "").with(4, "");
  EXPECT_EQ(run(unfenced), "0 fence_required");
  EXPECT_EQ(run(unfenced.with(2, "L1")), "0 partial_fence_triple");
  EXPECT_EQ(run(unfenced.with(6, "operator_override")),
            "0 execution_not_active none 0 runnable \"\"");
  bring_to("active");
  EXPECT_EQ(run(complete(2).with(6, "operator_override")), "0 stale_lease");
  EXPECT_EQ(run(complete()), "1 OK completed");
  EXPECT_EQ(run(complete()), "1 OK completed");
}

TEST_F(Samples, CompleteWhenTheLeaseIsOver) {
  bring_to("overdue");
  EXPECT_EQ(run(complete()), "0 lease_expired");
  const auto marked = store();
  EXPECT_EQ(core("ownership_state"), "lease_expired_reclaimable");
  EXPECT_EQ(run(complete()), "0 lease_expired");
  EXPECT_EQ(store(), marked);
}

TEST_F(Samples, FailAndRetry) {
  bring_to("active");
  const auto reply = reply_of(fail(1, R"({"max_retries":2})"));
  EXPECT_EQ(reply[2], "retry_scheduled");
  EXPECT_EQ(std::stoll(reply[3]), time_in_core("last_mutation_at") + 1000);
  EXPECT_EQ(run(fail()), "1 OK retry_scheduled X");
  rewind_delay();
  EXPECT_EQ(run(promote()), "1 OK promoted");
  run(issue_claim_grant());
  EXPECT_EQ(run(claim(2)), "1 OK L2 2 X A2 1 retry");
  const auto again = reply_of(fail(
      2,
      R"({"max_retries":2,"backoff":{"type":"exponential","initial_delay_ms":100,"multiplier":3}})"));
  EXPECT_EQ(std::stoll(again.at(3)), time_in_core("last_mutation_at") + 300);
}

TEST_F(Samples, FailWithoutAPolicy) {
  bring_to("active");
  EXPECT_EQ(run(fail()), "1 OK terminal_failed");
}

TEST_F(Samples, Cancel) {
  bring_to("waiting");
  EXPECT_EQ(run(cancel()), "1 OK cancelled runnable");
  EXPECT_EQ(core("attempt_state"), "pending_first_attempt");
  EXPECT_EQ(run(cancel()), "0 execution_not_active cancelled 0 terminal \"\"");
}

TEST_F(Samples, Revoke) {
  bring_to("active");
  EXPECT_EQ(run(revoke()), "1 OK revoked L1 1");
  EXPECT_EQ(run(revoke()), "1 ALREADY_SATISFIED already_revoked");
  bring_to("expired");
  EXPECT_EQ(run(revoke()), "1 ALREADY_SATISFIED already_expired");
}

TEST_F(Samples, Reclaim) {
  bring_to("lost_granted");
  EXPECT_EQ(run(reclaim()), "1 OK L2 2 X A2 1 reclaim");
}

TEST_F(Samples, ReclaimBeyondThePolicysCap) {
  run(create().with(7, R"({"max_reclaim_count":0})"));
  run(issue_claim_grant());
  run(claim());
  rewind_lease();
  run(mark_expired());
  run(issue_reclaim_grant());
  EXPECT_EQ(run(reclaim()), "0 max_retries_exhausted 0");
  EXPECT_EQ(core("public_state"), "failed");
}

TEST_F(Samples, Expire) {
  bring_to("waiting");
  EXPECT_EQ(run(expire("attempt_timeout")), "1 OK expired runnable");
  EXPECT_EQ(run(expire("attempt_timeout")), "1 OK already_terminal");
  EXPECT_EQ(run(expire().of(other_E)), "1 OK not_found_cleaned");
}

TEST_F(Samples, ReplayTenTimes) {
  bring_to("failed");
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(run(replay()), "1 OK 0");
    run(cancel());
  }
  EXPECT_EQ(run(replay()), "0 max_replays_exhausted");
}

TEST_F(Samples, ChangePriority) {
  run(create().with(5, "5"));
  EXPECT_EQ(run(change_priority("7")), "1 OK 5 7");
  EXPECT_EQ(run(change_priority("99999")), "1 OK 7 9000");
  EXPECT_EQ(run(change_priority("-1")), "1 OK 9000 0");
}

TEST_F(Samples, SetTags) {
  bring_to("waiting");
  EXPECT_EQ(run(set_tags({"a_1.b.c", "x", "z.z", "y"})), "1 OK 2");
  for (const std::string key : {"ab", "a.", "a..b", "A.b", "1a.b", "a-b.c"})
    EXPECT_EQ(run(set_tags({key, "x"})), "0 invalid_tag_key " + key);
}

}  // namespace
}  // namespace ff::test
