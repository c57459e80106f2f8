#include <fmt/format.h>

#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

using Create = Contract;

const std::string idempotency_key = "ff:idem:" + tag + ":default:once";

Call with_policy(const std::string& json) { return create().with(7, json); }
Call requiring(const std::string& tokens) {
  return with_policy(R"({"routing_requirements":{"required_capabilities":)" + tokens + "}}");
}

TEST_F(Create, WritesTheCoreAndTheIndexes) {
  EXPECT_EQ(change(create()), R"(1 OK <E> waiting
core attempt_state=pending_first_attempt
core blocking_reason=waiting_for_worker
core created_at=t
core creator_identity=me
core current_lane=main
core eligibility_state=eligible_now
core execution_id=<E>
core execution_kind=job
core lane_id=main
core last_mutation_at=t
core last_transition_at=t
core lifecycle_phase=runnable
core namespace=default
core ownership_state=unowned
core partition_id=7
core priority=0
core public_state=waiting
core terminal_outcome=none
idx:all_executions <E>=in
idx:lane:main:eligible <E>=t
idx:ns:default:created =1 record
idx:totals main)"
                              "\x1f"
                              R"(all=1
)");
}

TEST_F(Create, KeepsWhatItIsGiven) {
  const auto call = create()
                        .key(6, idempotency_key)
                        .with(7, R"({"priority":1})")
                        .with(8, std::string("in\0\xff", 4))
                        .with(9, far_future)
                        .with(10, "60000")
                        .with(11, R"({"a":"b","n":5,"f":1.5,"t":true})")
                        .with(12, "5000000000000");
  ASSERT_EQ(run(call), "1 OK <E> delayed");
  auto stored = store();
  EXPECT_EQ(stored["payload"][""], std::string("in\0\xff", 4));
  EXPECT_EQ(stored["policy"][""], R"({"priority":1})");
  EXPECT_EQ(stored["tags"], (std::map<std::string, std::string>{
                                {"a", "b"}, {"f", "1.5"}, {"n", "5"}, {"t", "true"}}));
  EXPECT_EQ(stored["core"]["delay_until"], far_future);
  EXPECT_EQ(stored["core"]["blocking_detail"], "delayed until " + far_future);
  EXPECT_EQ(stored["core"]["blocking_reason"], "waiting_for_delay");
  EXPECT_EQ(stored["core"]["eligibility_state"], "not_eligible_until_time");
  EXPECT_EQ(stored["idx:lane:main:delayed"]["<E>"], far_future);
  EXPECT_EQ(stored["idx:execution_deadline"]["<E>"], "5000000000000");
  EXPECT_EQ(stored[idempotency_key][""], "<E>");
  EXPECT_EQ(std::stoll(stored[idempotency_key]["(expires)"]), time_in_core("created_at") + 60000);
}

// The index is the function's choice, whichever the caller passes.
TEST_F(Create, ChoosesTheIndexItself) {
  run(create().with(9, "1000").key(5, lane_key("delayed")));
  EXPECT_FALSE(store().contains("idx:lane:main:delayed"));
  EXPECT_EQ(store()["idx:lane:main:eligible"].count("<E>"), 1U);
  bring_to("none");
  run(create().with(9, far_future).key(5, lane_key("eligible")));
  EXPECT_FALSE(store().contains("idx:lane:main:eligible"));
}

TEST_F(Create, ClampsThePriority) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"0", "0"},        {"-5", "0"},     {"-0", "0"},        {"5", "5"},     {"9000", "9000"},
      {"99999", "9000"}, {"inf", "9000"}, {"9000.5", "9000"}, {"1.5", "1.5"}, {"1e3", "1000"},
      {"0x10", "16"},    {" 7 ", "7"},    {"-inf", "0"}};
  for (const auto& [given, stored] : rows) {
    bring_to("none");
    ASSERT_EQ(run(create().with(5, given)), "1 OK <E> waiting") << given;
    EXPECT_EQ(core("priority"), stored) << given;
    EXPECT_EQ(std::stod(store()["idx:lane:main:eligible"]["<E>"]),
              static_cast<double>(time_in_core("created_at")) - std::stod(stored) * 1e12)
        << given;
  }
}

