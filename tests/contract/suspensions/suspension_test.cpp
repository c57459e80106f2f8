#include "tests/contract/suspensions/suspension_fixture.hpp"

namespace ff::test {
namespace {

using Suspend = Suspensions;

TEST_F(Suspend, GivesTheExecutionBackUntilASignalComes) {
  activate();
  const auto told = change(suspend());
  EXPECT_TRUE(told.starts_with("1 OK " + S1 + " " + W1 + " k1 " + token() + "\n")) << told;
  EXPECT_EQ(told.substr(told.find('\n') + 1), R"(core -current_lease_id
core -current_worker_id
core -current_worker_instance_id
core -lease_acquired_at
core -lease_expires_at
core -lease_last_renewed_at
core -lease_renewal_deadline
idx:lane:main:active -<E>
idx:lease_expiry -<E>
idx:worker:w1-i1:leases -<E>
attempt:0 attempt_state=suspended
attempt:0 suspended_at=t
attempt:0 suspension_id=)" + S1 + R"(
core attempt_state=attempt_interrupted
core blocking_detail=suspended: waitpoint )" + W1 +
                                                  R"( awaiting waiting_for_approval
core blocking_reason=waiting_for_approval
core current_suspension_id=)" + S1 + R"(
core current_waitpoint_id=)" + W1 + R"(
core has_waits=1
core last_mutation_at=t
core last_transition_at=t
core lifecycle_phase=suspended
core ownership_state=unowned
core public_state=suspended
core waitpoints=)" + W1 + R"(
idx:lane:main:suspended <E>=9999999999999
suspension:current additional_waitpoints_json=[]
suspension:current attempt_index=0
suspension:current buffered_signal_summary_json={"total_count":0,"matched_count":0,"signal_names":[]}
suspension:current continuation_metadata_pointer=
suspension:current created_at=t
suspension:current execution_id=<E>
suspension:current lease_epoch=1
suspension:current lease_id=L1
suspension:current reason_code=waiting_for_approval
suspension:current requested_by=worker
suspension:current resume_condition_json={"required_signal_names":[]}
suspension:current resume_policy_json={}
suspension:current suspension_id=)" + S1 + R"(
suspension:current timeout_behavior=fail
suspension:current waitpoint_id=)" + W1 + R"(
suspension:current waitpoint_key=k1
suspension:current waitpoints=)" + W1 + R"(
waitpoints )" + W1 + R"(=in
wp:)" + W1 + R"( activated_at=t
wp:)" + W1 + R"( attempt_index=0
wp:)" + W1 + R"( created_at=t
wp:)" + W1 + R"( execution_id=<E>
wp:)" + W1 + R"( expires_at=
wp:)" + W1 + R"( expires_with=1
wp:)" + W1 + R"( matched_signal_count=0
wp:)" + W1 + R"( signal_count=0
wp:)" + W1 + R"( state=active
wp:)" + W1 + R"( suspension_id=)" + S1 + R"(
wp:)" + W1 + R"( waitpoint_id=)" + W1 + R"(
wp:)" + W1 + R"( waitpoint_key=k1
wp:)" + W1 + R"( waitpoint_token=)" + token() + R"(
wp:)" + W1 + R"(:condition closed=0
wp:)" + W1 + R"(:condition condition_type=signal_set
wp:)" + W1 + R"(:condition match_mode=any
wp:)" + W1 + R"(:condition matcher:0:name=
wp:)" + W1 + R"(:condition matcher:0:satisfied=0
wp:)" + W1 + R"(:condition matcher:0:signal_id=
wp:)" + W1 + R"(:condition minimum_signal_count=1
wp:)" + W1 + R"(:condition satisfied_count=0
wp:)" + W1 + R"(:condition total_matchers=1
wp:)" + W1 + R"(:condition updated_at=t
)");
}

TEST_F(Suspend, ReasonsSayWhatBlocksIt) {
  const Texts reasons{"waiting_for_signal",
                      "waiting_for_signal",
                      "waiting_for_approval",
                      "waiting_for_approval",
                      "waiting_for_callback",
                      "waiting_for_callback",
                      "waiting_for_tool_result",
                      "waiting_for_tool_result",
                      "waiting_for_operator_review",
                      "paused_by_operator",
                      "paused_by_policy",
                      "paused_by_policy",
                      "paused_by_budget",
                      "waiting_for_budget",
                      "step_boundary",
                      "waiting_for_signal",
                      "manual_pause",
                      "paused_by_operator",
                      "whatever",
                      "waiting_for_signal"};
  for (std::size_t i = 0; i < reasons.size(); i += 2) {
    activate();
    run(suspend().with(9, reasons[i]));
    EXPECT_EQ(core("blocking_reason"), reasons[i + 1]) << reasons[i];
  }
}

TEST_F(Suspend, NeedsTheFenceOfTheRunningLease) {
  expect_refused(suspend(), "0 execution_not_found");
  activate();
  expect_refused(suspend().with(3, "").with(4, "").with(5, ""), "0 fence_required");
  expect_refused(suspend().with(4, ""), "0 partial_fence_triple");
  expect_refused(suspend().with(4, "L9"), "0 stale_lease");
  expect_refused(suspend().with(5, "9"), "0 stale_lease");
  expect_refused(suspend().with(3, "A9"), "0 stale_lease");
  expect_refused(suspend().with(2, "1"), "0 invalid_lease_for_suspend");
  bring_to("overdue");
  install_ring();
  EXPECT_EQ(run(suspend()), "0 lease_expired");
  EXPECT_EQ(core("ownership_state"), "lease_expired_reclaimable");
  bring_to("revoked");
  expect_refused(suspend(), "0 lease_revoked");
  bring_to("completed");
  expect_refused(suspend(), "0 execution_not_active success 1 terminal A1");
  suspend_with(any_signal);
  expect_refused(suspend(), "0 execution_not_active none 1 suspended A1");
}

TEST_F(Suspend, NeedsAKeyRing) {
  bring_to("active");
  expect_refused(suspend(), "0 hmac_secret_not_initialized");
  install_ring();
  auto without = suspend();
  without.keys.pop_back();
  expect_refused(without, "0 invalid_keys_missing_hmac");
  command({"HSET", "ff:sec:" + tag + ":waitpoint_hmac", "secret:k1", "xyz"});
  expect_refused(suspend(), "0 invalid_secret");
}

// Weakness of the original: these were found after the first writes.
TEST_F(Suspend, ArgumentsAreCheckedBeforeTheFirstWrite) {
  activate();
  expect_refused(suspend("{not json"),
                 "0 invalid_input resume_condition_json: must be a JSON object");
  expect_refused(suspend(R"({"required_signal_names":null})"),
                 "0 invalid_input resume_condition_json: required_signal_names must be a list");
  expect_refused(suspend(R"({"minimum_signal_count":"many"})"),
                 "0 invalid_input resume_condition_json: minimum_signal_count must be a number");
  expect_refused(suspend().with(11, "soon"),
                 "0 invalid_input timeout_at must be a number, got: soon");
  expect_refused(suspend().with(11, "nan"),
                 "0 invalid_input timeout_at must be a number, got: nan");
  expect_refused(suspend().with(13, "["),
                 "0 invalid_input resume_policy_json must be a JSON object");
  expect_refused(suspend().with(17, "x"),
                 "0 invalid_input lease_history_maxlen must be a number, got: x");
  expect_refused(suspend_later(any_signal, {}, "key").with(19, "x"),
                 "0 invalid_input dedup_ttl_ms must be a number, got: x");
  expect_refused(suspend_later(any_signal, {W2, ""}), "0 additional_waitpoint_binding_malformed");
  EXPECT_EQ(core("public_state"), "active");
}

// Weakness of the original: a condition of many names failed half-way.
TEST_F(Suspend, TakesMoreNamesThanTheOriginal) {
  activate();
  EXPECT_TRUE(run(suspend(condition(Texts(1000, "a"), "all"))).starts_with("1 OK"));
  EXPECT_EQ(of_condition("total_matchers"), "1000");
  activate();
  expect_refused(suspend(condition(Texts(1001, "a"), "all")),
                 "0 invalid_input resume_condition_json: at most 1000 required_signal_names");
}

// Weakness of the original: these waited until their timeout, or for ever.
TEST_F(Suspend, ConditionsThatNothingCanSatisfyAreRefused) {
  activate();
  const std::string prefix = "0 invalid_input resume_condition_json: ";
  expect_refused(suspend(condition({"a"}, "any", "2")),
                 prefix + "minimum_signal_count is 2, and only 1 signals can count");
  expect_refused(suspend(condition({}, "any", "2")),
                 prefix + "minimum_signal_count is 2, and only 1 signals can count");
  expect_refused(suspend(condition({"a"}, "any", "1.5")),
                 prefix + "minimum_signal_count is 1.5, and only 1 signals can count");
  expect_refused(suspend(condition({"__timeout_only__"}, "all")),
                 prefix + "timeout_only_without_deadline");
  const auto with = [](const std::string& tree) { return suspend(composite(tree)); };
  expect_refused(with(R"({"kind":"AllOf","members":[]})"),
                 prefix + "allof_empty_members at path <root>");
  expect_refused(with(R"({"kind":"AllOf","members":[{"kind":"NeverBySignal"}]})"),
                 prefix + "can never be satisfied at path members[0]");
  expect_refused(with(R"({"kind":"Count","n":0,"waitpoints":["k1"]})"),
                 prefix + "count_n_zero at path <root>");
  expect_refused(with(R"({"kind":"Count","n":1,"waitpoints":[]})"),
                 prefix + "count_waitpoints_empty at path <root>");
  expect_refused(with(R"({"kind":"Count","n":2,"waitpoints":["k1"]})"),
                 prefix + "count_exceeds_waitpoint_set: n=2 > waitpoints.len()=1 at path <root>");
  expect_refused(with(R"({"kind":"Single","waitpoint_key":"k2"})"),
                 prefix + "referenced_waitpoint_key_missing_binding: k2");
  expect_refused(suspend(R"({"v":2,"composite":true,"tree":{}})"),
                 prefix + "unknown version of a composite");
  std::string deep = R"({"kind":"Single","waitpoint_key":"k1"})";
  for (int i = 0; i < 4; ++i) deep = R"({"kind":"AllOf","members":[)" + deep + "]}";
  expect_refused(
      with(deep),
      prefix + "depth 5 exceeds cap 4 at path members[0].members[0].members[0].members[0]");
}

TEST_F(Suspend, KeepsTheTimeThatItsAttemptHasLeft) {
  bring_to("granted");
  run(claim().with(11, "60000"));
  install_ring();
  EXPECT_TRUE(run(suspend()).starts_with("1 OK"));
  EXPECT_GT(std::stoll(core("attempt_left_ms")), 50000);
  EXPECT_FALSE(store().contains("idx:attempt_timeout"));
  EXPECT_EQ(send(1, "x"), "resume_condition_satisfied");
  claim_again(2);
  EXPECT_GT(time_in_core("attempt_deadline_at"), now() + 50000);
}

TEST_F(Suspend, TimeoutStandsInBothIndexes) {
  activate();
  run(suspend().with(11, far_future));
  EXPECT_EQ(store()["idx:suspension_timeout"]["<E>"], far_future);
  EXPECT_EQ(store()["idx:lane:main:suspended"]["<E>"], far_future);
  EXPECT_EQ(of_waitpoint("expires_at"), far_future);
  EXPECT_EQ(of_suspension("timeout_at"), far_future);
}

TEST_F(Suspend, LaterProgramsBindSeveralWaitpoints) {
  activate();
  const auto reply = reply_of(suspend_later(
      composite(
          R"({"kind":"Count","n":2,"count_kind":"DistinctWaitpoints","waitpoints":["k1","k2"]})"),
      {W2, "k2"}));
  EXPECT_EQ(reply, (Texts{"1", "OK", S1, W1, "k1", token(W1), "1", W2, "k2", token(W2)}));
  EXPECT_NE(of_suspension("additional_waitpoints_json").find(W2), std::string::npos);
  EXPECT_EQ(of_waitpoint("state", W2), "active");
  EXPECT_EQ(of_condition("condition_type", W2), "composite");
}

TEST_F(Suspend, RepeatedWithItsKeyRepliesAsTheFirstTime) {
  activate();
  const auto call = suspend_later(any_signal, {}, "once");
  const auto first = reply_of(call);
  EXPECT_EQ(reply_of(call), first);
  EXPECT_EQ(core("public_state"), "suspended");
}

// Weakness of the original: it handed out a token of a waitpoint that was over.
TEST_F(Suspend, RepeatedAfterItWasResumedIsRefused) {
  activate();
  const auto call = suspend_later(any_signal, {}, "once");
  run(call);
  EXPECT_EQ(send(1, "x"), "resume_condition_satisfied");
  expect_refused(call, "0 execution_not_active none 1 runnable A1");
}

TEST_F(Suspend, LeavesNothingOfTheSuspensionBefore) {
  suspend_with(any_signal);
  EXPECT_EQ(send(1, "x"), "resume_condition_satisfied");
  claim_again(2);
  const auto again = suspend(any_signal, 2).with(7, W2).with(6, "S2");
  EXPECT_TRUE(run(again).starts_with("1 OK S2 " + W2));
  EXPECT_EQ(of_suspension("closed_at"), "");
  EXPECT_EQ(of_suspension("suspension_id"), "S2");
  EXPECT_EQ(core("waitpoints"), W2);
}

TEST_F(Suspend, ReplacesAWaitpointThatIsOver) {
  suspend_with(condition({"a", "b"}, "all"));
  run(resume());
  claim_again(2);
  EXPECT_TRUE(run(suspend(any_signal, 2)).starts_with("1 OK"));
  EXPECT_EQ(of_waitpoint("closed_at"), "");
  EXPECT_EQ(of_waitpoint("close_reason"), "");
  EXPECT_EQ(of_condition("closed_reason"), "");
  EXPECT_EQ(of_condition("matcher:1:name"), "");
  EXPECT_EQ(of_condition("total_matchers"), "1");
}

// ---- Activating a pending waitpoint -----------------------------------------------------------------

TEST_F(Suspend, TakesAPendingWaitpointWithItsToken) {
  activate();
  const auto created = reply_of(create_pending());
  EXPECT_EQ(reply_of(suspend_pending()), (Texts{"1", "OK", S1, W1, "k1", created.at(4)}));
  EXPECT_EQ(of_waitpoint("state"), "active");
  EXPECT_FALSE(store().contains("idx:pending_waitpoint_expiry"));
}

TEST_F(Suspend, PendingWaitpointMustBeItsOwnAndOpen) {
  activate();
  expect_refused(suspend_pending(), "0 waitpoint_not_found");
  run(create_pending());
  expect_refused(suspend_pending().with(2, "1"), "0 invalid_lease_for_suspend");
  command({"HSET", waitpoint_key(W1), "attempt_index", "7"});
  expect_refused(suspend_pending(), "0 invalid_waitpoint_for_execution");
  command({"HSET", waitpoint_key(W1), "attempt_index", "0", "expires_at", "1000"});
  expect_refused(suspend_pending(), "0 pending_waitpoint_expired");
  command({"HSET", waitpoint_key(W1), "expires_at", far_future, "waitpoint_token", ""});
  expect_refused(suspend_pending(), "0 waitpoint_not_token_bound");
  EXPECT_EQ(run(close_waitpoint()), "1 OK");
  expect_refused(suspend_pending(), "0 waitpoint_not_pending");
}

// Weakness of the original: the waitpoint was active afterwards.
TEST_F(Suspend, PendingWithAdditionalOnesChangesNothing) {
  activate();
  run(create_pending());
  expect_refused(suspend_later(any_signal, {W2, "k2"}).with(15, "1"),
                 "0 use_pending_with_extras_unsupported");
}

TEST_F(Suspend, WaitpointOfAnotherExecutionIsRefused) {
  activate();
  run(create_pending());
  run(create().of(other_E));
  run(issue_claim_grant().of(other_E));
  run(claim().of(other_E));
  expect_refused(suspend_pending().of(other_E), "0 invalid_waitpoint_for_execution");
  expect_refused(suspend().of(other_E), "0 invalid_waitpoint_for_execution");
}

TEST_F(Suspend, EarlierSignalsCount) {
  activate();
  run(create_pending());
  EXPECT_EQ(run(signed_(buffer(1, "a"))),
            "1 OK " + signal_id(1) + " buffered_for_pending_waitpoint");
  EXPECT_TRUE(run(suspend_pending(condition({"a", "b"}, "all"))).starts_with("1 OK"));
  EXPECT_EQ(of_condition("satisfied_count"), "1");
  EXPECT_EQ(of_condition("matcher:0:signal_id"), signal_id(1));
  EXPECT_EQ(send(2, "b"), "resume_condition_satisfied");
}

// Weakness of the original: the worker could not read the signals, and the condition stayed open.
TEST_F(Suspend, EnoughEarlierSignalsLeaveTheLeaseAsItIs) {
  activate();
  run(create_pending());
  run(signed_(buffer(1, "a")));
  EXPECT_EQ(reply_of(suspend_pending(condition({"a"}))),
            (Texts{"1", "ALREADY_SATISFIED", S1, W1, "k1", token()}));
  EXPECT_EQ(core("public_state"), "active");
  EXPECT_EQ(core("current_lease_id"), "L1");
  EXPECT_EQ(of_waitpoint("state"), "closed");
  EXPECT_EQ(of_waitpoint("close_reason"), "resumed");
  EXPECT_EQ(of_condition("closed"), "1");
  EXPECT_EQ(of_suspension("close_reason"), "resumed");
  EXPECT_EQ(run(complete()), "1 OK completed");
}

// Weakness of the original: signals that came before were ignored for composite conditions.
TEST_F(Suspend, EarlierSignalsCountForCompositeConditions) {
  activate();
  run(create_pending());
  run(signed_(buffer(1, "a")));
  const auto reply = reply_of(suspend_pending(composite(
      R"({"kind":"Single","path":"","waitpoint_key":"k1","matcher":{"kind":"ByName","name":"a"}})")));
  EXPECT_EQ(reply.at(1), "ALREADY_SATISFIED");
  EXPECT_EQ(of_suspension("all_satisfier_signals"), "[\"" + signal_id(1) + "\"]");
}

// Weakness of the original: signals beyond the length of the waitpoint's stream were lost.
TEST_F(Suspend, AllEarlierSignalsCountHoweverManyThereAre) {
  activate();
  run(create_pending());
  for (int i = 1; i <= 120; ++i) run(signed_(buffer(i, i == 1 ? "go" : "noise").with(16, "1")));
  EXPECT_EQ(reply_of(suspend_pending(condition({"go"}))).at(1), "ALREADY_SATISFIED");
}

// ---- Resuming -------------------------------------------------------------------------------------

using Resume = Suspensions;

TEST_F(Resume, ByAnOperatorClosesEverything) {
  suspend_with(condition({"a"}));
  EXPECT_EQ(change(resume()), R"(1 OK waiting
core -blocking_detail
core -current_suspension_id
core -current_waitpoint_id
idx:lane:main:suspended -<E>
core blocking_reason=waiting_for_worker
core eligibility_state=eligible_now
core last_mutation_at=t
core last_transition_at=t
core lifecycle_phase=runnable
core public_state=waiting
core wake=operator)"
                              "\x1f"
                              "t\x1f" +
                                  S1 +
                                  "\x1f"
                                  R"(
idx:lane:main:eligible <E>=t
suspension:current close_reason=resumed
suspension:current closed_at=t
suspension:current satisfied_at=t
wp:)" + W1 + R"( close_reason=resumed
wp:)" + W1 + R"( closed_at=t
wp:)" + W1 + R"( satisfied_at=t
wp:)" + W1 + R"( state=closed
wp:)" + W1 + R"(:condition closed=1
wp:)" + W1 + R"(:condition closed_at=t
wp:)" + W1 + R"(:condition closed_reason=resumed
)");
}

