#include <gtest/gtest.h>

#include "http/wire/wire.hpp"

namespace ff::http {
namespace {

const auto flow_id = must(FlowId::parse("01920000-0000-7000-8000-000000000001"));
const auto flow_budget = must(BudgetId::parse("01920000-0000-7000-8000-000000000002"));
const ExecutionId node_id(7, flow_id.uuid());
const TimePoint flow_time{Millis{1'000}};

NodeName node(std::string name) { return must(NodeName::parse(std::move(name))); }
Kind kind(std::string name) { return must(Kind::parse(std::move(name))); }

template <class T>
T flow_after_the_way(const T& value) {
  return must(from_reply<T>(to_fields(value)));
}

template <class Op>
Result<Op> parse_flow(std::string text) {
  auto body = json::parse(text).as_object();
  return from_fields<Op>(
      RequestFields{.url = {}, .body = std::move(body), .text = std::move(text)});
}

// "PATH: MESSAGE"
template <class Op>
std::string refusal_of_flow(std::string text) {
  const auto parsed = parse_flow<Op>(std::move(text));
  if (parsed) return "accepted";
  for (const auto& detail : parsed.error().details)
    if (detail.name == "field") return detail.value + ": " + parsed.error().message;
  return parsed.error().message;
}

FlowInfo full_flow() {
  return {.id = flow_id,
          .ns = must(Namespace::parse("tenant")),
          .kind = kind("release"),
          .state = FlowState::failed,
          .counts =
              {.nodes = 6, .completed = 1, .failed = 1, .cancelled = 1, .expired = 1, .skipped = 1},
          .edges = 5,
          .revision = 4,
          .generation = 3,
          .on_failure = FlowFailure::stop,
          .tags = {{"a.b", "c"}},
          .idempotency_key = must(IdempotencyKey::parse("key")),
          .created_at = flow_time,
          .deadline = flow_time,
          .ended_at = flow_time,
          .retention = Millis{7},
          .reason = "test failed",
          .result = node_id,
          .parent = node_id};
}

TEST(WireFlows, FlowIsTheSameAfterTheWay) {
  EXPECT_EQ(flow_after_the_way(full_flow()), full_flow());
  const FlowInfo bare{
      .id = flow_id, .ns = default_namespace(), .kind = default_flow_kind(), .created_at = flow_time};
  EXPECT_EQ(flow_after_the_way(bare), bare);
}

TEST(WireFlows, RepliesHaveTheFlowsFieldsBesideTheirOwn) {
  const FlowReply submitted{.flow = full_flow(), .duplicate = true};
  EXPECT_EQ(flow_after_the_way(submitted), submitted);
  EXPECT_EQ(to_fields(submitted).at("id").as_string(), flow_id.str());
  const CancelFlowReply cancelled{
      .flow = full_flow(), .policy = CancelPolicy::cancel_pending, .scheduled = 9};
  EXPECT_EQ(flow_after_the_way(cancelled), cancelled);
  const RedriveReply redriven{
      .flow = full_flow(), .nodes = {node("build"), node("test")}, .count = 2};
  EXPECT_EQ(flow_after_the_way(redriven), redriven);
}

TEST(WireFlows, NodeIsTheSameAfterTheWay) {
  const FlowNodeInfo full{.id = node_id,
                          .name = node("deploy"),
                          .kind = kind("ship"),
                          .lane = default_lane(),
                          .state = ExecutionState::skipped,
                          .after = {{node_id, node("build"), DependsOn::finished, node("page")}},
                          .needed = 1,
                          .optional = true,
                          .subflow = flow_id,
                          .attempts = 2,
                          .started_at = flow_time,
                          .ended_at = flow_time,
                          .worker = must(WorkerId::parse("w")),
                          .reason = "build failed"};
  EXPECT_EQ(flow_after_the_way(full), full);
  const FlowNodeInfo unnamed{.id = node_id, .name = {}, .kind = kind("k"), .lane = default_lane()};
  EXPECT_EQ(flow_after_the_way(unnamed), unnamed);
}

TEST(WireFlows, InputsAreTheSameAfterTheWay) {
  const NodeInput text{.name = node("page"),
                       .node = node("fetch"),
                       .state = ExecutionState::completed,
                       .result = "{\"a\": 1}",
                       .content_type = must(ContentType::parse("application/json"))};
  EXPECT_EQ(flow_after_the_way(text), text);
  NodeInput binary = text;
  binary.result = std::string("\xff\x00\x01", 3);
  EXPECT_EQ(flow_after_the_way(binary), binary);
  EXPECT_TRUE(to_fields(binary).contains("result_base64"));
}

TEST(WireFlows, AnInputWithoutAResultHasNone) {
  const NodeInput failed{
      .name = node("page"), .node = node("fetch"), .state = ExecutionState::failed};
  EXPECT_EQ(flow_after_the_way(failed), failed);
  EXPECT_FALSE(to_fields(failed).contains("result"));
  NodeInput empty = failed;
  empty.state = ExecutionState::completed;
  EXPECT_TRUE(to_fields(empty).contains("result"));
}

TEST(WireFlows, SubmitIsTheSameAfterTheWay) {
  const SubmitFlow flow{
      .id = flow_id,
      .ns = must(Namespace::parse("tenant")),
      .kind = kind("release"),
      .nodes = {{.name = node("build"),
                 .lane = must(LaneId::parse("ci")),
                 .kind = kind("compile"),
                 .priority = 7,
                 .payload = "src",
                 .content_type = must(ContentType::parse("text/plain")),
                 .delay_until = flow_time,
                 .deadline = flow_time,
                 .tags = {{"a.b", "c"}},
                 .policy = {.max_reclaim_count = 3}},
                {.name = node("test"),
                 .kind = kind("check"),
                 .after = {{node("build")}, {node("x"), DependsOn::failed, node("page")}},
                 .needed = 1,
                 .rest = RestAction::cancel,
                 .optional = true,
                 .map = MapOver{.input = node("x"), .max_parallel = 2, .tolerated_failures = 1}},
                {.name = node("region"),
                 .kind = kind("region"),
                 .flow = Subflow{.nodes = {{.name = node("inner"), .kind = kind("k")}},
                                 .on_failure = FlowFailure::stop,
                                 .result = node("inner")}}},
      .on_failure = FlowFailure::stop,
      .result = node("test"),
      .deadline = flow_time,
      .tags = {{"a.b", "c"}},
      .budgets = {flow_budget},
      .retention = Millis{5},
      .building = true,
      .dry_run = true};
  const auto fields = to_fields(flow);
  EXPECT_EQ(to_fields(must(from_fields<SubmitFlow>(RequestFields{.url = {}, .body = fields}))),
            fields);
  EXPECT_EQ(json::serialize(fields.at("nodes").at(1).at("after")),
            R"(["build",{"node":"x","on":"failed","input":"page"}])");
}

TEST(WireFlows, ANodeThatIsAFlowNeedsNoKind) {
  const auto flow = must(parse_flow<SubmitFlow>(
      R"({"nodes":[{"name":"eu","flow":{"nodes":[{"name":"x","kind":"k"}],"result":"x"}}]})"));
  EXPECT_EQ(flow.nodes.at(0).kind, default_flow_kind());
  EXPECT_EQ(flow.nodes.at(0).flow->nodes.at(0).kind, kind("k"));
  const auto nameless = parse_flow<SubmitFlow>(R"({"nodes":[{"name":"eu","flow":{"nodes":[{"kind":"k"}]}}]})");
  ASSERT_FALSE(nameless);
  EXPECT_EQ(nameless.error().details.at(0).value, "nodes[0].flow.nodes[0].name");
}

TEST(WireFlows, DependencyIsANameOrAnObject) {
  const auto flow = must(parse_flow<SubmitFlow>(
      R"({"nodes":[{"name":"a","kind":"k","after":["b",{"node":"c","on":"finished","input":"page"}]}]})"));
  const auto& after = flow.nodes.at(0).after;
  ASSERT_EQ(after.size(), 2u);
  EXPECT_EQ(after[0], (Dependency{.node = node("b")}));
  EXPECT_EQ(after[1], (Dependency{node("c"), DependsOn::finished, node("page")}));
}

TEST(WireFlows, NeededIsANumberOrAWord) {
  const auto needed = [](const std::string& value) {
    return must(parse_flow<SubmitFlow>(R"({"nodes":[{"name":"a","kind":"k","needed":)" + value + "}]}"))
        .nodes.at(0)
        .needed;
  };
  EXPECT_EQ(needed("3"), 3u);
  EXPECT_EQ(needed("\"any\""), 1u);
  EXPECT_EQ(needed("\"all\""), std::nullopt);
}

TEST(WireFlows, PayloadMayBeAnyJsonValue) {
  const auto flow = must(parse_flow<SubmitFlow>(R"({"nodes":[{"name":"a","kind":"k","payload":"text"},)"
                                           R"({"name":"b","kind":"k","payload":{"n": [1.50]}},)"
                                           R"({"name":"c","kind":"k","payload_base64":"/w=="}]})"));
  EXPECT_EQ(flow.nodes.at(0).payload, "text");
  EXPECT_EQ(flow.nodes.at(0).content_type, std::nullopt);
  EXPECT_EQ(flow.nodes.at(1).payload, R"({"n": [1.50]})");
  EXPECT_EQ(flow.nodes.at(1).content_type->str(), "application/json");
  EXPECT_EQ(flow.nodes.at(2).payload, "\xff");
}

TEST(WireFlows, WrongFieldsAreRefusedWithTheirPath) {
  EXPECT_EQ(refusal_of_flow<SubmitFlow>(R"({"steps":[]})"),
            "steps: there is no field 'steps' here; check its spelling");
  EXPECT_EQ(refusal_of_flow<SubmitFlow>(R"({"nodes":[{"name":"a"}]})"),
            "nodes[0].kind: nodes[0]: kind is missing");
  EXPECT_EQ(refusal_of_flow<SubmitFlow>(R"({"nodes":[{"name":"a","kind":"k","before":["b"]}]})"),
            "nodes[0].before: nodes[0]: there is no field 'before' here; check its spelling");
  EXPECT_EQ(refusal_of_flow<SubmitFlow>(R"({"nodes":[{"name":"a","kind":"k","after":["b",3]}]})"),
            "nodes[0].after[1]: nodes[0]: after[1] must be the name of a node or an object, got a "
            "whole number");
  EXPECT_EQ(refusal_of_flow<SubmitFlow>(R"({"nodes":[{"name":"a","kind":"k","needed":"most"}]})"),
            "nodes[0].needed: nodes[0]: needed must be a whole number, all or any");
  EXPECT_EQ(refusal_of_flow<SubmitFlow>(
                R"({"nodes":[{"name":"a","kind":"k","after":[{"node":"b","on":"success"}]}]})"),
            "nodes[0].after[0].on: nodes[0]: after[0]: on must be one of succeeded, failed, "
            "finished, got "
            "'success'");
  EXPECT_EQ(refusal_of_flow<SubmitFlow>(R"({"on_failure":"panic"})"),
            "on_failure: on_failure must be one of finish, stop, got 'panic'");
}

TEST(WireFlows, UnknownPoliciesAreRefused) {
  EXPECT_EQ(refusal_of_flow<CancelFlow>(
                R"({"id":"01920000-0000-7000-8000-000000000001","policy":"cancel_some"})"),
            "policy: policy must be one of cancel_all, cancel_pending, flow_only, got "
            "'cancel_some'");
}

TEST(WireFlows, EventOfAFlowHasNoLane) {
  const Event event{.type = EventType::flow_completed,
                    .at = flow_time,
                    .id = node_id,
                    .ns = default_namespace(),
                    .lane = {},
                    .kind = default_flow_kind(),
                    .state = ExecutionState::completed,
                    .flow = flow_id};
  EXPECT_EQ(flow_after_the_way(event), event);
  EXPECT_FALSE(to_fields(event).contains("lane"));
}

TEST(WireFlows, ClaimNamesFlowAndNode) {
  ClaimedExecution claimed{.id = node_id,
                           .ns = default_namespace(),
                           .lane = default_lane(),
                           .kind = kind("k"),
                           .payload = "",
                           .fence = {},
                           .lease_expires_at = flow_time};
  EXPECT_FALSE(to_fields(claimed).contains("flow"));
  claimed.flow = flow_id;
  claimed.node = node("build");
  EXPECT_EQ(flow_after_the_way(claimed), claimed);
}

}  // namespace
}  // namespace ff::http