TEST_F(Create, RefusesInThisOrder) {
  const std::vector<std::pair<Call, std::string>> rows{
      {create().with(5, "abc").with(7, "{"), "0 invalid_input priority must be a number, got: abc"},
      {with_policy("{").with(9, "x"), "0 invalid_policy_json malformed"},
      {with_policy(R"({"routing_requirements":5})"),
       "0 invalid_policy_json routing_requirements:not_object"},
      {with_policy(R"({"routing_requirements":null})"),
       "0 invalid_policy_json routing_requirements:not_object"},
      {requiring("5"), "0 invalid_capabilities required:not_array"},
      {requiring("null"), "0 invalid_capabilities required:not_array"},
      {requiring(R"(["a",5])"), "0 invalid_capabilities required:non_string_token"},
      {requiring(R"(["a",null])"), "0 invalid_capabilities required:non_string_token"},
      {requiring(R"([""])"), "0 invalid_capabilities required:empty_token"},
      {requiring(R"(["a,b"])"), "0 invalid_capabilities required:comma_in_token"},
      {requiring(R"(["a b"])"), "0 invalid_capabilities required:control_or_whitespace"},
      {requiring("[\"a\x7f\"]"), "0 invalid_capabilities required:control_or_whitespace"},
      {create().with(9, "x").with(12, "y"), "0 invalid_input delay_until must be a number, got: x"},
      {create().with(12, "y"), "0 invalid_input execution_deadline_at must be a number, got: y"}};
  for (const auto& [call, reply] : rows) expect_refused(call, reply);
}

TEST_F(Create, SaysDuplicateBeforeItLooksAtThePolicy) {
  bring_to("waiting");
  expect_refused(with_policy("{").with(9, "x"), "1 DUPLICATE <E>");
  expect_refused(create().with(5, "x"), "0 invalid_input priority must be a number, got: x");
}

TEST_F(Create, TakesPoliciesThatSayNothing) {
  for (const std::string json : {"", "{}", "null", "5", "\"a\"", "[]", R"({"unknown":[1]})"}) {
    bring_to("none");
    EXPECT_EQ(run(with_policy(json)), "1 OK <E> waiting") << json;
    EXPECT_EQ(store()["policy"][""], json);
  }
}

TEST_F(Create, SortsRequiredCapabilities) {
  run(requiring(R"(["gpu","cpu","gpu"])"));
  EXPECT_EQ(core("required_capabilities"), "cpu,gpu,gpu");
  bring_to("none");
  EXPECT_EQ(run(requiring(R"({"a":"b"})")), "1 OK <E> waiting");
  EXPECT_EQ(core("required_capabilities"), "");
}

TEST_F(Create, LimitsRequiredCapabilities) {
  const auto list = [](int count, std::size_t size) {
    std::string text = "[";
    for (int i = 0; i < count; ++i) text += fmt::format("{}\"{:0>{}}\"", i > 0 ? "," : "", i, size);
    return text + "]";
  };
  EXPECT_EQ(run(requiring(list(256, 15))), "1 OK <E> waiting");
  bring_to("none");
  expect_refused(requiring(list(257, 3)), "0 invalid_capabilities required:too_many_tokens");
  EXPECT_EQ(run(requiring(list(1, 4096))), "1 OK <E> waiting");
  bring_to("none");
  expect_refused(requiring(list(1, 4097)), "0 invalid_capabilities required:too_many_bytes");
}

// No worker could offer them: its side knows what Unicode calls a blank or a control character.
TEST_F(Create, RefusesUnicodeBlanksInCapabilities) {
  for (const std::string blank : {"\u0085", "\u00a0", "\u1680", "\u2000", "\u200a", "\u2028",
                                  "\u2029", "\u202f", "\u205f", "\u3000"})
    expect_refused(requiring("[\"a" + blank + "b\"]"),
                   "0 invalid_capabilities required:control_or_whitespace");
  EXPECT_EQ(run(requiring("[\"東京-gpu\"]")), "1 OK <E> waiting");
}

TEST_F(Create, TakesFromThePolicyWhatItEnforces) {
  run(with_policy(R"({"timeout_policy":{"attempt_timeout_ms":1000,"execution_deadline_ms":5000},)"
                  R"("stream_policy":{"retention_ttl_ms":9000},"dedup_window_ms":7000})")
          .key(6, idempotency_key)
          .with(10, "86400000")
          .with(12, far_future));
  const auto created_at = time_in_core("created_at");
  EXPECT_EQ(core("attempt_timeout_ms"), "1000");
  EXPECT_EQ(time_in_core("deadline"), created_at + 5000);
  EXPECT_EQ(core("retention_ms"), "9000");
  EXPECT_EQ(std::stoll(store()[idempotency_key]["(expires)"]), created_at + 7000);
}

TEST_F(Create, AttachesBudgetsAndAQuota) {
  const std::string first = "aaaaaaaa-0000-4000-8000-000000000000";
  const std::string second = "bbbbbbbb-0000-4000-8000-000000000000";
  run(with_policy(R"({"budget_ids":[")" + second + R"(",")" + first + R"("],"quota_policy_id":")" +
                  first + R"("})"));
  EXPECT_EQ(core("budget_ids"), second + "," + first);
  EXPECT_EQ(core("quota_policy_id"), first);
  bring_to("none");
  run(with_policy(R"({"budget_ids":[],"quota_policy_id":null})"));
  EXPECT_EQ(store()["core"].count("budget_ids"), 0U);
  EXPECT_EQ(store()["core"].count("quota_policy_id"), 0U);
}