TEST_F(Resume, NeedsASuspendedExecution) {
  expect_refused(resume(), "0 execution_not_found");
  bring_to("active");
  expect_refused(resume(), "0 execution_not_suspended");
  suspend_with(any_signal);
  expect_refused(resume("later"), "0 invalid_input resume_delay_ms must be a number, got: later");
  EXPECT_EQ(run(resume("")), "1 OK waiting");
  expect_refused(resume(), "0 execution_not_suspended");
}

// Weakness of the original: a resume with a delay stranded the execution.
TEST_F(Resume, DelayEnds) {
  suspend_with(any_signal);
  EXPECT_EQ(run(resume("60000")), "1 OK delayed");
  EXPECT_EQ(core("blocking_reason"), "waiting_for_resume_delay");
  EXPECT_EQ(core("blocking_detail"), "resume delay 60000ms");
  EXPECT_GT(time_in_core("delay_until"), now() + 50000);
  EXPECT_EQ(run(promote()), "1 OK not_yet_due");
  rewind_delay();
  EXPECT_EQ(run(promote()), "1 OK promoted");
  EXPECT_EQ(core("public_state"), "waiting");
  claim_again(2);
}

TEST_F(Resume, SignalAndPolicyMayDelayItToo) {
  suspend_with(any_signal);
  EXPECT_EQ(run(signed_(deliver(1, "x").with(15, "60000"))),
            "1 OK " + signal_id(1) + " resume_condition_satisfied");
  EXPECT_EQ(core("blocking_detail"), "resume delay 60000ms after signal x");
  EXPECT_EQ(core("public_state"), "delayed");
  // Weakness of the original: the policy's delay had no effect.
  activate();
  run(suspend().with(13, R"({"resume_delay_ms":60000})"));
  send(1, "x");
  EXPECT_EQ(core("public_state"), "delayed");
}

