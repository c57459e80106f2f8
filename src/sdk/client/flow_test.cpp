#include <flowfabric/flow.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ff {
namespace {

// "deploy(ship) after build, unit:failed=page; 1 needed, cancel, optional"
std::string shown(const FlowNode& node) {
  auto text = fmt::format("{}({})", node.name.str(), node.kind.str());
  for (const auto& each : node.after) {
    text += text.find(" after ") == text.npos ? " after " : ", ";
    text += each.node.str();
    if (each.on != DependsOn::succeeded) text += fmt::format(":{}", to_string(each.on));
    if (each.input) text += "=" + each.input->str();
  }
  if (node.needed) text += fmt::format("; {} needed", *node.needed);
  if (node.rest == RestAction::cancel) text += ", cancel";
  if (node.optional) text += ", optional";
  return text;
}

std::string shown(const Flow& flow) {
  const auto made = flow.to_operation();
  if (!made) return made.error().message;
  std::string text;
  for (const auto& node : made->nodes) text += shown(node) + "\n";
  return text;
}

TEST(Flow, NodesHaveTheirDependencies) {
  Flow flow("release");
  flow.add("build", "compile");
  flow.add("unit", "test").after("build").optional();
  flow.add("deploy", "ship").after({"build", "unit"}, "page");
  flow.add("rollback", "undo").on_failure_of("deploy");
  flow.add("report", "mail").always_after("deploy").always_after("rollback", "undone");
  flow.add("race", "pick").after_any({"unit", "deploy"}).cancel_rest();
  EXPECT_EQ(shown(flow),
            "build(compile)\n"
            "unit(test) after build, optional\n"
            "deploy(ship) after build=page, unit=page\n"
            "rollback(undo) after deploy:failed\n"
            "report(mail) after deploy:finished, rollback:finished=undone\n"
            "race(pick) after unit, deploy; 1 needed, cancel\n");
}

TEST(Flow, HasTheOptionsOfAFlow) {
  const TimePoint then{Millis{5}};
  Flow flow("release");
  flow.add("a", "k", "bytes").lane("ci").priority(3).payload("{}", "application/json");
  flow.ns("tenant").idempotency_key("key").result("a").stop_on_failure().deadline(then);
  flow.tag("app.a", "1").retention(Millis{7});
  const auto made = must(flow.to_operation());
  EXPECT_EQ(made.kind.str(), "release");
  EXPECT_EQ(made.ns.str(), "tenant");
  EXPECT_EQ(made.idempotency_key->str(), "key");
  EXPECT_EQ(made.result->str(), "a");
  EXPECT_EQ(made.on_failure, FlowFailure::stop);
  EXPECT_EQ(made.deadline, then);
  EXPECT_EQ(made.tags, (Tags{{"app.a", "1"}}));
  EXPECT_EQ(made.retention, Millis{7});
  EXPECT_EQ(made.nodes.at(0).lane.str(), "ci");
  EXPECT_EQ(made.nodes.at(0).priority, 3);
  EXPECT_EQ(made.nodes.at(0).payload, "{}");
  EXPECT_EQ(made.nodes.at(0).content_type->str(), "application/json");
}

TEST(Flow, ErrorsNameTheNode) {
  EXPECT_EQ(shown(Flow()), "a flow has at least one node");
  Flow unknown;
  unknown.add("deploy", "k").after("bild");
  EXPECT_EQ(shown(unknown), "node 'deploy' depends on node 'bild', and the flow has no such node");
  Flow twice;
  twice.add("a", "k");
  twice.add("a", "k");
  EXPECT_EQ(shown(twice), "two nodes are called 'a'");
  Flow badly_named;
  badly_named.add("a b", "k");
  EXPECT_TRUE(shown(badly_named).starts_with("node 'a b': ")) << shown(badly_named);
  Flow no_result;
  no_result.add("a", "k");
  no_result.result("b");
  EXPECT_EQ(shown(no_result), "the result is that of node 'b', and the flow has no such node");
}

}  // namespace
}  // namespace ff
