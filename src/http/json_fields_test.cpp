#include "http/json_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/wire.hpp"

namespace ff::http {
namespace {

using ::testing::HasSubstr;

constexpr const char* id_text = "{fp:7}:01920000-0000-7000-8000-000000000001";
constexpr const char* uuid_text = "01920000-0000-7000-8000-000000000002";

template <class Op>
Result<Op> parse(std::string_view text) {
  return from_fields<Op>(RequestFields{.url = {}, .body = json::parse(text).as_object()});
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

TEST(JsonFields, WhatIsWrittenCanBeRead) {
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
  EXPECT_TRUE(to_fields(Submit{.kind = {}, .payload = "line\nline"}).contains("payload_base64"))
      << "shorter than its escapes";
  EXPECT_EQ(parse<Submit>(R"({"kind":"k","payload_base64":"/w=="})")->payload, "\xff");
}

TEST(JsonFields, WhatIsWrongIsNamed) {
  EXPECT_EQ(refusal<Submit>("{}"), "invalid_input kind: kind is missing");
  EXPECT_EQ(refusal<Submit>(R"({"kind":5})"),
            "invalid_input kind: kind must be text, got a whole number");
  EXPECT_EQ(refusal<Submit>(R"({"kind":""})"), "invalid_input kind: kind must not be empty");
  EXPECT_EQ(refusal<Submit>(R"({"kind":"k","priority":"5"})"),
            "invalid_input priority: priority must be a whole number, got text");
  EXPECT_EQ(refusal<Submit>(R"({"kind":"k","priority":1.5})"),
            "invalid_input priority: priority must be a whole number, got a fraction");
  EXPECT_EQ(refusal<Submit>(R"({"kind":"k","priority":3000000000})"),
            "invalid_input priority: priority must not be that large or small a number");
  EXPECT_EQ(refusal<Submit>(R"({"kind":"k","payload":null})"),
            "invalid_input payload: payload must be text, got null");
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
      from_fields<EndReply>(json::parse(R"({"state":"completed","new":1})").as_object());
  EXPECT_EQ(reply->state, ExecutionState::completed);
}

}  // namespace
}  // namespace ff::http