TEST_F(Create, RefusesToAttachWhatIsNoBudgetOrQuota) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {R"({"budget_ids":"b1"})", "budget_ids:not_array"},
      {R"({"budget_ids":["b1"]})", "budget_ids:not_uuid"},
      {R"({"budget_ids":["AAAAAAAA-0000-4000-8000-000000000000"]})", "budget_ids:not_uuid"},
      {R"({"quota_policy_id":7})", "quota_policy_id:not_uuid"}};
  for (const auto& [json, detail] : rows)
    expect_refused(with_policy(json), "0 invalid_policy_json " + detail);
}

TEST_F(Create, NamesThePolicysMemberThatIsNoNumber) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {R"({"max_reclaim_count":null})", "max_reclaim_count:not_number"},
      {R"({"max_replay_count":"5"})", "max_replay_count:not_number"},
      {R"({"dedup_window_ms":-1})", "dedup_window_ms:out_of_range"},
      {R"({"retry_policy":5})", "retry_policy:not_object"},
      {R"({"retry_policy":{"max_retries":null}})", "retry_policy.max_retries:not_number"},
      {R"({"retry_policy":{"max_retries":"two"}})", "retry_policy.max_retries:not_number"},
      {R"({"retry_policy":{"backoff":7}})", "retry_policy.backoff:not_object"},
      {R"({"retry_policy":{"backoff":{"delay_ms":[]}}})",
       "retry_policy.backoff.delay_ms:not_number"},
      {R"({"retry_policy":{"backoff":{"multiplier":1e300}}})",
       "retry_policy.backoff.multiplier:out_of_range"},
      {R"({"timeout_policy":{"attempt_timeout_ms":true}})",
       "timeout_policy.attempt_timeout_ms:not_number"},
      {R"({"timeout_policy":{"execution_deadline_ms":NaN}})",
       "timeout_policy.execution_deadline_ms:not_number"},
      {R"({"stream_policy":{"retention_ttl_ms":null}})",
       "stream_policy.retention_ttl_ms:not_number"}};
  for (const auto& [json, detail] : rows)
    expect_refused(with_policy(json), "0 invalid_policy_json " + detail);
}

TEST_F(Create, TakesAnyNumberOfTags) {
  std::string json = "{";
  for (int i = 0; i < 5000; ++i) json += fmt::format("{}\"k{}\":\"v\"", i > 0 ? "," : "", i);
  EXPECT_EQ(run(create().with(11, json + "}")), "1 OK <E> waiting");
  EXPECT_EQ(store()["tags"].size(), 5000U);
}

TEST_F(Create, RefusesTagsThatAreNoTexts) {
  expect_refused(create().with(11, R"({"a":null})"), "0 invalid_input tag must be a text: a");
  expect_refused(create().with(11, R"({"a":{"b":1}})"), "0 invalid_input tag must be a text: a");
  expect_refused(create().with(11, R"({"a":12345678901234567890})"),
                 "0 invalid_input tag must be a text: a");
  expect_refused(create().with(11, "{"), "0 invalid_input tags_json must be a JSON object");
  EXPECT_EQ(run(create().with(11, R"({"a":9007199254740991})")), "1 OK <E> waiting");
  EXPECT_EQ(store()["tags"]["a"], "9007199254740991");
}

TEST_F(Create, RemembersAKeyWhateverItsText) {
  const auto key = "ff:idem:" + tag + ":default:ff:noop:";
  run(create().key(6, key).with(10, "60000"));
  EXPECT_EQ(run(create().of(other_E).key(6, key)), "1 DUPLICATE <E>");
}

TEST_F(Create, RemembersNothingWithoutATime) {
  for (const std::string ttl : {"", "0", "-5"}) {
    bring_to("none");
    run(create().key(6, idempotency_key).with(10, ttl));
    EXPECT_FALSE(store().contains(idempotency_key)) << ttl;
  }
}

// `a` + `b:c` and `a:b` + `c` make one key.
TEST_F(Create, DoesNotShowOneNamespaceToAnother) {
  const auto key = "ff:idem:" + tag + ":a:b:c";
  run(create().with(2, "a").key(6, key).with(10, "60000"));
  expect_refused(create().of(other_E).with(2, "a:b").key(6, key).with(10, "60000"),
                 "0 invalid_input the idempotency key is one of another namespace");
}

}  // namespace
}  // namespace ff::test
