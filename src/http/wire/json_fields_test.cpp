#include "http/wire/json_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {
namespace {

using ::testing::HasSubstr;

constexpr const char* id_text = "{fp:7}:01920000-0000-7000-8000-000000000001";
constexpr const char* uuid_text = "01920000-0000-7000-8000-000000000002";

template <class Op>
Result<Op> parse(std::string_view text) {
  return from_fields<Op>(
      RequestFields{.url = {}, .body = json::parse(text).as_object(), .text = std::string(text)});
}

// "code field: message"
template <class Op>
std::string refusal(std::string_view text) {
  const auto parsed = parse<Op>(text);
  if (parsed) return "accepted";
  return fmt::format("{} {}: {}", parsed.error().name(), parsed.error().details.at(0).value,
                     parsed.error().message);
}

TEST(JsonFields, AbsentFieldsKeepTheirDefaults) {
  const auto submit = parse<Submit>(R"({"kind":"greet"})");
  ASSERT_TRUE(submit);
  EXPECT_EQ(submit->lane, default_lane());
  EXPECT_EQ(submit->ns, default_namespace());
  EXPECT_EQ(submit->priority, 0);
  EXPECT_EQ(submit->id, std::nullopt);
}

TEST(JsonFields, WrittenFieldsCanBeReadBack) {
  const Submit submit{.id = *ExecutionId::parse(id_text),
                      .ns = *Namespace::parse("tenant"),
                      .lane = *LaneId::parse("mail"),
                      .kind = *Kind::parse("send"),
                      .priority = 9,
                      .payload = "\xff\x00"};
  const auto back = parse<Submit>(json::serialize(to_fields(submit)));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->id, submit.id);
  EXPECT_EQ(back->ns, submit.ns);
  EXPECT_EQ(back->lane, submit.lane);
  EXPECT_EQ(back->priority, submit.priority);
  EXPECT_EQ(back->payload, submit.payload);
}

TEST(JsonFields, BytesAreTextWhenTheyCanBe) {
  EXPECT_EQ(to_fields(Submit{.kind = {}, .payload = "text"}).at("payload"), "text");
  EXPECT_EQ(to_fields(Submit{.kind = {}, .payload = "\xff"}).at("payload_base64"), "/w==");
  EXPECT_EQ(to_fields(Submit{.kind = {}, .payload = "line\nline\n"}).at("payload"), "line\nline\n");
  EXPECT_TRUE(to_fields(Submit{.kind = {}, .payload = "\x01line"}).contains("payload_base64"))
      << "shorter than its escapes";
  EXPECT_EQ(parse<Submit>(R"({"kind":"k","payload_base64":"/w=="})")->payload, "\xff");
}

TEST(JsonFields, AWrongFieldIsNamed) {
  EXPECT_EQ(refusal<Submit>("{}"), "invalid_input kind: kind is missing");
  EXPECT_EQ(refusal<Submit>(R"({"kind":5})"),
            "invalid_input kind: kind must be text, got a whole number");
  EXPECT_EQ(refusal<Submit>(R"({"kind":""})"), "invalid_input kind: kind must not be empty");
  EXPECT_EQ(refusal<Submit>(R"({"kind":"k","priority":"5"})"),
            "invalid_input priority: priority must be a whole number, got text");
  EXPECT_EQ(refusal<Submit>(R"({"kind":"k","priority":1.5})"),
            "invalid_input priority: priority must be a whole number, got a fraction");
  EXPECT_EQ(refusal<Submit>(R"({"kind":"k","priority":3000000000})"),
            "invalid_input priority: priority must be at most 2147483647");
  EXPECT_THAT(refusal<Progress>(R"({"percent":-1})"), HasSubstr("percent must be at least 0"));
  EXPECT_THAT(refusal<Submit>(R"({"kind":"k","id":"42"})"), HasSubstr("is not an execution id"));
  EXPECT_EQ(refusal<Submit>(R"({"kind":"k","payload":"a","payload_base64":"YQ=="})"),
            "invalid_input payload: give either payload or payload_base64, not both");
  EXPECT_THAT(refusal<Submit>(R"({"kind":"k","payload_base64":"?"})"),
              HasSubstr("payload_base64 must be base64"));
  EXPECT_EQ(refusal<Submit>(R"({"kind":"k","priorty":5})"),
            "unknown_field priorty: there is no field 'priorty' here; check its spelling");
}

