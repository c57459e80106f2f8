#include "tests/contract/suspensions/suspension_fixture.hpp"

namespace ff::test {
namespace {

using DeliverSignal = Suspensions;

TEST_F(DeliverSignal, ResumesTheExecution) {
  suspend_with(condition({"a"}));
  const auto told = change(signed_(deliver(1, "a")));
  EXPECT_EQ(
      told,
      "1 OK " + signal_id(1) +
          R"( resume_condition_satisfied
core -blocking_detail
core -current_suspension_id
core -current_waitpoint_id
idx:lane:main:suspended -<E>
core blocking_reason=waiting_for_worker
core eligibility_state=eligible_now
core first_uncounted=1
core last_mutation_at=t
core last_transition_at=t
core lifecycle_phase=runnable
core public_state=waiting
core signal_count=1
core wake=signals)"
          "\x1f"
          "t\x1f" +
          S1 +
          "\x1f"
          R"(
idx:lane:main:eligible <E>=t
signal:)" +
          signal_id(1) + R"( accepted_at=t
signal:)" +
          signal_id(1) + R"( counted_for=)" + S1 + R"(
signal:)" +
          signal_id(1) + R"( created_at=t
signal:)" +
          signal_id(1) + R"( matched_waitpoint_id=)" + W1 + R"(
signal:)" +
          signal_id(1) + R"( observed_effect=resume_condition_satisfied
signal:)" +
          signal_id(1) + R"( payload_encoding=json
signal:)" +
          signal_id(1) + R"( signal_category=event
signal:)" +
          signal_id(1) + R"( signal_id=)" + signal_id(1) + R"(
signal:)" +
          signal_id(1) + R"( signal_name=a
signal:)" +
          signal_id(1) + R"( source_identity=ann
signal:)" +
          signal_id(1) + R"( source_type=user
signal:)" +
          signal_id(1) + R"( target_execution_id=<E>
signal:)" +
          signal_id(1) + R"( target_scope=waitpoint
signal:)" +
          signal_id(1) + R"( target_waitpoint_id=)" + W1 + R"(
signal:)" +
          signal_id(1) + R"(:payload =hello
signals )" +
          signal_id(1) + R"(=t
suspension:current close_reason=resumed
suspension:current closed_at=t
suspension:current last_signal_at=t
suspension:current satisfied_at=t
wp:)" + W1 +
          R"( close_reason=resumed
wp:)" + W1 +
          R"( closed_at=t
wp:)" + W1 +
          R"( last_signal_at=t
wp:)" + W1 +
          R"( matched_signal_count=1
wp:)" + W1 +
          R"( satisfied_at=t
wp:)" + W1 +
          R"( signal_count=1
wp:)" + W1 +
          R"( state=closed
wp:)" + W1 +
          R"(:condition closed=1
wp:)" + W1 +
          R"(:condition closed_at=t
wp:)" + W1 +
          R"(:condition closed_reason=satisfied
wp:)" + W1 +
          R"(:condition matcher:0:satisfied=1
wp:)" + W1 +
          R"(:condition matcher:0:signal_id=)" + signal_id(1) + R"(
wp:)" + W1 +
          R"(:condition satisfied_count=1
wp:)" + W1 +
          R"(:signals 1=signal_id )" + signal_id(1) +
          R"( signal_name a signal_category event source_type user source_identity ann matched 1 accepted_at t
)");
}

struct Corner {
  Texts names;
  std::string mode, minimum;
  Texts signals, effects;
};