// Weakness of the original: the flag was not looked at.
TEST_F(Resume, ConditionMayExcludeOperators) {
  suspend_with(R"({"required_signal_names":[],"allow_operator_override":false})");
  expect_refused(resume(),
                 "0 invalid_input the resume condition does not allow an operator override");
  EXPECT_EQ(send(1, "x"), "resume_condition_satisfied");
}

TEST_F(Resume, TheSameAttemptContinues) {
  suspend_with(any_signal);
  send(1, "x");
  EXPECT_EQ(run(issue_claim_grant()), "1 OK <E>");
  EXPECT_EQ(run(claim()), "0 use_claim_resumed_execution");
  EXPECT_EQ(run(claim_resumed()), "1 OK L2 2 X A1 0 resumed");
  EXPECT_EQ(attempt("0", "attempt_state"), "started");
  EXPECT_NE(attempt("0", "resumed_at"), "");
  EXPECT_EQ(attempt("0", "suspension_id"), "");
  EXPECT_EQ(run(complete(2).with(4, "A1")), "1 OK completed");
}

TEST_F(Resume, GrantAndClaimTakesIt) {
  suspend_with(any_signal);
  EXPECT_EQ(run(grant_and_claim(2)), "0 execution_not_eligible");
  send(1, "x");
  EXPECT_EQ(run(grant_and_claim(2)), "1 OK L2 2 0");
}

