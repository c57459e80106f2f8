#include "tests/contract/suspensions/suspension_fixture.hpp"

namespace ff::test {
namespace {

using CreatePending = Suspensions;

TEST_F(CreatePending, OpensAWaitpointForASuspensionToCome) {
  activate();
  const auto told = change(create_pending());
  EXPECT_EQ(told, "1 OK " + W1 + " k1 " + token() + R"(
core has_waits=1
core waitpoint_expiry=4000000000000
core waitpoints=)" + W1 +
                      R"(
idx:pending_waitpoint_expiry )" +
                      W1 + R"(=4000000000000
idx:waitpoint_expiry <E>=4000000000000
waitpoints )" + W1 + R"(=in
wp:)" + W1 + R"( attempt_index=0
wp:)" + W1 + R"( created_at=t
wp:)" + W1 + R"( execution_id=<E>
wp:)" + W1 + R"( expires_at=4000000000000
wp:)" + W1 + R"( matched_signal_count=0
wp:)" + W1 + R"( signal_count=0
wp:)" + W1 + R"( state=pending
wp:)" + W1 + R"( waitpoint_id=)" +
                      W1 + R"(
wp:)" + W1 + R"( waitpoint_key=k1
wp:)" + W1 + R"( waitpoint_token=)" +
                      token() + "\n");
}

TEST_F(CreatePending, NeedsARunningLeaseOfTheAttempt) {
  expect_refused(create_pending(), "0 execution_not_found");
  bring_to("waiting");
  expect_refused(create_pending(), "0 execution_not_active none 0 runnable \"\"");
  bring_to("revoked");
  expect_refused(create_pending(), "0 no_active_lease");
  activate();
  expect_refused(create_pending().with(2, "3"), "0 stale_lease");
  run(create_pending());
  expect_refused(create_pending(), "0 waitpoint_already_exists");
  run(suspend_pending());
  expect_refused(create_pending(), "0 execution_not_active none 1 suspended A1");
}

// Weakness of the original: a worker whose lease was over could open waitpoints.
TEST_F(CreatePending, LeaseThatIsOverIsMarkedSo) {
  bring_to("overdue");
  install_ring();
  EXPECT_EQ(run(create_pending()), "0 lease_expired");
  EXPECT_EQ(core("ownership_state"), "lease_expired_reclaimable");
  EXPECT_FALSE(store().contains("wp:" + W1));
}

TEST_F(CreatePending, NeedsAKeyRing) {
  bring_to("active");
  expect_refused(create_pending(), "0 hmac_secret_not_initialized");
  auto without = create_pending();
  without.keys.pop_back();
  expect_refused(without, "0 invalid_keys_missing_hmac");
}

// Weakness of the original: the waitpoint was there, without an entry in the index.
TEST_F(CreatePending, ExpiryIsCheckedBeforeTheFirstWrite) {
  activate();
  expect_refused(create_pending().with(5, ""),
                 "0 invalid_input expires_at must be a number, got: ");
  expect_refused(create_pending().with(5, "soon"),
                 "0 invalid_input expires_at must be a number, got: soon");
}

TEST_F(CreatePending, IdOfAnotherExecutionIsRefused) {
  activate();
  run(create_pending());
  run(create().of(other_E));
  run(issue_claim_grant().of(other_E));
  run(claim().of(other_E));
  expect_refused(create_pending().of(other_E), "0 invalid_waitpoint_for_execution");
}

using CloseWaitpoint = Suspensions;

TEST_F(CloseWaitpoint, ClosesAPendingOne) {
  activate();
  run(create_pending());
  EXPECT_EQ(change(close_waitpoint()), R"(1 OK
core -waitpoint_expiry
idx:pending_waitpoint_expiry -)" + W1 + R"(
idx:waitpoint_expiry -<E>
wp:)" + W1 + R"( close_reason=proactive_close
wp:)" + W1 + R"( closed_at=t
wp:)" + W1 + R"( state=closed
)");
  EXPECT_EQ(run(close_waitpoint()), "1 OK already_closed");
}

TEST_F(CloseWaitpoint, ScannerSaysWhy) {
  activate();
  run(create_pending());
  run(close_waitpoint(W1, "never_committed"));
  EXPECT_EQ(of_waitpoint("close_reason"), "never_committed");
}

// Weakness of the original: the condition stayed open and a signal still resumed the execution.
TEST_F(CloseWaitpoint, ClosesTheConditionToo) {
  suspend_with(any_signal);
  EXPECT_EQ(run(close_waitpoint()), "1 OK");
  EXPECT_EQ(of_condition("closed"), "1");
  EXPECT_EQ(send(1, "x"), "0 waitpoint_closed");
  EXPECT_EQ(core("public_state"), "suspended");
}

// Weakness of the original: such entries kept a scanner's slot for ever.
TEST_F(CloseWaitpoint, RemovesEntriesOfTheIndexThatLeadNowhere) {
  activate();
  command({"ZADD", index_key("pending_waitpoint_expiry"), "1", W2});
  EXPECT_EQ(run(close_waitpoint(W2)), "0 waitpoint_not_found");
  EXPECT_FALSE(store().contains("idx:pending_waitpoint_expiry"));
  run(create_pending());
  run(close_waitpoint());
  command({"ZADD", index_key("pending_waitpoint_expiry"), "1", W1});
  EXPECT_EQ(run(close_waitpoint()), "1 OK already_closed");
  EXPECT_FALSE(store().contains("idx:pending_waitpoint_expiry"));
}

TEST_F(CloseWaitpoint, WaitpointKeyMustHaveItsId) {
  activate();
  run(create_pending());
  expect_refused(close_waitpoint().with(1, W2),
                 "0 invalid_input waitpoint_id must be the one in the waitpoint key, got: " + W2);
}

// Weakness of the original: pending waitpoints were in no set, and outlived their execution.
TEST_F(CreatePending, IsRemovedWithItsExecution) {
  activate();
  run(create_pending());
  run(signed_(buffer(1, "a").with(10, "key")));
  EXPECT_TRUE(store().contains("waitpoints"));
  run(complete());
  command({"HSET", exec_key("core"), "completed_at", "1000", "retention_ms", "1"});
  command({"FCALL", "ff_remove", "1", exec_key("core"), "", "test"});
  for (const auto& [key, fields] : store()) EXPECT_TRUE(key.starts_with("ff:sec:")) << key;
}

}  // namespace
}  // namespace ff::test