TEST_F(DeliverSignal, PlainConditionsTakeOneSignalPerName) {
  const std::string resume = "resume_condition_satisfied", appended = "appended_to_waitpoint";
  const std::vector<Corner> corners{
      {{}, "any", "1", {"x"}, {resume}},
      {{"a", "b"}, "any", "2", {"b", "b", "a"}, {appended, "no_op", resume}},
      {{"a", "a"}, "all", "1", {"a", "a"}, {appended, resume}},
      {{"", "b"}, "all", "1", {"zzz", "b"}, {appended, resume}},
      {{"a"}, "any", "0", {"z", "a"}, {"no_op", resume}},
      {{"a", "b"}, "any", "1", {"c", "b"}, {"no_op", resume}},
      {{"a", "b", "c"}, "count", "2", {"a", "c"}, {appended, resume}}};
  for (const auto& corner : corners) {
    suspend_with(condition(corner.names, corner.mode, corner.minimum));
    Texts effects;
    for (std::size_t i = 0; i < corner.signals.size(); ++i)
      effects.push_back(send(static_cast<int>(i) + 1, corner.signals[i]));
    EXPECT_EQ(effects, corner.effects);
    EXPECT_EQ(core("public_state"), "waiting");
  }
}

// Weakness of the original: anybody with the token could resume it under a magic name.
TEST_F(DeliverSignal, OperatorOnlyIsResumedByNoSignal) {
  suspend_with(condition({"__operator_only__"}, "all"));
  EXPECT_EQ(send(1, "__operator_only__"), "no_op");
  EXPECT_EQ(core("public_state"), "suspended");
  EXPECT_EQ(run(resume()), "1 OK waiting");
  activate();
  run(suspend(condition({"__timeout_only__"}, "all")).with(11, far_future));
  EXPECT_EQ(send(1, "__timeout_only__"), "no_op");
  suspend_with(composite(R"({"kind":"NeverBySignal","path":""})"));
  EXPECT_EQ(send(1, "x"), "signal_ignored_not_in_condition");
}

TEST_F(DeliverSignal, TokenIsCheckedFirst) {
  expect_refused(deliver(1, "a"), "0 execution_not_found");
  suspend_with(condition({"a"}));
  auto call = signed_(deliver(1, "a"));
  expect_refused(call.with(3, W2), "0 invalid_token");
  EXPECT_EQ(run(call.with(18, "")), "0 missing_token");
  EXPECT_EQ(run(call.with(18, "rubbish")), "0 invalid_token");
  EXPECT_EQ(run(call.with(18, "k1:" + std::string(40, '0'))), "0 invalid_token");
  EXPECT_EQ(run(call.with(18, "k9:" + std::string(40, '0'))), "0 invalid_token");
  EXPECT_NE(core("last_hmac_validation_failed_at"), "");
  call.keys.resize(13);
  EXPECT_EQ(run(call), "0 invalid_keys_missing_hmac");
  EXPECT_EQ(core("public_state"), "suspended");
}

// The critical weakness of the original: it resumed the other execution, and left its own suspended for ever.
TEST_F(DeliverSignal, TokenOfOneExecutionNeverResumesAnother) {
  suspend_with(condition({"a"}));
  const auto stolen = signed_(deliver(1, "a"));
  run(create().of(other_E));
  run(issue_claim_grant().of(other_E));
  run(claim().of(other_E));
  EXPECT_TRUE(run(suspend(condition({"a"})).of(other_E).with(7, W2)).starts_with("1 OK"));
  expect_refused(stolen.of(other_E), "0 invalid_token");
  EXPECT_EQ(core("public_state", other_E), "suspended");
  EXPECT_EQ(run(stolen), "1 OK " + signal_id(1) + " resume_condition_satisfied");
}

// ---- Early and late ---------------------------------------------------------------------------------

TEST_F(DeliverSignal, ToAPendingWaitpointUsesTheBuffer) {
  activate();
  run(create_pending());
  expect_refused(signed_(deliver(1, "a")), "0 waitpoint_pending_use_buffer_script");
}

TEST_F(DeliverSignal, ToAPendingWaitpointWhileSuspendedOnAnother) {
  activate();
  run(create_pending(W2, "k2"));
  run(suspend());
  expect_refused(signed_(deliver(1, "a", W2)), "0 waitpoint_not_found");
}