// ---- Timeouts ---------------------------------------------------------------------------------------

using ExpireSuspension = Suspensions;

TEST_F(ExpireSuspension, CleansTheIndexOfWhatIsNotSuspended) {
  const auto put = [&] { command({"ZADD", index_key("suspension_timeout"), "1", E}); };
  put();
  EXPECT_EQ(run(expire_suspension()), "1 OK not_found_cleaned");
  EXPECT_FALSE(store().contains("idx:suspension_timeout"));
  bring_to("active");
  put();
  EXPECT_EQ(run(expire_suspension()), "1 OK not_suspended_cleaned");
  EXPECT_FALSE(store().contains("idx:suspension_timeout"));
}

TEST_F(ExpireSuspension, WaitsForItsTime) {
  activate();
  run(suspend().with(11, far_future));
  expect_refused(expire_suspension(), "1 OK not_yet_due");
}

// Weakness of the original: a script error.
TEST_F(ExpireSuspension, SuspensionWithoutATimeoutIsNotDue) {
  suspend_with(any_signal);
  expect_refused(expire_suspension(), "1 OK not_yet_due");
  command({"ZADD", index_key("suspension_timeout"), "1", E});
  EXPECT_EQ(run(expire_suspension()), "1 OK not_yet_due");
  EXPECT_FALSE(store().contains("idx:suspension_timeout"));
}