TEST(JsonFields, AFenceIsAllOrNothing) {
  const auto with = [](std::string fields) {
    return refusal<Complete>(fmt::format(R"({{"id":"{}"{}}})", id_text, fields));
  };
  EXPECT_THAT(with(""), HasSubstr("fence_required"));
  EXPECT_THAT(with(R"(,"lease_epoch":1)"), HasSubstr("partial_fence_triple"));
  const auto whole =
      fmt::format(R"(,"lease_id":"{0}","lease_epoch":1,"attempt_id":"{0}")", uuid_text);
  EXPECT_EQ(with(whole), "accepted");
  EXPECT_THAT(
      with(fmt::format(R"(,"lease_id":"{0}","lease_epoch":-1,"attempt_id":"{0}")", uuid_text)),
      HasSubstr("invalid_input lease_epoch"));
}

TEST(JsonFields, ListsAreReadElementByElement) {
  EXPECT_EQ(parse<Claim>(R"({"worker":"w","lanes":["a","b"]})")->lanes.size(), 2u);
  EXPECT_THAT(refusal<Claim>(R"({"worker":"w","lanes":["a",5]})"),
              HasSubstr("invalid_input lanes"));
  EXPECT_THAT(refusal<Claim>(R"({"worker":"w","lanes":"a"})"), HasSubstr("must be a list"));
  EXPECT_EQ(parse<Claim>(R"({"worker":"w","kinds":["a","b"]})")->kinds.size(), 2u);
  EXPECT_TRUE(parse<Claim>(R"({"worker":"w"})")->kinds.empty());
  EXPECT_THAT(refusal<Claim>(R"({"worker":"w","kinds":[""]})"), HasSubstr("kinds"));
}

TEST(JsonFields, InAUrlNumbersAreText) {
  const auto read = [](std::string_view wait) {
    return from_fields<GetResult>(
        RequestFields{.url = {{"id", id_text}, {"wait_ms", wait}}, .body = {}});
  };
  EXPECT_EQ(read("250")->wait, Millis{250});
  for (const char* wrong : {"", "x", "1x", " 1", "1.5", "99999999999999999999"})
    EXPECT_FALSE(read(wrong)) << wrong;
}

TEST(JsonFields, AFieldMayComeFromUrlAndBodyIfTheyAgree) {
  const auto read = [](const char* in_url, const char* in_body) {
    return from_fields<Submit>(
        RequestFields{.url = {{"kind", in_url}}, .body = {{"kind", in_body}}});
  };
  EXPECT_TRUE(read("a", "a"));
  EXPECT_EQ(read("a", "b").error().code, Errc::invalid_input);
}

TEST(JsonFields, AClientIgnoresWhatItDoesNotKnow) {
  const auto reply =
      from_reply<EndReply>(json::parse(R"({"state":"completed","new":1})").as_object());
  EXPECT_EQ(reply->state, ExecutionState::completed);
}

// ---- Structs inside structs ----------------------------------------------------------------------

std::string policy_refusal(std::string_view policy) {
  return refusal<Submit>(fmt::format(R"({{"kind":"k","policy":{}}})", policy));
}

TEST(JsonFields, APolicyIsWrittenInItsGroupsAndReadBack) {
  const Policy policy{.retry = RetryPolicy{.max_retries = 7, .backoff = FixedBackoff{Millis{5}}},
                      .attempt_timeout = Millis{60},
                      .max_reclaim_count = 3,
                      .required_capabilities = *CapabilitySet::parse({"gpu"}),
                      .retention = Millis{9}};
  const auto written = to_fields(Submit{.kind = *Kind::parse("k"), .policy = policy});
  const auto& fields = written.at("policy").as_object();
  EXPECT_EQ(fields.at("timeout_policy"), json::parse(R"({"attempt_timeout_ms":60})"));
  EXPECT_EQ(fields.at("routing_requirements"), json::parse(R"({"required_capabilities":["gpu"]})"));
  EXPECT_FALSE(fields.contains("attempt_timeout_ms"));
  EXPECT_EQ(parse<Submit>(json::serialize(written))->policy, policy);
}

TEST(JsonFields, AGroupThatIsAbsentOrEmptyLeavesItsFieldsAsTheyAre) {
  EXPECT_EQ(parse<Submit>(R"({"kind":"k","policy":{}})")->policy, Policy{});
  EXPECT_EQ(parse<Submit>(R"({"kind":"k","policy":{"timeout_policy":{}}})")->policy, Policy{});
  EXPECT_EQ(policy_refusal(R"({"timeout_policy":5})"),
            "invalid_input policy.timeout_policy: timeout_policy must be an object, got a whole "
            "number");
}