TEST_F(DeliverSignal, AfterItWasResumed) {
  suspend_with(any_signal);
  send(1, "a");
  EXPECT_EQ(send(2, "a"), "0 target_not_signalable");
  claim_again(2);
  EXPECT_EQ(send(3, "a"), "0 target_not_signalable");
  run(suspend(any_signal, 2).with(7, W2));
  EXPECT_EQ(send(4, "a"), "0 waitpoint_closed");
  EXPECT_EQ(core("public_state"), "suspended");
}

// Weakness of the original: the old token resumed the new suspension.
TEST_F(DeliverSignal, AfterAnOperatorResumedIt) {
  suspend_with(any_signal);
  run(resume());
  claim_again(2);
  run(suspend(any_signal, 2).with(7, W2));
  EXPECT_EQ(send(1, "a"), "0 waitpoint_closed");
  EXPECT_EQ(core("public_state"), "suspended");
}

TEST_F(DeliverSignal, AfterTheEnd) {
  suspend_with(any_signal);
  run(cancel());
  expect_refused(signed_(deliver(1, "a")), "0 target_not_signalable");
}

// ---- Limits and repetitions -------------------------------------------------------------------------

TEST_F(DeliverSignal, IdempotencyKeyMakesItSafeToRepeat) {
  suspend_with(condition({"a", "b"}, "all"));
  const auto first = signed_(deliver(1, "a").with(10, "key"));
  const auto again = signed_(deliver(2, "a").with(10, "key"));
  EXPECT_EQ(run(first), "1 OK " + signal_id(1) + " appended_to_waitpoint");
  expect_refused(again, "1 DUPLICATE " + signal_id(1));
  EXPECT_NE(store()["ff:sigdedup:" + tag + ":" + W1 + ":key"]["(expires)"], "");
  EXPECT_EQ(run(again.with(14, "0")), "1 OK " + signal_id(2) + " no_op");
}

TEST_F(DeliverSignal, RepeatedWithItsIdItCountsOnce) {
  suspend_with(condition({"a", "a"}, "all"));
  EXPECT_EQ(send(1, "a"), "appended_to_waitpoint");
  expect_refused(signed_(deliver(1, "a")), "1 OK " + signal_id(1) + " appended_to_waitpoint");
}

TEST_F(DeliverSignal, LimitIsThatOfThePolicyOrOfTheCall) {
  suspend_with(condition({"z"}));
  EXPECT_EQ(run(signed_(deliver(1, "a").with(17, "1"))), "1 OK " + signal_id(1) + " no_op");
  expect_refused(signed_(deliver(2, "a").with(17, "1")), "0 signal_limit_exceeded");
  EXPECT_EQ(run(signed_(deliver(2, "a").with(17, "0"))), "1 OK " + signal_id(2) + " no_op");
  // Weakness of the original: the policy's limit was not read.
  bring_to("none");
  run(create().with(7, R"({"max_signals_per_execution":1})"));
  run(issue_claim_grant());
  run(claim());
  install_ring();
  run(suspend(condition({"z"})));
  EXPECT_EQ(send(1, "a"), "no_op");
  EXPECT_EQ(send(2, "a"), "0 signal_limit_exceeded");
}

// Weakness of the original: it was not limited, and bytes that are no UTF-8 were changed by its clients.
TEST_F(DeliverSignal, PayloadIsUntouchedAndLimited) {
  suspend_with(any_signal);
  expect_refused(signed_(deliver(1, "a").with(8, std::string(256 * 1024 + 1, 'x'))),
                 "0 payload_too_large 262144");
  const std::string bytes("\0\xff\r\n", 4);
  run(signed_(deliver(1, "a").with(8, bytes)));
  EXPECT_EQ(*command({"GET", "ff:signal:" + tag + ":" + signal_id(1) + ":payload"}).as_text(),
            bytes);
}

