#include <gtest/gtest.h>

#include "http/wire/wire.hpp"

namespace ff::http {
namespace {

const auto some_execution_id =
    must(ExecutionId::parse("{fp:7}:01920000-0000-7000-8000-000000000001"));
const auto some_waitpoint_id = must(WaitpointId::parse("01920000-0000-7000-8000-000000000002"));
const auto some_signal_id = must(SignalId::parse("01920000-0000-7000-8000-000000000003"));
const auto some_suspension_id = must(SuspensionId::parse("01920000-0000-7000-8000-000000000004"));
const TimePoint some_time{Millis{1'000}};

template <class T>
T same_after_the_way(const T& value) {
  return must(from_reply<T>(to_fields(value)));
}

template <class Op>
Result<Op> read_body(std::string_view text) {
  return from_fields<Op>(
      RequestFields{.url = {}, .body = json::parse(text).as_object(), .text = std::string(text)});
}

// ---- Conditions ---------------------------------------------------------------------------------

constexpr std::string_view fence_fields =
    R"("lease_id":"01920000-0000-7000-8000-000000000005","lease_epoch":1,)"
    R"("attempt_id":"01920000-0000-7000-8000-000000000006")";

Result<Suspend> read_suspend(std::string_view condition) {
  return read_body<Suspend>(fmt::format(R"({{"id":"{}",{},"condition":{}}})",
                                        some_execution_id.str(), fence_fields, condition));
}

// The condition as it is written again; or "code at field: message".
std::string read_condition_text(std::string_view condition) {
  const auto read = read_suspend(condition);
  if (read) return json::serialize(to_fields(*read).at("condition"));
  const auto& error = read.error();
  const auto field = std::ranges::find(error.details, "field", &Error::Detail::name);
  return fmt::format("{} at {}: {}", error.name(), field->value, error.message);
}

TEST(WireConditions, AreReadAndWrittenAlike) {
  for (const std::string_view text :
       {R"({})", R"({"signal":"approved"})", R"({"signal":"approved","waitpoint":"deploy"})",
        R"({"waitpoint":"deploy"})", R"({"all":[{"signal":"a"},{"signal":"b"}]})",
        R"({"any":[{"all":[{},"operator"]},"timeout"]})", R"("operator")", R"("timeout")",
        R"({"count":2,"of":"sources","signal":"approve","waitpoints":["deploy"]})",
        R"({"count":3,"of":"signals","waitpoints":[]})"})
    EXPECT_EQ(read_condition_text(text), text);
}

TEST(WireConditions, AStarIsAnySignal) {
  EXPECT_EQ(read_condition_text(R"({"signal":"*"})"), "{}");
  EXPECT_EQ(read_condition_text(R"({"signal":"*","waitpoint":"w"})"), R"({"waitpoint":"w"})");
  EXPECT_EQ(read_condition_text(R"({"count":1,"signal":"*"})"),
            R"({"count":1,"of":"signals","waitpoints":[]})");
}

TEST(WireConditions, AreRefusedWithThePathOfTheWrongPart) {
  EXPECT_EQ(read_condition_text("5"),
            "invalid_input at condition: condition must be an object, operator or timeout, got a "
            "whole number");
  EXPECT_EQ(read_condition_text(R"("sometimes")"),
            "invalid_input at condition: condition must be operator or timeout, or an object, got "
            "'sometimes'");
  EXPECT_EQ(read_condition_text(R"({"all":[{},{"any":[{"signal":7}]}]})"),
            "invalid_input at condition.all[1].any[0].signal: signal must be text, got a whole "
            "number");
  EXPECT_EQ(read_condition_text(R"({"any":[{},7]})"),
            "invalid_input at condition.any[1]: any[1] must be an object, operator or timeout, got "
            "a whole number");
  EXPECT_EQ(read_condition_text(R"({"all":{}})"),
            "invalid_input at condition.all: all must be a list of conditions, got an object");
  EXPECT_EQ(read_condition_text(R"({"all":[{"signals":"a"}]})"),
            "unknown_field at condition.all[0].signals: there is no field "
            "'condition.all[0].signals' here; check its spelling");
}

TEST(WireConditions, HaveOneKind) {
  EXPECT_EQ(read_condition_text(R"({"all":[],"any":[]})"),
            "invalid_input at condition: condition must have only one of all, any and count");
  EXPECT_EQ(read_condition_text(R"({"any":[{}],"signal":"a"})"),
            "unknown_field at condition.signal: there is no field 'condition.signal' beside any; "
            "put it into the list");
  EXPECT_EQ(read_condition_text(R"({"count":2,"waitpoint":"a"})"),
            "unknown_field at condition.waitpoint: there is no field 'condition.waitpoint' here; "
            "check its spelling");
}

TEST(WireConditions, ParsingStopsAtTheNestingLimit) {
  std::string deep = "{}";
  for (int i = 0; i < 12; ++i) deep = R"({"all":[)" + deep + "]}";
  const auto refused = read_condition_text(deep);
  EXPECT_TRUE(refused.starts_with("invalid_condition at condition.all[0].all[0]")) << refused;
}

// ---- Requests and replies -----------------------------------------------------------------------

const WaitpointInfo open_waitpoint{
    .id = some_waitpoint_id,
    .key = must(WaitpointKey::parse("deploy")),
    .state = WaitpointState::active,
    .created_at = some_time,
    .expires_at = some_time,
    .signals = 2,
    .counted = 1,
    .question = Question{.title = "Deploy?",
                         .text = "Now.",
                         .choices = {{must(SignalName::parse("approved")), "Approve"}},
                         .approvers = {"ada", "grace"}}};

TEST(WireSuspensions, RepliesAreTheSameAfterTheWay) {
  const IssuedWaitpoint issued{.info = open_waitpoint,
                               .tokens = {{.approver = "ada", .token = "t"}}};
  const SuspendReply suspended{.state = ExecutionState::suspended,
                               .suspension_id = some_suspension_id,
                               .timeout_at = some_time,
                               .waitpoints = {issued}};
  EXPECT_EQ(same_after_the_way(suspended), suspended);
  const SuspensionReply reply{
      .suspension = SuspensionInfo{.id = some_suspension_id,
                                   .reason = SuspendReason::waiting_for_approval,
                                   .since = some_time,
                                   .attempt_index = 1,
                                   .condition = {AllOf{{{OneSignal{}}, {OperatorOnly{}}}}},
                                   .progress = "1 of 2",
                                   .on_timeout = TimeoutAction::escalate,
                                   .escalated = true,
                                   .waitpoints = {open_waitpoint},
                                   .state = std::string("\0\xff", 2)},
      .waitpoints = {open_waitpoint}};
  EXPECT_EQ(same_after_the_way(reply), reply);
  const SignalPage page{.signals = {{.index = 3,
                                     .id = some_signal_id,
                                     .name = must(SignalName::parse("go")),
                                     .waitpoint = some_waitpoint_id,
                                     .source = {"user", "ada"},
                                     .category = "c",
                                     .correlation_id = "x",
                                     .accepted_at = some_time,
                                     .effect = SignalEffect::appended_to_waitpoint,
                                     .counted_for = some_suspension_id,
                                     .payload = "\xff"}},
                        .next = 4};
  EXPECT_EQ(same_after_the_way(page), page);
  const WaitpointView view{.state = WaitpointState::pending,
                           .question = open_waitpoint.question,
                           .approver = "ada",
                           .answer = must(SignalName::parse("approved")),
                           .answers = 1,
                           .progress = "1 of 2"};
  EXPECT_EQ(same_after_the_way(view), view);
}

TEST(WireSuspensions, PayloadsAreJsonTextOrBytes) {
  const auto send = [](std::string_view payload) {
    return must(read_body<SendSignal>(
        fmt::format(R"({{"id":"{}","name":"go",{}}})", some_execution_id.str(), payload)));
  };
  EXPECT_EQ(send(R"("payload":"text")").payload, "text");
  EXPECT_EQ(send(R"("payload_base64":"/wA=")").payload, std::string("\xff\0", 2));
  const auto typed = send(R"("payload":{"ok":true})");
  EXPECT_EQ(typed.payload, R"({"ok":true})");
  EXPECT_EQ(typed.content_type->str(), "application/json");
}

// Servers that do not know a field refuse it.
TEST(WireSuspensions, NothingNewIsSentWhileItHasItsUsualValue) {
  EXPECT_FALSE(to_fields(Policy{}).contains("max_signals_per_execution"));
  EXPECT_EQ(to_fields(Policy{.max_signals = 5}).at("max_signals_per_execution"), 5);
  EXPECT_EQ(must(read_body<Policy>(R"({"max_signals_per_execution":5})")).max_signals, 5u);
  EXPECT_EQ(must(read_body<Policy>("{}")).max_signals, Policy{}.max_signals);
}

// ---- The published contract ---------------------------------------------------------------------

constexpr std::string_view contract_signal = R"({
  "execution_id":"{fp:7}:01920000-0000-7000-8000-000000000001",
  "waitpoint_id":"01920000-0000-7000-8000-000000000002",
  "signal_id":"01920000-0000-7000-8000-000000000003",
  "signal_name":"approved","signal_category":"approval","source_type":"user",
  "source_identity":"ada","payload":[104,105,0,255],"payload_encoding":"json",
  "correlation_id":"c","idempotency_key":"k","target_scope":"waitpoint","created_at":1,
  "dedup_ttl_ms":5,"resume_delay_ms":0,"max_signals_per_execution":10000,"signal_maxlen":1000,
  "waitpoint_token":"k1:00","now":2})";

TEST(WireContract, ASignalIsReadUnderTheContractsNames) {
  const auto deliver = must(read_body<DeliverSignal>(contract_signal));
  EXPECT_EQ(deliver.id, some_execution_id);
  EXPECT_EQ(deliver.waitpoint, some_waitpoint_id);
  EXPECT_EQ(deliver.token, "k1:00");
  EXPECT_EQ(deliver.signal_id, some_signal_id);
  EXPECT_EQ(deliver.name.str(), "approved");
  EXPECT_EQ(deliver.source, (SignalSource{"user", "ada"}));
  EXPECT_EQ(deliver.category, "approval");
  EXPECT_EQ(deliver.payload, std::string("hi\0\xff", 4));
  EXPECT_EQ(deliver.idempotency_key->str(), "k");
  EXPECT_EQ(deliver.dedup_window, Millis{5});
}

TEST(WireContract, ThePathsExecutionIsTheBodys) {
  const RequestFields fields{
      .url = {{"execution_id", "{fp:8}:01920000-0000-7000-8000-000000000001"}},
      .body = json::parse(contract_signal).as_object()};
  const auto read = from_fields<DeliverSignal>(fields);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().details.at(0).value, "execution_id");
}

TEST(WireContract, ABytesListHoldsBytes) {
  for (const char* payload : {"[256]", "[-1]", "[\"a\"]", "{}", "5"}) {
    auto body = json::parse(contract_signal).as_object();
    body["payload"] = json::parse(payload);
    EXPECT_FALSE(from_fields<DeliverSignal>(RequestFields{.url = {}, .body = body})) << payload;
  }
}

TEST(WireContract, RepliesAreTheContractsVariants) {
  DeliveredSignal delivered{
      {.signal_id = some_signal_id, .effect = SignalEffect::resume_condition_satisfied}};
  EXPECT_EQ(
      json::serialize(to_fields(delivered)),
      R"({"Accepted":{"signal_id":"01920000-0000-7000-8000-000000000003","effect":"resume_condition_satisfied"}})");
  EXPECT_EQ(same_after_the_way(delivered), delivered);
  delivered.signal.duplicate = true;
  EXPECT_EQ(json::serialize(to_fields(delivered)),
            R"({"Duplicate":{"existing_signal_id":"01920000-0000-7000-8000-000000000003"}})");
  EXPECT_TRUE(same_after_the_way(delivered).signal.duplicate);
}

}  // namespace
}  // namespace ff::http