TEST(JsonFields, AWrongNestedFieldIsNamedWithItsPath) {
  EXPECT_EQ(policy_refusal("[]"), "invalid_input policy: policy must be an object, got a list");
  EXPECT_EQ(policy_refusal(R"({"max_replay_count":true})"),
            "invalid_input policy.max_replay_count: max_replay_count must be a whole number, got "
            "true or false");
  EXPECT_EQ(policy_refusal(R"({"retry_policy":{"max_retries":"3"}})"),
            "invalid_input policy.retry_policy.max_retries: max_retries must be a whole number, "
            "got text");
  EXPECT_THAT(policy_refusal(R"({"routing_requirements":{"required_capabilities":["a b"]}})"),
              HasSubstr("invalid_capabilities "
                        "policy.routing_requirements.required_capabilities"));
  EXPECT_THAT(refusal<SubmitMany>(R"({"executions":[{"kind":"k"},{"kind":5}]})"),
              HasSubstr("invalid_input executions[1].kind: executions[1]: kind must be text"));
}

TEST(JsonFields, AWrongElementIsNamedWithItsPosition) {
  const auto batch_refusal = [](std::string_view second) {
    return refusal<SubmitMany>(fmt::format(R"({{"executions":[{{"kind":"k"}},{}]}})", second));
  };
  EXPECT_EQ(batch_refusal("{}"),
            "invalid_input executions[1].kind: executions[1]: kind is missing");
  EXPECT_EQ(batch_refusal("5"),
            "invalid_input executions[1]: executions[1] must be an object, got a whole number");
  EXPECT_EQ(batch_refusal(R"({"kind":"k","colour":1})"),
            "unknown_field executions[1].colour: executions[1]: there is no field 'colour' here; "
            "check its spelling");
  EXPECT_EQ(batch_refusal(R"({"kind":"k","policy":{"retry_policy":{"max_retries":"3"}}})"),
            "invalid_input executions[1].policy.retry_policy.max_retries: executions[1]: "
            "max_retries must be a whole number, got text");
  EXPECT_EQ(refusal<CompleteMany>(R"({"executions":[{}]})"),
            "invalid_input executions[0].id: executions[0]: id is missing");
  EXPECT_EQ(refusal<Claim>(R"({"worker":"w","lanes":["a",5]})"),
            "invalid_input lanes[1]: lanes[1] must be text, got a whole number");
}

TEST(JsonFields, AnUnknownFieldInsideIsRefusedByItsPath) {
  EXPECT_EQ(
      policy_refusal(R"({"retry":{}})"),
      "unknown_field policy.retry: there is no field 'policy.retry' here; check its spelling");
  EXPECT_THAT(policy_refusal(R"({"timeout_policy":{"max_reclaim_count":1}})"),
              HasSubstr("unknown_field policy.timeout_policy.max_reclaim_count"));
  EXPECT_THAT(policy_refusal(R"({"suspension_policy":{}})"),
              HasSubstr("unknown_field policy.suspension_policy"));
  EXPECT_THAT(policy_refusal(R"({"retry_policy":{"backoff":{"type":"fixed","delay_ms":1,"x":2}}})"),
              HasSubstr("unknown_field policy.retry_policy.backoff.x"));
}

TEST(JsonFields, DetailsOfWhatIsWrongInsideArePassedOn) {
  const auto parsed = parse<Claim>(R"({"worker":"w","capabilities":["a b"]})");
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().details,
              ::testing::ElementsAre(Error::Detail{"field", "capabilities"},
                                     Error::Detail{"what", "control_or_whitespace"}));
}

TEST(JsonFields, RequiredAndOfferedCapabilitiesFollowOneRule) {
  for (const char* token : {"a b", "a,b", "", R"(\u00a0)", R"(\u0085)", R"(\u3000)", R"(\u0007)"}) {
    EXPECT_THAT(refusal<Claim>(fmt::format(R"({{"worker":"w","capabilities":["{}"]}})", token)),
                HasSubstr("invalid_capabilities"))
        << token;
    EXPECT_THAT(policy_refusal(fmt::format(
                    R"({{"routing_requirements":{{"required_capabilities":["{}"]}}}})", token)),
                HasSubstr("invalid_capabilities"))
        << token;
  }
}