// Weakness of the original: some of these failed after the signal had counted.
TEST_F(DeliverSignal, ArgumentsAreCheckedBeforeTheFirstWrite) {
  suspend_with(any_signal);
  const auto call = signed_(deliver(1, "a"));
  for (const auto& [position, name] :
       std::map<std::size_t, std::string>{{13, "created_at"},
                                          {14, "dedup_ttl_ms"},
                                          {15, "resume_delay_ms"},
                                          {16, "signal_maxlen"},
                                          {17, "max_signals_per_execution"}})
    expect_refused(call.with(position, "x"),
                   "0 invalid_input " + name + " must be a number, got: x");
  expect_refused(call.with(1, ""), "0 invalid_input signal_id must not be empty");
  EXPECT_EQ(run(call.with(13, "").with(14, "").with(15, "").with(16, "").with(17, "")),
            "1 OK " + signal_id(1) + " resume_condition_satisfied");
}

TEST_F(DeliverSignal, LaterProgramsFollowTheFeedOfThePartition) {
  suspend_with(any_signal);
  auto call = signed_(deliver(1, "a"));
  call.keys.push_back("ff:part:" + tag + ":signal_delivery");
  run(call);
  EXPECT_TRUE(store()["ff:part:" + tag + ":signal_delivery"]["1"].starts_with(
      "signal_id " + signal_id(1) + " execution_id <E> waitpoint_id " + W1 +
      " source_identity ann effect resume_condition_satisfied delivered_at_ms "));
}

// ---- Composite conditions ---------------------------------------------------------------------------

std::string single(const std::string& key, const std::string& name) {
  return R"({"kind":"Single","waitpoint_key":")" + key +
         R"(","matcher":{"kind":"ByName","name":")" + name + "\"}}";
}
std::string all_of(const std::string& members) {
  return R"({"kind":"AllOf","members":[)" + members + "]}";
}
std::string count(int n, const std::string& kind, const std::string& key) {
  return R"({"kind":"Count","n":)" + std::to_string(n) + R"(,"count_kind":")" + kind +
         R"(","matcher":null,"waitpoints":[")" + key + "\"]}";
}

using Composite = Suspensions;

TEST_F(Composite, SaysWhyASignalDidNotCount) {
  activate();
  run(suspend_later(composite(all_of(single("k1", "a") + "," + single("k1", "b"))), {W2, "k2"}));
  EXPECT_EQ(send(1, "x", W2), "signal_ignored_not_in_condition");
  EXPECT_EQ(send(2, "x"), "signal_ignored_matcher_failed");
  EXPECT_EQ(send(3, "a"), "appended_to_waitpoint");
  EXPECT_EQ(send(4, "a"), "appended_to_waitpoint_duplicate");
  EXPECT_EQ(send(5, "b"), "resume_condition_satisfied");
  EXPECT_EQ(of_suspension("closer_signal_id"), signal_id(5));
  const auto all = of_suspension("all_satisfier_signals");
  EXPECT_NE(all.find(signal_id(3)), std::string::npos);
  EXPECT_EQ(all.find(signal_id(4)), std::string::npos);
  EXPECT_FALSE(store().contains("suspension:current:satisfied_set:signals"));
}

// Weakness of the original: it resumed after two signals at the first waitpoint.
TEST_F(Composite, CountsBelongToTheirNode) {
  activate();
  run(suspend_later(composite(all_of(count(2, "DistinctSignals", "k1") + "," +
                                     count(2, "DistinctSignals", "k2"))),
                    {W2, "k2"}));
  EXPECT_EQ(send(1, "x"), "appended_to_waitpoint");
  EXPECT_EQ(send(2, "x"), "appended_to_waitpoint");
  EXPECT_EQ(core("public_state"), "suspended");
  EXPECT_EQ(send(3, "x", W2), "appended_to_waitpoint");
  EXPECT_EQ(send(4, "x", W2), "resume_condition_satisfied");
}

// Weakness of the original: these could never become true.
TEST_F(Composite, MayBeNested) {
  for (const auto& tree : {all_of(all_of(count(1, "DistinctWaitpoints", "k1"))),
                           all_of(all_of(all_of(single("k1", "x"))))}) {
    suspend_with(composite(tree));
    EXPECT_EQ(send(1, "x"), "resume_condition_satisfied");
  }
}