struct Behavior {
  std::string given, reply, state, attempt, close_reason, reason;
};

TEST_F(ExpireSuspension, DoesAsItsBehaviourSays) {
  const std::vector<Behavior> behaviors{
      {"fail", "fail failed", "failed", "ended_failure", "timed_out_fail",
       "suspension_timeout:fail"},
      {"cancel", "cancel cancelled", "cancelled", "ended_cancelled", "timed_out_cancel",
       "suspension_timeout:cancel"},
      {"expire", "expire expired", "expired", "ended_failure", "timed_out_expire",
       "suspension_timeout:expire"},
      {"auto_resume", "auto_resume waiting", "waiting", "suspended", "timed_out_auto_resume", ""},
      {"auto_resume_with_timeout_signal", "auto_resume waiting", "waiting", "suspended",
       "timed_out_auto_resume", ""},
      {"burn", "burn failed", "failed", "ended_failure", "timed_out_fail",
       "suspension_timeout:burn"},
      {"", "\"\" failed", "failed", "ended_failure", "timed_out_fail", "suspension_timeout:"}};
  for (const auto& each : behaviors) {
    activate();
    run(suspend().with(11, far_future).with(16, each.given));
    rewind("suspension_timeout_at");
    EXPECT_EQ(run(expire_suspension()), "1 OK " + each.reply);
    EXPECT_EQ(core("public_state"), each.state);
    EXPECT_EQ(core("failure_reason"), each.reason);
    EXPECT_EQ(attempt("0", "attempt_state"), each.attempt);
    EXPECT_EQ(of_suspension("close_reason"), each.close_reason);
    EXPECT_EQ(of_waitpoint("close_reason"), each.close_reason);
    EXPECT_EQ(of_condition("closed_reason"), each.close_reason);
    EXPECT_EQ(core("current_suspension_id"), "");
    EXPECT_FALSE(store().contains("idx:suspension_timeout"));
    EXPECT_FALSE(store().contains("idx:lane:main:suspended"));
  }
}