TEST(JsonFields, ABackoffIsReadByItsType) {
  const auto read = [](std::string_view backoff) {
    const auto submit = parse<Submit>(
        fmt::format(R"({{"kind":"k","policy":{{"retry_policy":{{"backoff":{}}}}}}})", backoff));
    return submit->policy.retry->backoff;
  };
  EXPECT_EQ(read(R"({"type":"fixed","delay_ms":5})"), Backoff{FixedBackoff{Millis{5}}});
  EXPECT_EQ(read(R"({"type":"exponential"})"), Backoff{ExponentialBackoff{}});
  EXPECT_EQ(read(R"({"type":"exponential","multiplier":3,"jitter":true})"),
            (Backoff{ExponentialBackoff{.multiplier = 3.0, .jitter = true}}));
  EXPECT_EQ(to_fields(RetryPolicy{.backoff = FixedBackoff{Millis{5}}}).at("backoff"),
            json::parse(R"({"type":"fixed","delay_ms":5})"));
}

TEST(JsonFields, ABackoffOfAnUnknownTypeIsRefused) {
  const auto refused = [](std::string_view backoff) {
    return policy_refusal(fmt::format(R"({{"retry_policy":{{"backoff":{}}}}})", backoff));
  };
  EXPECT_EQ(refused(R"({"type":"linear"})"),
            "invalid_input policy.retry_policy.backoff.type: type must be one of exponential, "
            "fixed, got 'linear'");
  for (const char* wrong : {"{}", "5", R"("fixed")"})
    EXPECT_THAT(refused(wrong), HasSubstr("backoff must be an object with a type")) << wrong;
  EXPECT_THAT(refused(R"({"type":"fixed"})"),
              HasSubstr("policy.retry_policy.backoff.delay_ms: delay_ms is missing"));
  EXPECT_THAT(refused(R"({"type":"fixed","delay_ms":1.5})"), HasSubstr("must be a whole number"));
}

TEST(JsonFields, TagsAreAnObjectOfTexts) {
  EXPECT_EQ(parse<Submit>(R"({"kind":"k","tags":{"a":"1"}})")->tags, (Tags{{"a", "1"}}));
  for (const char* wrong : {R"({"a":{}})", R"({"a":null})", R"({"a":9007199254740993})", "[]"})
    EXPECT_THAT(refusal<Submit>(fmt::format(R"({{"kind":"k","tags":{}}})", wrong)),
                HasSubstr("invalid_input tags: tags must be an object"))
        << wrong;
}

// ---- Optional fields -----------------------------------------------------------------------------

TEST(JsonFields, BytesThatMayBeAbsentAreNotEmptyThen) {
  const auto result = [](std::string_view field) {
    return parse<Complete>(
               fmt::format(
                   R"({{"id":"{0}","lease_id":"{1}","lease_epoch":1,"attempt_id":"{1}"{2}}})",
                   id_text, uuid_text, field))
        ->result;
  };
  EXPECT_EQ(result(""), std::nullopt);
  EXPECT_EQ(result(R"(,"result":"")"), "");
  EXPECT_EQ(result(R"(,"result_base64":"")"), "");
  EXPECT_EQ(result(R"(,"result_base64":"AP8=")"), std::string("\0\xff", 2));
  EXPECT_FALSE(to_fields(Complete{.id = {}, .fence = {}}).contains("result"));
  EXPECT_EQ(to_fields(Complete{.id = {}, .fence = {}, .result = ""}).at("result"), "");
}

TEST(JsonFields, AFenceThatMayBeAbsentIsStillAllOrNothing) {
  const auto with = [](std::string fields) {
    return fmt::format(R"({{"id":"{}"{}}})", id_text, fields);
  };
  EXPECT_EQ(parse<Cancel>(with(""))->fence, std::nullopt);
  EXPECT_THAT(refusal<Cancel>(with(R"(,"lease_epoch":1)")), HasSubstr("partial_fence_triple"));
  const auto whole =
      with(fmt::format(R"(,"lease_id":"{0}","lease_epoch":1,"attempt_id":"{0}")", uuid_text));
  EXPECT_EQ(parse<Cancel>(whole)->fence->lease_epoch, LeaseEpoch{1});
  EXPECT_FALSE(to_fields(Cancel{.id = {}}).contains("lease_id"));
}

