// Executions that are submitted into a flow, nodes that are added again, and reading a whole graph.
#include "tests/conformance/flows/flow_fixture.hpp"

namespace ff::conformance {
namespace {

class FlowSubmitConformance : public FlowConformance {
 protected:
  static Submit into(const FlowInfo& flow, const char* name, std::vector<Dependency> after = {}) {
    return {.kind = greet,
            .payload = name,
            .flow = flow.id,
            .node = node_name(name),
            .after = std::move(after)};
  }
};

// ---- Submitting into a flow ----------------------------------------------------------------------

TEST_P(FlowSubmitConformance, ASubmitBecomesANodeOfARunningFlow) {
  const auto grown = submit_flow({node("a")});
  const auto first = must(run(into(grown, "b")));
  EXPECT_FALSE(first.duplicate);
  EXPECT_EQ(first.state, ExecutionState::waiting);
  EXPECT_EQ(first.id, id_of(grown, "b"));
  EXPECT_EQ(must(run(into(grown, "c", {dependency("a"), dependency("b")}))).state,
            ExecutionState::waiting_children);
  EXPECT_EQ(states(grown), "a=waiting b=waiting c=waiting_children");
  EXPECT_EQ(flow(grown).revision, grown.revision + 2);
  EXPECT_EQ(flow(grown).edges, 2u);

  const auto info = must(run(GetExecution{first.id}));
  EXPECT_EQ(info.flow, grown.id);
  EXPECT_EQ(info.node, node_name("b"));
  complete_node(grown, "a");
  complete_node(grown, "b");
  complete_node(grown, "c");
  EXPECT_EQ(flow(grown).state, FlowState::completed);
}

TEST_P(FlowSubmitConformance, ASubmitWithTheIdOfANodeIsRefused) {
  const auto graph = submit_flow({node("a"), node("b", {dependency("a")})});
  for (const char* name : {"a", "b"}) {
    const Submit same{.id = id_of(graph, name), .kind = greet, .payload = name};
    const Submit other{.id = same.id, .kind = kind("other"), .payload = "zzz"};
    const Submit of_a_tenant{.id = same.id, .ns = ns("tenant"), .kind = greet, .payload = name};
    for (const auto& each : {same, other, of_a_tenant}) {
      EXPECT_EQ(error_of(each), Errc::duplicate_mismatch);
      const auto batch = must(run(SubmitMany{{each}}));
      ASSERT_FALSE(batch.results.at(0));
      EXPECT_EQ(batch.results.at(0).error().code, Errc::duplicate_mismatch);
    }
  }
  EXPECT_EQ(states(graph), "a=waiting b=waiting_children");
}

TEST_P(FlowSubmitConformance, ANodeAfterOneThatHasEndedStartsOrIsSkippedAtOnce) {
  const auto grown = submit_flow({node("a"), node("b"), node("c")});
  complete_node(grown, "a");
  fail_node(grown, "b");
  EXPECT_EQ(must(run(into(grown, "x", {dependency("a")}))).state, ExecutionState::waiting);
  EXPECT_EQ(must(run(into(grown, "y", {dependency("b")}))).state, ExecutionState::skipped);
}

TEST_P(FlowSubmitConformance, ASubmitIntoAFlowThatIsBuiltWaitsForItsSeal) {
  const auto built = submit_flow(SubmitFlow{.nodes = {}, .building = true});
  EXPECT_EQ(must(run(into(built, "a"))).state, ExecutionState::waiting_children);
  EXPECT_EQ(states(built), "a=waiting_children");
  must(run(SealFlow{built.id}));
  EXPECT_EQ(states(built), "a=waiting");
}

TEST_P(FlowSubmitConformance, ARepeatedSubmitIsTheSameNode) {
  const auto grown = submit_flow({node("a")});
  const auto submit = into(grown, "b", {dependency("a")});
  const auto first = must(run(Submit(submit)));
  const auto again = must(run(Submit(submit)));
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(again.state, first.state);
  EXPECT_EQ(flow(grown).counts.nodes, 2u);

  auto other = submit;
  other.kind = *Kind::parse("another");
  EXPECT_EQ(refused(other), "duplicate_mismatch kind");
  other = submit;
  other.after = {};
  EXPECT_EQ(refused(other), "duplicate_mismatch after");
  other = submit;
  other.after[0].on = DependsOn::finished;
  EXPECT_EQ(refused(other), "duplicate_mismatch after");
  other = submit;
  other.after[0].input = node_name("image");
  EXPECT_EQ(refused(other), "duplicate_mismatch after");
  other = submit;
  other.payload = "another";
  EXPECT_EQ(refused(other), "duplicate_mismatch payload");

  // Also after the end of the flow.
  complete_node(grown, "a");
  complete_node(grown, "b");
  const auto late = must(run(Submit(submit)));
  EXPECT_TRUE(late.duplicate);
  EXPECT_EQ(late.state, ExecutionState::completed);
  EXPECT_EQ(refused(into(grown, "c")), "flow_already_terminal ");
}

TEST_P(FlowSubmitConformance, WithoutANameTheKeyIsTheNode) {
  const auto grown = submit_flow({node("a")});
  Submit by_key{.idempotency_key = *IdempotencyKey::parse("order-7"), .kind = greet};
  by_key.flow = grown.id;
  const auto first = must(run(Submit(by_key)));
  EXPECT_EQ(first.id, id_of(grown, "order-7"));
  EXPECT_TRUE(must(run(Submit(by_key))).duplicate);

  // No name of a node.
  by_key.idempotency_key = *IdempotencyKey::parse("order/7:8");
  const auto second = must(run(Submit(by_key)));
  EXPECT_NE(second.id, first.id);
  EXPECT_EQ(must(run(Submit(by_key))).id, second.id);

  by_key.idempotency_key.reset();
  EXPECT_FALSE(must(run(Submit(by_key))).duplicate);
  EXPECT_FALSE(must(run(Submit(by_key))).duplicate);
  EXPECT_EQ(flow(grown).counts.nodes, 5u);
}

TEST_P(FlowSubmitConformance, AnInvalidGraphIsRefusedWithItsField) {
  const auto grown = submit_flow({node("a")});
  EXPECT_EQ(refused(into(grown, "b", {dependency("a"), dependency("nobody")})),
            "node_not_found after[1]");
  EXPECT_EQ(refused(into(grown, "b", {dependency("b")})), "self_referencing_edge after[0]");
  auto odd = into(grown, "b");
  odd.id = *ExecutionId::parse("{fp:0}:01920000-0000-7000-8000-00000000abcd");
  EXPECT_EQ(refused(odd), "invalid_input id");
  odd = into(grown, "b");
  odd.idempotency_key = *IdempotencyKey::parse("k");
  EXPECT_EQ(refused(odd), "invalid_input idempotency_key");
  odd = into(grown, "b");
  odd.flow.reset();
  EXPECT_EQ(refused(odd), "invalid_input node");
  odd = Submit{.kind = greet, .after = {dependency("a")}};
  EXPECT_EQ(refused(odd), "invalid_input after");
  odd = into(grown, "b");
  odd.flow = FlowId{*Uuid::parse("01920000-0000-7000-8000-00000000abcd")};
  EXPECT_EQ(error_of(odd), Errc::flow_not_found);
  // A flow of another namespace looks absent.
  odd = into(grown, "b");
  odd.ns = *Namespace::parse("other");
  EXPECT_EQ(error_of(odd), Errc::flow_not_found);
  EXPECT_EQ(refused(SubmitMany{.executions = {Submit{.kind = greet}, into(grown, "b")}}),
            "invalid_input executions[1].flow");
  EXPECT_EQ(flow(grown).counts.nodes, 1u);
}

// ---- Nodes that are added again ------------------------------------------------------------------

TEST_P(FlowSubmitConformance, ANodeThatIsAddedAgainKeepsItsKindAndDependencies) {
  const auto grown = submit_flow({node("a"), node("b", {dependency("a")}), node("c")});
  const auto extended = [&](std::vector<FlowNode> nodes) {
    return refused(ExtendFlow{.id = grown.id, .nodes = std::move(nodes)});
  };
  auto other = node("b", {dependency("a")});
  EXPECT_EQ(extended({node("x"), other}), "accepted");
  other.kind = *Kind::parse("another");
  EXPECT_EQ(extended({node("x"), other}), "duplicate_mismatch nodes[1].kind");
  EXPECT_EQ(extended({node("b")}), "duplicate_mismatch nodes[0].after");
  EXPECT_EQ(extended({node("b", {dependency("c")})}), "duplicate_mismatch nodes[0].after");
  EXPECT_EQ(extended({node("b", {dependency("a"), dependency("c")})}),
            "duplicate_mismatch nodes[0].after");
  EXPECT_EQ(extended({node("b", {dependency("a", DependsOn::failed)})}),
            "duplicate_mismatch nodes[0].after");
  EXPECT_EQ(states(grown), "a=waiting b=waiting_children c=waiting x=waiting");
}

TEST_P(FlowSubmitConformance, SpawnedNodesAndChildrenKeepThemAsWell) {
  const auto grown = submit_flow({node("a"), node("p")});
  auto report = complete(claim_node(grown, "a"));
  report.spawn = {node("x"), node("y", {dependency("x")})};
  must(run(std::move(report)));
  must(run(RedriveFlow{.id = grown.id, .from = node_name("a")}));
  report = complete(claim_node(grown, "a"));
  report.spawn = {node("y")};
  EXPECT_EQ(refused(Complete(report)), "duplicate_mismatch spawn[0].after");
  report.spawn = {node("x"), node("y", {dependency("x")})};
  EXPECT_EQ(refused(Complete(report)), "accepted");

  auto parent = claim_node(grown, "p");
  must(run(WaitForChildren{.id = parent.id, .fence = parent.fence, .children = {node("k")}}));
  complete_node(grown, "k");
  parent = claim_node(grown, "p");
  auto child = node("k");
  child.kind = *Kind::parse("another");
  EXPECT_EQ(refused(WaitForChildren{
                .id = parent.id, .fence = parent.fence, .children = {node("l"), child}}),
            "duplicate_mismatch children[1].kind");
}

TEST_P(FlowSubmitConformance, RefusalsOfAddedNodesNameTheirPart) {
  const auto grown = submit_flow({node("a"), node("b")});
  EXPECT_EQ(refused(ExtendFlow{.id = grown.id,
                               .nodes = {node("x"), node("y", {dependency("x"), dependency("no")})}}),
            "node_not_found nodes[1].after[1]");
  auto report = complete(claim_node(grown, "a"));
  report.spawn = {node("x"), node("y", {dependency("nobody")})};
  EXPECT_EQ(refused(Complete(report)), "node_not_found spawn[1].after[0]");
  report.spawn = {node("x"), node("b")};
  EXPECT_EQ(refused(Complete(report)), "invalid_input spawn[1].name");
  report.spawn = {node("a")};
  EXPECT_EQ(refused(Complete(report)), "invalid_input spawn[0].name");
  const WaitForChildren wait{
      .id = report.id, .fence = report.fence, .children = {node("x"), node("b")}};
  EXPECT_EQ(refused(WaitForChildren(wait)), "invalid_input children[1].name");
  EXPECT_EQ(refused(RedriveFlow{.id = grown.id, .from = node_name("nobody")}),
            "node_not_found from");
}

// ---- The graph -----------------------------------------------------------------------------------

TEST_P(FlowSubmitConformance, AFlowIsReadWithItsGraph) {
  const auto chain = submit_flow({node("a"), node("b", {dependency("a", DependsOn::finished)})});
  EXPECT_FALSE(must(run(GetFlow{.id = chain.id})).nodes);
  const auto view = must(run(GetFlow{.id = chain.id, .graph = true}));
  EXPECT_EQ(view.state, FlowState::running);
  EXPECT_EQ(view.counts.nodes, 2u);
  ASSERT_TRUE(view.nodes);
  EXPECT_EQ(*view.nodes, must(run(ListFlowNodes{.id = chain.id})).nodes);
  EXPECT_EQ(view.nodes->at(1).after.at(0).node, node_name("a"));
  EXPECT_FALSE(view.next);
}

TEST_P(FlowSubmitConformance, ALargeGraphIsReadInPages) {
  std::vector<FlowNode> first, second;
  for (int i = 0; i < 1'000; ++i) first.push_back(node(fmt::format("n{}", i).c_str()));
  second.push_back(node("last"));
  const auto built = submit_flow(SubmitFlow{.nodes = std::move(first), .building = true});
  must(run(ExtendFlow{.id = built.id, .nodes = std::move(second)}));
  auto view = must(run(GetFlow{.id = built.id, .graph = true}));
  std::size_t count = view.nodes->size();
  ASSERT_TRUE(view.next);
  while (view.next) {
    auto page = must(run(ListFlowNodes{.id = built.id, .from = *view.next}));
    count += page.nodes.size();
    view.next = page.next;
  }
  EXPECT_EQ(count, 1'001u);
}

INSTANTIATE_TEST_SUITE_P(, FlowSubmitConformance, ::testing::ValuesIn(home_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ff::conformance