// Weakness of the original: nothing told the worker that it was the timeout.
TEST_F(ExpireSuspension, WorkerLearnsOfTheTimeout) {
  activate();
  run(suspend().with(11, far_future).with(16, "auto_resume"));
  rewind("suspension_timeout_at");
  run(expire_suspension());
  EXPECT_TRUE(core("wake").starts_with("timeout\x1f")) << core("wake");
}

TEST_F(ExpireSuspension, EscalationWaitsForAnOperator) {
  activate();
  run(suspend().with(11, far_future).with(16, "escalate"));
  rewind("suspension_timeout_at");
  EXPECT_EQ(run(expire_suspension()), "1 OK escalate suspended");
  EXPECT_EQ(core("blocking_reason"), "paused_by_operator");
  EXPECT_TRUE(core("blocking_detail").starts_with("suspension escalated: timeout at "));
  EXPECT_EQ(of_suspension("reason_code"), "waiting_for_operator_review");
  EXPECT_EQ(of_suspension("timeout_at") + of_suspension("timeout_behavior"), "");
  EXPECT_FALSE(store().contains("idx:suspension_timeout"));
  EXPECT_EQ(run(expire_suspension()), "1 OK not_yet_due");
  EXPECT_EQ(send(1, "x"), "appended_to_waitpoint");
  EXPECT_EQ(core("public_state"), "suspended") << "signals do not resume it";
  EXPECT_EQ(run(resume()), "1 OK waiting");
}