TEST(JsonFields, NullIsAbsent) {
  for (const char* field :
       {"delay_until_ms", "id", "policy", "tags", "lane", "payload", "payload_base64"})
    EXPECT_EQ(refusal<Submit>(fmt::format(R"({{"kind":"k","{}":null}})", field)), "accepted")
        << field;
  EXPECT_EQ(policy_refusal(R"({"timeout_policy":null,"retry_policy":{"backoff":null}})"),
            "accepted");
  EXPECT_EQ(refusal<Submit>(R"({"kind":null})"), "invalid_input kind: kind is missing");
  EXPECT_THAT(refusal<Submit>(R"({"kind":"k","lanes":null})"), HasSubstr("unknown_field"));
  EXPECT_EQ(parse<Submit>(R"({"kind":"k","payload":null,"payload_base64":"YQ=="})")->payload, "a");
}

TEST(JsonFields, APayloadMayBeAnyJsonValue) {
  const auto payload = [](std::string_view fields) {
    const auto submit = parse<Submit>(fmt::format(R"({{"kind":"k",{}}})", fields));
    return submit ? fmt::format("{} {}", submit->payload,
                                submit->content_type ? submit->content_type->str() : "untyped")
                  : submit.error().message;
  };
  EXPECT_EQ(payload(R"("payload":{"b":1,"a":[true,null,1.5,"x\n"]})"),
            R"({"b":1,"a":[true,null,1.5,"x\n"]} application/json)");
  EXPECT_EQ(payload(R"("payload":5)"), "5 application/json");
  EXPECT_EQ(payload(R"("payload":[],"content_type":"application/ld+json")"),
            "[] application/ld+json");
  EXPECT_EQ(payload(R"("payload":"{}")"), "{} untyped");
  EXPECT_EQ(payload(R"("payload":{},"payload_base64":"YQ==")"),
            "give either payload or payload_base64, not both");
}

TEST(JsonFields, AJsonPayloadIsKeptByteForByte) {
  for (const char* value :
       {R"({"a": 1.0, "n": 12345678901234567890123})", "1E400", "0.10000000000000000001", "-0",
        R"([ "\u00e9\/", {"]}": "\\\"" } ])", "true"}) {
    const auto one = parse<Submit>(
        fmt::format(R"({{ "tags" : {{"a":"}}"}}, "kind":"k" ,"payload" : {} }})", value));
    ASSERT_TRUE(one) << value;
    EXPECT_EQ(one->payload, value);
    const auto many = parse<SubmitMany>(fmt::format(
        R"({{"executions":[{{"kind":"k","payload":7}},{{"kind":"k","payload":{} }}]}})", value));
    ASSERT_TRUE(many) << value;
    EXPECT_EQ(many->executions[0].payload, "7");
    EXPECT_EQ(many->executions[1].payload, value);
  }
}

TEST(JsonFields, TimesMayBeText) {
  const auto until = [](std::string_view fields) {
    const auto submit = parse<Submit>(fmt::format(R"({{"kind":"k",{}}})", fields));
    return submit ? std::to_string(submit->delay_until->time_since_epoch().count())
                  : submit.error().message;
  };
  EXPECT_EQ(until(R"("delay_until_ms":1801384200000)"), "1801384200000");
  EXPECT_EQ(until(R"("delay_until_ms":"2027-01-31T08:30:00Z")"), "1801384200000");
  EXPECT_EQ(until(R"("delay_until_ms":"tomorrow")"),
            "delay_until_ms must be milliseconds since the Unix epoch or a time like "
            "2027-01-31T08:30:00Z, got 'tomorrow'");
  EXPECT_EQ(until(R"("delay_until_ms":true)"),
            "delay_until_ms must be a whole number, got true or false");
  const auto in_url = [](const char* time) {
    return from_fields<ListExecutions>({.url = {{"created_from_ms", time}}, .body = {}})
        ->created_from->time_since_epoch()
        .count();
  };
  EXPECT_EQ(in_url("5"), 5);
  EXPECT_EQ(in_url("1970-01-01T00:00:01Z"), 1000);
}

