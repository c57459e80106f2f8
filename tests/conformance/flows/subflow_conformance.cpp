// Nodes that are flows of their own.
#include "tests/conformance/flows/flow_fixture.hpp"

namespace ff::conformance {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

FlowNode flow_node(const char* name, std::vector<FlowNode> nodes, std::vector<Dependency> after = {},
                   const char* result = nullptr) {
  FlowNode made{.name = node_name(name), .kind = default_flow_kind(), .after = std::move(after)};
  made.flow = Subflow{.nodes = std::move(nodes)};
  if (result) made.flow->result = node_name(result);
  return made;
}

class SubflowConformance : public FlowConformance {
 protected:
  // a → eu (x → y) → join
  SubmitFlow usual() {
    return {.nodes = {node("a"),
                      flow_node("eu", {node("x"), node("y", {dependency("x")})}, {dependency("a")},
                                "y"),
                      node("join", {dependency("eu")})}};
  }
  // The next that can be claimed, also if the engine is still about to add it.
  ClaimedExecution next_claim() {
    auto waiting = start(claim_by("w1", wake_up_max));
    return woken(waiting);
  }
  ClaimedExecution next_claim(const char* expected) {
    auto claimed = next_claim();
    EXPECT_EQ(claimed.node->str(), expected);
    return claimed;
  }
  void complete_next(const char* expected, std::string result = "out") {
    must(run(complete(next_claim(expected), std::move(result))));
  }
  void fail_next(const char* expected) {
    must(run(failure(next_claim(expected), "broke", "permanent")));
  }
  FlowId subflow_of(const FlowInfo& of, const char* name) {
    return info(id_of(of, name)).subflow.value();
  }
  FlowInfo ended(const FlowId& id) { return must(run(GetFlow{.id = id, .wait = wake_up_max})); }
  FlowInfo read(const FlowId& id) { return must(run(GetFlow{.id = id})); }
  // Carries out what changes so far have caused.
  void settle() {
    for (int i = 0; i < 3; ++i) home_->run_scanners();
  }
  std::string input(const ClaimedExecution& of, std::optional<NodeName> name = {}) {
    std::string text;
    for (const auto& each : must(run(GetInputs{.id = of.id, .name = std::move(name)})).inputs)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", each.name.str(), each.result);
    return text;
  }
  template <class Op>
  std::string field_of(Op operation) {
    const auto reply = run(std::move(operation));
    if (reply) return "it succeeded";
    for (const auto& each : reply.error().details)
      if (each.name == "field") return each.value;
    return reply.error().message;
  }
};

// ---- From start to end ---------------------------------------------------------------------------

TEST_P(SubflowConformance, ANodeThatIsAFlowEndsWithItsResult) {
  const auto outer = submit_flow(usual());
  EXPECT_EQ(states(outer), "a=waiting eu=waiting_children join=waiting_children");
  EXPECT_EQ(info(id_of(outer, "eu")).subflow, std::nullopt);
  complete_next("a");
  const auto x = next_claim("x");
  EXPECT_EQ(x.flow, subflow_of(outer, "eu"));
  EXPECT_EQ(read(*x.flow).parent, id_of(outer, "eu"));
  EXPECT_EQ(flow(outer).parent, std::nullopt);
  must(run(complete(x)));
  auto y = complete(next_claim("y"), "42");
  y.content_type = *ContentType::parse("application/json");
  must(run(std::move(y)));

  const auto join = next_claim("join");
  const auto inputs = must(run(GetInputs{.id = join.id})).inputs;
  EXPECT_EQ(inputs.at(0).result, "42");
  EXPECT_EQ(inputs.at(0).content_type, *ContentType::parse("application/json"));
  must(run(complete(join)));
  EXPECT_EQ(flow(outer).state, FlowState::completed);
  EXPECT_EQ(flow(outer).counts, (NodeCounts{.nodes = 3, .completed = 3}));
}

TEST_P(SubflowConformance, AFlowWithoutDependenciesStartsAtOnce) {
  const auto outer = submit_flow({flow_node("eu", {node("x")})});
  complete_next("x");
  EXPECT_EQ(ended(outer.id).state, FlowState::completed);
  EXPECT_EQ(must(run(GetResult{.id = id_of(outer, "eu")})).bytes, "") << "none is named";
}

TEST_P(SubflowConformance, TheFailureOfTheFlowFailsItsNode) {
  const auto outer = submit_flow(usual());
  complete_next("a");
  fail_next("x");
  EXPECT_EQ(ended(outer.id).state, FlowState::failed);
  EXPECT_EQ(states(outer), "a=completed eu=failed join=skipped");
  const auto failed = info(id_of(outer, "eu"));
  EXPECT_EQ(*failed.failure_reason,
            fmt::format("flow {} failed: node x failed", failed.subflow->str()));
  EXPECT_EQ(*failed.failure_category, "subflow");
}

TEST_P(SubflowConformance, TheFlowKeepsItsOwnRuleForFailures) {
  auto eu = flow_node("eu", {node("x"), node("z")});
  eu.flow->on_failure = FlowFailure::stop;
  eu.optional = true;
  const auto outer = submit_flow({eu});
  const auto first = next_claim();
  next_claim();
  must(run(failure(first, "broke", "permanent")));
  EXPECT_EQ(ended(outer.id).state, FlowState::completed) << "the node is optional";
  EXPECT_EQ(states(outer), "eu=failed");
  EXPECT_EQ(read(subflow_of(outer, "eu")).counts,
            (NodeCounts{.nodes = 2, .failed = 1, .cancelled = 1}));
}

TEST_P(SubflowConformance, TheFirstNodesSeeTheInputsOfTheNode) {
  auto submit = usual();
  submit.nodes[1].after[0].input = node_name("order");
  submit_flow(std::move(submit));
  complete_next("a", "from a");
  const auto x = next_claim("x");
  EXPECT_EQ(input(x), "order=from a");
  EXPECT_EQ(input(x, node_name("order")), "order=from a");
  EXPECT_EQ(input(x, node_name("other")), "");
  must(run(complete(x, "from x")));
  const auto y = next_claim("y");
  EXPECT_EQ(input(y), "x=from x");
  EXPECT_EQ(input(y, node_name("order")), "order=from a") << "it has no such input of its own";
}

TEST_P(SubflowConformance, FlowsAreWithinFlows) {
  const auto outer = submit_flow(
      {node("a"),
       flow_node("one", {flow_node("two", {node("leaf")}, {}, "leaf")}, {dependency("a")}, "two"),
       node("join", {dependency("one")})});
  complete_next("a", "deep");
  const auto leaf = next_claim("leaf");
  EXPECT_EQ(input(leaf), "a=deep");
  must(run(complete(leaf, "up")));
  EXPECT_EQ(input(next_claim("join")), "one=up");
}

TEST_P(SubflowConformance, NodesGetTheBudgetsOfTheOuterFlowAndOfTheNode) {
  const auto make = [&] {
    return must(run(CreateBudget{.spec = {.hard_limits = {{"tokens", 5}}}})).id;
  };
  const auto shared = make();
  const auto own = make();
  auto eu = flow_node("eu", {node("x")});
  eu.policy.budgets = {own};
  submit_flow(SubmitFlow{.nodes = {eu}, .budgets = {shared}});
  EXPECT_THAT(info(next_claim("x").id).policy.budgets,
              ::testing::UnorderedElementsAre(shared, own));
}

TEST_P(SubflowConformance, AnEngineThatStartsAgainGoesOn) {
  const auto outer = submit_flow(usual());
  complete_next("a");
  home_->restart();
  settle();
  complete_next("x");
  complete_next("y", "late");
  home_->restart();
  settle();
  EXPECT_EQ(input(next_claim("join")), "eu=late");
  EXPECT_EQ(flow(outer).state, FlowState::running);
}

TEST_P(SubflowConformance, SpawnedNodesCanBeFlows) {
  const auto outer = submit_flow({node("a")});
  auto report = complete(claim_node(outer, "a"), "spawner's");
  report.spawn = {flow_node("eu", {node("x")})};
  must(run(std::move(report)));
  const auto x = next_claim("x");
  EXPECT_EQ(input(x), "a=spawner's");
  must(run(complete(x)));
  EXPECT_EQ(ended(outer.id).state, FlowState::completed);
}

TEST_P(SubflowConformance, ItsNodeTellsWhatItWaitsFor) {
  const auto outer = submit_flow(usual());
  complete_next("a");
  const auto eu = id_of(outer, "eu");
  EXPECT_THAT(must(run(ExplainExecution{eu})).summary,
              HasSubstr("the end of flow " + subflow_of(outer, "eu").str()));
  for (const auto& each : must(run(ListFlowNodes{.id = outer.id})).nodes)
    EXPECT_EQ(each.subflow.has_value(), each.id == eu);
}

// ---- The outer flow decides ----------------------------------------------------------------------

TEST_P(SubflowConformance, CancellingTheOuterFlowCancelsIt) {
  const auto outer = submit_flow(usual());
  complete_next("a");
  const auto x = next_claim("x");
  must(run(CancelFlow{.id = outer.id, .reason = "stop it"}));
  const auto inner = ended(*x.flow);
  EXPECT_EQ(inner.state, FlowState::cancelled);
  EXPECT_THAT(inner.reason, HasSubstr("stop it"));
  EXPECT_EQ(state_of(x.id), ExecutionState::cancelled);
  EXPECT_EQ(flow(outer).counts, (NodeCounts{.nodes = 3, .completed = 1, .cancelled = 2}));
}

TEST_P(SubflowConformance, CancellingTheNodeCancelsIt) {
  const auto outer = submit_flow(usual());
  complete_next("a");
  const auto x = next_claim("x");
  must(run(Cancel{.id = id_of(outer, "eu")}));
  EXPECT_EQ(ended(*x.flow).state, FlowState::cancelled);
  EXPECT_EQ(ended(outer.id).state, FlowState::failed);
}

TEST_P(SubflowConformance, ACancellationThatSparesWhatRunsLetsItFinish) {
  const auto outer = submit_flow(usual());
  complete_next("a");
  const auto x = next_claim("x");
  must(run(CancelFlow{.id = outer.id, .policy = CancelPolicy::cancel_pending}));
  EXPECT_EQ(states(outer), "a=completed eu=waiting_children join=cancelled");
  must(run(complete(x)));
  complete_next("y");
  EXPECT_EQ(ended(outer.id).state, FlowState::cancelled);
  EXPECT_EQ(states(outer), "a=completed eu=completed join=cancelled");
}

TEST_P(SubflowConformance, APauseHoldsItUntilTheOuterFlowIsResumed) {
  const auto outer = submit_flow(usual());
  complete_next("a");
  const auto x = next_claim("x");
  must(run(PauseFlow{.id = outer.id}));
  settle();
  EXPECT_EQ(read(*x.flow).state, FlowState::paused);
  must(run(complete(x)));
  EXPECT_EQ(claimable(), 0u);
  must(run(ResumeFlow{outer.id}));
  complete_next("y");
  next_claim("join");
}

TEST_P(SubflowConformance, ItDoesNotStartInAFlowThatIsPaused) {
  const auto outer = submit_flow({node("a"), flow_node("eu", {node("x")}, {dependency("a")})});
  const auto a = claim_node(outer, "a");
  must(run(PauseFlow{.id = outer.id}));
  must(run(complete(a)));
  settle();
  EXPECT_EQ(info(id_of(outer, "eu")).subflow, std::nullopt);
  must(run(ResumeFlow{outer.id}));
  next_claim("x");
}

TEST_P(SubflowConformance, AFlowThatAnOperatorPausedStaysPaused) {
  const auto outer = submit_flow(usual());
  complete_next("a");
  const auto x = next_claim("x");
  must(run(PauseFlow{.id = *x.flow}));
  settle();
  EXPECT_EQ(read(*x.flow).state, FlowState::paused);
  must(run(ResumeFlow{*x.flow}));
  must(run(complete(x)));
  complete_next("y");
  EXPECT_EQ(input(next_claim("join")), "eu=out");
}

TEST_P(SubflowConformance, TheDeadlineOfTheNodeCancelsIt) {
  auto submit = usual();
  submit.nodes[1].deadline = now() + 1min;
  const auto outer = submit_flow(std::move(submit));
  complete_next("a");
  const auto x = next_claim("x");
  pass(2min);
  settle();
  EXPECT_EQ(ended(outer.id).state, FlowState::failed);
  EXPECT_EQ(states(outer), "a=completed eu=expired join=skipped");
  EXPECT_EQ(ended(*x.flow).state, FlowState::cancelled);
}

// ---- Once more -----------------------------------------------------------------------------------

TEST_P(SubflowConformance, ARedriveStartsItAnew) {
  const auto outer = submit_flow(usual());
  complete_next("a");
  fail_next("x");
  EXPECT_EQ(ended(outer.id).state, FlowState::failed);
  const auto first = subflow_of(outer, "eu");
  must(run(RedriveFlow{.id = outer.id}));
  const auto x = next_claim("x");
  EXPECT_NE(*x.flow, first);
  EXPECT_EQ(*x.flow, subflow_of(outer, "eu"));
  must(run(complete(x)));
  complete_next("y", "second");
  EXPECT_EQ(input(next_claim("join")), "eu=second");
}

TEST_P(SubflowConformance, ARedriveBeforeItsEndCancelsTheFirst) {
  const auto outer = submit_flow(usual());
  complete_next("a");
  const auto first = next_claim("x");
  must(run(RedriveFlow{.id = outer.id, .from = node_name("a")}));
  EXPECT_EQ(ended(*first.flow).state, FlowState::cancelled);
  EXPECT_EQ(states(outer), "a=waiting eu=waiting_children join=waiting_children");
  EXPECT_EQ(info(id_of(outer, "eu")).subflow, std::nullopt);
  complete_next("a", "again");
  const auto second = next_claim("x");
  EXPECT_NE(second.flow, first.flow);
  EXPECT_EQ(input(second), "a=again");
}

TEST_P(SubflowConformance, AReplayOfItsNodeStartsItAnew) {
  const auto outer = submit_flow(usual());
  complete_next("a");
  complete_next("x");
  complete_next("y", "first");
  complete_next("join");
  const auto eu = id_of(outer, "eu");
  const auto first = subflow_of(outer, "eu");
  must(run(Replay{.id = eu}));
  complete_next("x");
  complete_next("y", "second");
  EXPECT_EQ(input(next_claim("join")), "eu=second");
  EXPECT_NE(subflow_of(outer, "eu"), first);
}

// The node has failed with the first end of that flow.
TEST_P(SubflowConformance, ARedriveOfTheInnerFlowAloneLeavesItsNodeAlone) {
  const auto outer = submit_flow(usual());
  complete_next("a");
  fail_next("x");
  EXPECT_EQ(ended(outer.id).state, FlowState::failed);
  const auto inner = subflow_of(outer, "eu");
  must(run(RedriveFlow{.id = inner}));
  complete_next("x");
  complete_next("y");
  EXPECT_EQ(ended(inner).state, FlowState::completed);
  settle();
  EXPECT_EQ(states(outer), "a=completed eu=failed join=skipped");
}

TEST_P(SubflowConformance, AnotherGraphRunsAgain) {
  auto eu = flow_node("eu", {node("x")});
  const auto outer = submit_flow({eu, node("rest")});
  claim_node(outer, "rest");
  complete_next("x");
  settle();
  must(run(ExtendFlow{.id = outer.id, .nodes = {eu}}));
  EXPECT_EQ(states(outer), "eu=completed rest=active");
  eu.flow->nodes[0].payload = "another";
  must(run(ExtendFlow{.id = outer.id, .nodes = {eu}}));
  EXPECT_EQ(next_claim("x").payload, "another");
}

// ---- Bounds --------------------------------------------------------------------------------------

TEST_P(SubflowConformance, ItIsKeptAsLongAsTheOuterFlow) {
  auto submit = usual();
  submit.retention = 2h;
  const auto outer = submit_flow(std::move(submit));
  complete_next("a");
  complete_next("x");
  complete_next("y");
  const auto inner = subflow_of(outer, "eu");
  EXPECT_EQ(read(inner).retention, 2h);
  next_claim("join");
  pass(2h + 1s);
  settle();
  EXPECT_EQ(error_of(GetFlow{.id = inner}), Errc::flow_not_found);
  EXPECT_EQ(flow(outer).state, FlowState::running);
}

TEST_P(SubflowConformance, ARepeatedSubmitIsTheSameFlow) {
  auto submit = usual();
  submit.idempotency_key = *IdempotencyKey::parse("once");
  submit_flow(submit);
  EXPECT_TRUE(must(run(SubmitFlow(submit))).duplicate);
  submit.nodes[1].flow->nodes[0].payload = "another";
  EXPECT_EQ(error_of(submit), Errc::duplicate_mismatch);
}

TEST_P(SubflowConformance, AGraphThatCannotRunIsRefusedWithItsPath) {
  const auto field = [&](auto change) {
    auto submit = usual();
    change(submit.nodes[1]);
    return field_of(submit);
  };
  EXPECT_EQ(field([](auto& eu) { eu.flow->nodes[1].after = {dependency("nobody")}; }),
            "nodes[1].flow.nodes[1].after[0]");
  EXPECT_EQ(field([](auto& eu) { eu.flow->nodes[0].after = {dependency("y")}; }),
            "nodes[1].flow.nodes[0].after[0]");
  EXPECT_EQ(field([](auto& eu) { eu.flow->nodes.clear(); }), "nodes[1].flow.nodes");
  EXPECT_EQ(field([](auto& eu) { eu.flow->result = node_name("nobody"); }), "nodes[1].flow.result");
  EXPECT_EQ(field([](auto& eu) { eu.payload = "mine"; }), "nodes[1].payload");
  EXPECT_EQ(field([](auto& eu) { eu.map = MapOver{.input = node_name("a")}; }), "nodes[1].map");
  EXPECT_EQ(field([&](auto& eu) { eu.delay_until = now() + 1s; }), "nodes[1].flow");
  EXPECT_EQ(field([](auto& eu) {
              for (auto& each : eu.flow->nodes) each.payload.assign(600'000, 'x');
            }),
            "nodes[1].flow");
  EXPECT_EQ(field([](auto& eu) {
              for (int i = 0; i < 1'000; ++i)
                eu.flow->nodes.push_back(node(fmt::format("n{}", i).c_str()));
            }),
            "nodes");
  auto deep = node("leaf");
  for (std::size_t i = 0; i <= limits::subflow_depth_max; ++i) deep = flow_node("deep", {deep});
  EXPECT_THAT(field_of(SubmitFlow{.nodes = {deep}}), StartsWith("nodes[0].flow.nodes[0].flow"));
}

INSTANTIATE_TEST_SUITE_P(, SubflowConformance, ::testing::ValuesIn(home_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ff::conformance