using SuspendWithLimit = Suspensions;

TEST_F(SuspendWithLimit, ConditionOfMoreSignalsThanThePolicyAllowsIsRefused) {
  activate();
  command({"HSET", exec_key("core"), "max_signals", "1"});
  expect_refused(suspend(condition({"a", "b"}, "all")),
                 "0 invalid_input resume_condition_json: the policy allows 1 signals");
  EXPECT_TRUE(run(suspend(condition({"a", "b"}, "any"))).starts_with("1 OK"));
}

// ---- Ends of suspended executions -------------------------------------------------------------------

using EndSuspended = Suspensions;

TEST_F(EndSuspended, CancelClosesEverything) {
  suspend_with(any_signal);
  EXPECT_EQ(run(cancel()), "1 OK cancelled suspended");
  EXPECT_EQ(of_suspension("close_reason"), "cancelled");
  EXPECT_EQ(of_waitpoint("close_reason"), "cancelled");
  EXPECT_EQ(of_condition("closed"), "1");
  EXPECT_EQ(attempt("0", "attempt_state"), "ended_cancelled");
  EXPECT_FALSE(store().contains("idx:lane:main:suspended"));
  EXPECT_EQ(send(1, "x"), "0 target_not_signalable");
}

TEST_F(EndSuspended, CancelNeedsNoFence) {
  suspend_with(any_signal);
  EXPECT_EQ(run(cancel("worker")), "1 OK cancelled suspended");
}