TEST(JsonFields, ADelayCountsFromNow) {
  const auto before = SystemClock().now();
  const auto submit = parse<Submit>(R"({"kind":"k","delay_ms":60000})");
  EXPECT_GE(*submit->delay_until, before + Millis{60'000});
  EXPECT_LE(*submit->delay_until, SystemClock().now() + Millis{60'000});
  EXPECT_THAT(refusal<Submit>(R"({"kind":"k","delay_ms":-1})"), HasSubstr("must be from 0 to"));
  EXPECT_THAT(refusal<Submit>(R"({"kind":"k","delay_ms":1,"delay_until_ms":1})"),
              HasSubstr("give either delay_until_ms or delay_ms, not both"));
  const auto delay = [](const char* fields) {
    return refusal<Delay>(
        fmt::format(R"({{"id":"{0}","lease_id":"{1}","lease_epoch":1,"attempt_id":"{1}"{2}}})",
                    id_text, uuid_text, fields));
  };
  EXPECT_EQ(delay(R"(,"delay_ms":5)"), "accepted");
  EXPECT_THAT(delay(""), HasSubstr("give until_ms or delay_ms"));
}

TEST(JsonFields, AnExecutionIdNeedsNoBraces) {
  const auto read = [](const char* id) {
    const auto in_url = from_fields<GetExecution>({.url = {{"id", id}}, .body = {}});
    const auto in_body = from_fields<GetExecution>({.url = {}, .body = {{"id", id}}});
    EXPECT_EQ(in_url.has_value(), in_body.has_value()) << id;
    return in_url ? in_url->id.str() : std::string(in_url.error().name());
  };
  EXPECT_EQ(read("7-01920000-0000-7000-8000-000000000001"), id_text);
  EXPECT_EQ(read(id_text), id_text);
  for (const char* wrong :
       {"01920000-0000-7000-8000-000000000001", "-01920000-0000-7000-8000-000000000001",
        "07-01920000-0000-7000-8000-000000000001", "7-01920000-0000-7000-8000-00000000000x"})
    EXPECT_EQ(read(wrong), "invalid_input") << wrong;
}

// ---- Names, lists, results -----------------------------------------------------------------------

TEST(JsonFields, NamesOfAnEnumAreListedWhenOneIsWrong) {
  EXPECT_EQ(to_fields(EndReply{ExecutionState::waiting_children}).at("state"), "waiting_children");
  const auto wrong = from_fields<ListExecutions>({.url = {{"state", "done"}}, .body = {}});
  EXPECT_EQ(wrong.error().message,
            "state must be one of waiting, delayed, waiting_children, active, completed, failed, "
            "cancelled, expired, rate_limited, suspended, skipped, got 'done'");
}

TEST(JsonFields, AListInAUrlHasCommas) {
  const auto types = [](std::string_view text) {
    return from_fields<ReadEvents>({.url = {{"types", text}}, .body = {}});
  };
  EXPECT_EQ(types("")->types, std::vector<EventType>{});
  EXPECT_EQ(types("claimed")->types, std::vector{EventType::claimed});
  EXPECT_EQ(types("claimed,failed")->types, (std::vector{EventType::claimed, EventType::failed}));
  for (const char* wrong : {"claimed,,failed", ",", "claimed, failed"})
    EXPECT_EQ(types(wrong).error().details.at(0).value, "types") << wrong;
}

TEST(JsonFields, AnItemOfABatchIsAReplyOrAnError) {
  const SubmitReply good{.id = *ExecutionId::parse(id_text), .state = ExecutionState::waiting};
  const Error bad{Errc::invalid_input, "priority is wrong", {{"field", "priority"}}};
  const SubmitManyReply reply{{good, std::unexpected(bad)}};
  const auto written = to_fields(reply);
  EXPECT_EQ(written.at("results").at(1).at("error").at("code"), "invalid_input");
  const auto back = from_reply<SubmitManyReply>(written);
  EXPECT_EQ(back->results, reply.results);
  EXPECT_FALSE(from_reply<SubmitManyReply>({{"results", {{{"error", "no"}}}}}));
  EXPECT_FALSE(from_reply<SubmitManyReply>({{"results", {5}}}));
}

TEST(JsonFields, EveryReplyComesBackAsItWas) {
  const ExecutionInfo info{.id = *ExecutionId::parse(id_text),
                           .ns = default_namespace(),
                           .lane = default_lane(),
                           .kind = *Kind::parse("k"),
                           .state = ExecutionState::active,
                           .state_vector = {.ownership_state = OwnershipState::leased},
                           .tags = {{"a", "\"1\""}},
                           .policy = {.retry = RetryPolicy{}},
                           .created_at = TimePoint{Millis{1}},
                           .attempts = 4'000'000'000,
                           .lease_epoch = LeaseEpoch{~0ull},
                           .progress = Progress{.percent = 3, .at = TimePoint{Millis{2}}},
                           .failure_reason = "no paper"};
  const auto text = json::serialize(to_fields(info));
  EXPECT_EQ(from_reply<ExecutionInfo>(json::parse(text).as_object()), info);
}

}  // namespace
}  // namespace ff::http