TEST_F(Composite, CountsSources) {
  suspend_with(composite(count(2, "DistinctSources", "k1")));
  EXPECT_EQ(send(1, "x"), "appended_to_waitpoint");
  EXPECT_EQ(send(2, "x"), "appended_to_waitpoint_duplicate");
  EXPECT_EQ(run(signed_(deliver(3, "x").with(7, "bob"))),
            "1 OK " + signal_id(3) + " resume_condition_satisfied");
}

// Weakness of the original: the first waitpoint and its condition stayed open.
TEST_F(Composite, AllWaitpointsAreClosedWithTheSuspension) {
  activate();
  run(suspend_later(composite(single("k2", "a")), {W2, "k2"}));
  EXPECT_EQ(send(1, "a", W2), "resume_condition_satisfied");
  for (const auto& waitpoint : {W1, W2}) {
    EXPECT_EQ(of_waitpoint("state", waitpoint), "closed");
    EXPECT_EQ(of_condition("closed", waitpoint), "1");
  }
}

// ---- Buffering ----------------------------------------------------------------------------------------

using BufferSignal = Suspensions;

TEST_F(BufferSignal, KeepsItForTheSuspension) {
  activate();
  run(create_pending());
  EXPECT_EQ(run(signed_(buffer(1, "a"))),
            "1 OK " + signal_id(1) + " buffered_for_pending_waitpoint");
  EXPECT_EQ(core("signal_count"), "1");
  EXPECT_EQ(core("public_state"), "active");
}

TEST_F(BufferSignal, IsCheckedAsADeliveredOne) {
  expect_refused(buffer(1, "a"), "0 execution_not_found");
  activate();
  // Weakness of the original: `waitpoint_not_found` told who asked that there was none.
  expect_refused(buffer(1, "a"), "0 invalid_token");
  run(create_pending());
  EXPECT_EQ(run(buffer(1, "a")), "0 missing_token");
  EXPECT_EQ(run(buffer(1, "a").with(18, "k1:" + std::string(40, '0'))), "0 invalid_token");
  EXPECT_EQ(run(signed_(buffer(1, "a").with(17, "1"))),
            "1 OK " + signal_id(1) + " buffered_for_pending_waitpoint");
  expect_refused(signed_(buffer(2, "a").with(17, "1")), "0 signal_limit_exceeded");
  EXPECT_EQ(run(signed_(buffer(3, "a").with(10, "key"))),
            "1 OK " + signal_id(3) + " buffered_for_pending_waitpoint");
  expect_refused(signed_(buffer(4, "a").with(10, "key")), "1 DUPLICATE " + signal_id(3));
  run(close_waitpoint());
  expect_refused(signed_(buffer(5, "a")), "0 waitpoint_closed");
}

// Weakness of the original: it was kept and never looked at again.
TEST_F(BufferSignal, ToAnActiveWaitpointCounts) {
  suspend_with(condition({"a"}));
  EXPECT_EQ(run(signed_(buffer(1, "a"))), "1 OK " + signal_id(1) + " resume_condition_satisfied");
  EXPECT_EQ(core("public_state"), "waiting");
}

// Weakness of the original: the only client sends these three empty, and always failed.
TEST_F(BufferSignal, EmptyNumbersTakeTheirDefaults) {
  activate();
  run(create_pending());
  EXPECT_EQ(run(signed_(buffer(1, "a").with(14, "").with(16, "").with(17, ""))),
            "1 OK " + signal_id(1) + " buffered_for_pending_waitpoint");
}

TEST_F(BufferSignal, EndedExecutionTakesNoMore) {
  activate();
  run(create_pending());
  run(complete());
  expect_refused(signed_(buffer(1, "a")), "0 target_not_signalable");
}

}  // namespace
}  // namespace ff::test