// Weakness of the original: a waitpoint that no suspension waited for stayed open.
TEST_F(EndSuspended, CancelClosesPendingWaitpoints) {
  activate();
  run(create_pending());
  run(cancel());
  EXPECT_EQ(of_waitpoint("state"), "closed");
  EXPECT_FALSE(store().contains("idx:pending_waitpoint_expiry"));
}

// Weakness of the original: waitpoint and condition stayed open.
TEST_F(EndSuspended, DeadlineClosesEverything) {
  suspend_with(any_signal);
  EXPECT_EQ(run(expire()), "1 OK expired suspended");
  EXPECT_EQ(of_suspension("close_reason"), "expired:execution_deadline");
  EXPECT_EQ(of_waitpoint("state"), "closed");
  EXPECT_EQ(of_condition("closed"), "1");
  EXPECT_EQ(attempt("0", "attempt_state"), "ended_failure");
}

TEST_F(EndSuspended, LeaseCallsAreRefusedWhileItIsSuspended) {
  suspend_with(any_signal);
  const std::string refused = "0 execution_not_active none 1 suspended A1";
  expect_refused(complete(), refused);
  expect_refused(fail(), refused);
  expect_refused(renew(), refused);
  expect_refused(revoke(), refused);
  expect_refused(issue_claim_grant(), "0 execution_not_eligible");
}

TEST_F(EndSuspended, ReplayStartsWithoutWaitpointsAndSignals) {
  suspend_with(any_signal);
  run(signed_(deliver(1, "x").with(10, "key")));
  claim_again(2);
  EXPECT_EQ(run(complete(2).with(4, "A1")), "1 OK completed");
  EXPECT_EQ(run(replay()), "1 OK 0");
  for (const auto& [key, fields] : store())
    EXPECT_TRUE(key.starts_with("core") || key.starts_with("idx:") || key.starts_with("attempt") ||
                key.starts_with("ff:sec:"))
        << key;
  EXPECT_EQ(core("signal_count") + core("waitpoints") + core("wake"), "");
}

}  // namespace
}  // namespace ff::test
