// Open flows: executions become members and edges are added one by one, as the published contract has it.
#include "tests/conformance/flows/flow_fixture.hpp"

namespace ff::conformance {
namespace {

class OpenFlowConformance : public FlowConformance {
 protected:
  static constexpr const char* flow_text = "01920000-0000-7000-8000-0000000f1000";
  const FlowId flow_id_ = *FlowId::parse(flow_text);

  FlowInfo open() {
    must(run(OpenFlow{.id = flow_id_}));
    return must(run(GetFlow{.id = flow_id_}));
  }
  ExecutionId execution(int number) {
    const auto uuid = fmt::format("01920000-0000-7000-8000-00000000{:04}", number);
    const ExecutionId id{partition(), *Uuid::parse(uuid)};
    must(run(Submit{.id = id, .kind = greet}));
    return id;
  }
  // Of the flow: the only one whose executions are not refused as such.
  PartitionIndex partition() {
    if (partition_) return *partition_;
    for (PartitionIndex each = 0;; ++each) {
      const ExecutionId id{each, *Uuid::parse("01920000-0000-7000-8000-00000000ffff")};
      if (error_of(AddFlowMember{.id = flow_id_, .execution = id}) != Errc::invalid_input)
        return *(partition_ = each);
    }
  }
  ExecutionId member(int number) {
    const auto id = execution(number);
    EXPECT_FALSE(must(run(AddFlowMember{.id = flow_id_, .execution = id})).duplicate);
    return id;
  }
  static GivenEdgeId edge(int number) {
    return *GivenEdgeId::parse(fmt::format("01920000-0000-7000-8000-0000ed9e{:04}", number));
  }
  std::uint32_t revision() { return must(run(GetFlow{.id = flow_id_})).revision; }
  StageEdge staged(int number, const ExecutionId& from, const ExecutionId& to) {
    return {.id = flow_id_,
            .edge = edge(number),
            .upstream = from,
            .downstream = to,
            .expected_revision = revision()};
  }
  ApplyEdge applied(int number, const ExecutionId& from, const ExecutionId& to) {
    return {.id = flow_id_, .edge = edge(number), .upstream = from, .downstream = to};
  }
  void connect(int number, const ExecutionId& from, const ExecutionId& to) {
    must(run(staged(number, from, to)));
    must(run(applied(number, from, to)));
  }
  void complete_member(const ExecutionId& id) {
    must(run(complete(must(run(claim_of(id))), "out")));
  }

  std::optional<PartitionIndex> partition_;
};

TEST_P(OpenFlowConformance, AnOpenFlowIsMadeOnce) {
  const OpenFlow open{.id = flow_id_, .kind = *Kind::parse("batch")};
  EXPECT_EQ(must(run(OpenFlow(open))), (OpenFlowReply{.id = flow_id_}));
  EXPECT_EQ(must(run(OpenFlow(open))), (OpenFlowReply{.id = flow_id_, .duplicate = true}));
  const auto flow = must(run(GetFlow{.id = flow_id_}));
  EXPECT_EQ(flow.state, FlowState::running);
  EXPECT_EQ(flow.kind.str(), "batch");
  EXPECT_EQ(flow.revision, 0u);
  EXPECT_EQ(flow.counts.nodes, 0u);
  EXPECT_EQ(error_of(OpenFlow{.id = flow_id_, .ns = *Namespace::parse("other")}),
            Errc::invalid_input);
}

TEST_P(OpenFlowConformance, ExecutionsBecomeMembers) {
  open();
  const auto one = execution(1);
  EXPECT_EQ(must(run(AddFlowMember{.id = flow_id_, .execution = one})),
            (AddFlowMemberReply{.execution = one, .nodes = 1}));
  EXPECT_EQ(must(run(AddFlowMember{.id = flow_id_, .execution = one})),
            (AddFlowMemberReply{.execution = one, .nodes = 1, .duplicate = true}));
  EXPECT_EQ(revision(), 1u);
  const auto info = must(run(GetExecution{one}));
  EXPECT_EQ(info.flow, flow_id_);
  EXPECT_FALSE(info.node);

  // It does not end by itself: more may come.
  complete_member(one);
  auto flow = must(run(GetFlow{.id = flow_id_}));
  EXPECT_EQ(flow.state, FlowState::running);
  EXPECT_EQ(flow.counts, (NodeCounts{.nodes = 1, .completed = 1}));
  const auto ended = execution(2);
  complete_member(ended);
  must(run(AddFlowMember{.id = flow_id_, .execution = ended}));
  EXPECT_EQ(must(run(GetFlow{.id = flow_id_})).counts, (NodeCounts{.nodes = 2, .completed = 2}));
}

TEST_P(OpenFlowConformance, MembersThatDoNotFitAreRefused) {
  const auto graph = submit_flow({node("a")});
  open();
  const auto one = member(1);
  EXPECT_EQ(error_of(AddFlowMember{.id = flow_id_,
                                   .execution = {partition(),
                                                 *Uuid::parse("01920000-0000-7000-8000-000000000099")}}),
            Errc::execution_not_found);
  const ExecutionId elsewhere{static_cast<PartitionIndex>(partition() == 0 ? 1 : 0), one.uuid()};
  EXPECT_EQ(error_of(AddFlowMember{.id = flow_id_, .execution = elsewhere}), Errc::invalid_input);
  // A flow that was submitted as a graph is not open.
  EXPECT_EQ(error_of(AddFlowMember{.id = graph.id, .execution = id_of(graph, "a")}),
            Errc::invalid_input);
  EXPECT_EQ(error_of(ExtendFlow{.id = flow_id_, .nodes = {node("x")}}), Errc::flow_not_building);
  Submit submit{.kind = greet};
  submit.flow = flow_id_;
  EXPECT_EQ(error_of(submit), Errc::flow_not_building);
  auto report = complete(must(run(claim_of(one))));
  report.spawn = {node("x")};
  EXPECT_EQ(error_of(report), Errc::invalid_input);
}

TEST_P(OpenFlowConformance, AStagedEdgeHasNoEffectBeforeItIsApplied) {
  open();
  const auto one = member(1), two = member(2);
  EXPECT_EQ(must(run(staged(1, one, two))), (StageEdgeReply{.edge = edge(1), .revision = 3}));
  EXPECT_EQ(state_of(two), ExecutionState::waiting);
  EXPECT_EQ(must(run(GetFlow{.id = flow_id_})).edges, 1u);

  EXPECT_EQ(must(run(applied(1, one, two))), (ApplyEdgeReply{.unsatisfied = 1}));
  EXPECT_EQ(state_of(two), ExecutionState::waiting_children);
  EXPECT_EQ(revision(), 3u);
  EXPECT_TRUE(must(run(applied(1, one, two))).duplicate);
  EXPECT_EQ(error_of(claim_of(two)), Errc::execution_not_leaseable);
  complete_member(one);
  EXPECT_EQ(state_of(two), ExecutionState::waiting);
  complete_member(two);
  EXPECT_EQ(must(run(GetFlow{.id = flow_id_})).counts.completed, 2u);
}

TEST_P(OpenFlowConformance, AMemberWaitsForAllThatWereApplied) {
  open();
  const auto one = member(1), two = member(2), three = member(3);
  connect(1, one, three);
  connect(2, two, three);
  must(run(staged(3, one, two)));  // never applied
  complete_member(one);
  EXPECT_EQ(state_of(three), ExecutionState::waiting_children);
  EXPECT_EQ(state_of(two), ExecutionState::waiting);
  complete_member(two);
  EXPECT_EQ(state_of(three), ExecutionState::waiting);
}

TEST_P(OpenFlowConformance, ResultsAreInputsOfTheMembersAfterThem) {
  open();
  const auto one = member(1), two = member(2), three = member(3);
  connect(1, one, three);
  connect(2, two, three);
  must(run(staged(3, one, two)));  // never applied
  const auto nodes = must(run(ListFlowNodes{.id = flow_id_})).nodes;
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_TRUE(nodes[1].after.empty());
  ASSERT_EQ(nodes[2].after.size(), 2u);
  EXPECT_EQ(nodes[2].after[0].id, one);
  EXPECT_EQ(nodes[2].after[1].id, two);
  complete_member(one);
  const auto inputs = must(run(GetInputs{.id = three})).inputs;
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].result, "out");
  EXPECT_EQ(inputs[1].state, ExecutionState::waiting);
}

TEST_P(OpenFlowConformance, AFailureSkipsThoseAfterIt) {
  open();
  const auto one = member(1), two = member(2), three = member(3);
  connect(1, one, two);
  connect(2, two, three);
  must(run(failure(must(run(claim_of(one))), "broke", "permanent")));
  EXPECT_EQ(state_of(two), ExecutionState::skipped);
  EXPECT_EQ(state_of(three), ExecutionState::skipped);
}

TEST_P(OpenFlowConformance, AnEdgeFromAMemberThatHasEndedIsDecidedAtOnce) {
  open();
  const auto one = member(1), two = member(2), three = member(3), four = member(4);
  complete_member(one);
  must(run(staged(1, one, two)));
  EXPECT_EQ(must(run(applied(1, one, two))).unsatisfied, 0u);
  EXPECT_EQ(state_of(two), ExecutionState::waiting);
  must(run(failure(must(run(claim_of(three))), "broke", "permanent")));
  connect(2, three, four);
  EXPECT_EQ(state_of(four), ExecutionState::skipped);
}

TEST_P(OpenFlowConformance, EdgesThatDoNotFitAreRefused) {
  open();
  const auto one = member(1), two = member(2), three = member(3), stranger = execution(9);
  EXPECT_EQ(error_of(staged(1, one, one)), Errc::self_referencing_edge);
  EXPECT_EQ(error_of(staged(1, one, stranger)), Errc::execution_not_in_flow);
  EXPECT_EQ(error_of(staged(1, stranger, one)), Errc::execution_not_in_flow);
  auto old = staged(1, one, two);
  old.expected_revision -= 1;
  EXPECT_EQ(error_of(old), Errc::stale_graph_revision);
  must(run(staged(1, one, two)));
  EXPECT_EQ(error_of(staged(1, one, two)), Errc::dependency_already_exists);
  must(run(staged(2, two, three)));
  EXPECT_EQ(error_of(staged(3, three, one)), Errc::cycle_detected);
  EXPECT_EQ(revision(), 5u);

  EXPECT_EQ(error_of(applied(7, one, two)), Errc::invalid_input);    // never staged
  EXPECT_EQ(error_of(applied(1, three, two)), Errc::invalid_input);  // from another one
  EXPECT_EQ(error_of(applied(1, one, stranger)), Errc::execution_not_in_flow);
  must(run(claim_of(two)));
  EXPECT_EQ(error_of(applied(1, one, two)), Errc::execution_not_eligible);  // it has begun
}

TEST_P(OpenFlowConformance, CancellingTellsTheMembers) {
  open();
  const auto one = member(1), two = member(2);
  connect(1, one, two);
  const auto cancelled =
      must(run(CancelMembers{.id = flow_id_, .reason = "enough", .wait = wake_up_max}));
  EXPECT_EQ(cancelled.policy, CancelPolicy::cancel_all);
  EXPECT_EQ(cancelled.members, (std::vector{one, two}));
  EXPECT_FALSE(cancelled.scheduled);
  EXPECT_TRUE(cancelled.open.empty());
  EXPECT_EQ(state_of(two), ExecutionState::cancelled);
  EXPECT_EQ(must(run(GetFlow{.id = flow_id_})).state, FlowState::cancelled);

  // Repeated, it tells the first policy.
  EXPECT_EQ(must(run(CancelMembers{.id = flow_id_, .policy = CancelPolicy::flow_only})).policy,
            CancelPolicy::cancel_all);
  const auto late = execution(3);
  EXPECT_EQ(error_of(AddFlowMember{.id = flow_id_, .execution = late}),
            Errc::flow_already_terminal);
  EXPECT_EQ(error_of(staged(2, one, two)), Errc::flow_already_terminal);
}

TEST_P(OpenFlowConformance, EveryOperationRefusesAnUnknownFlow) {
  const auto one = execution(1), two = execution(2);
  EXPECT_EQ(error_of(AddFlowMember{.id = flow_id_, .execution = one}), Errc::flow_not_found);
  EXPECT_EQ(error_of(StageEdge{
                .id = flow_id_, .edge = edge(1), .upstream = one, .downstream = two}),
            Errc::flow_not_found);
  EXPECT_EQ(error_of(applied(1, one, two)), Errc::flow_not_found);
  EXPECT_EQ(error_of(CancelMembers{.id = flow_id_}), Errc::flow_not_found);
}

INSTANTIATE_TEST_SUITE_P(, OpenFlowConformance, ::testing::ValuesIn(home_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ff::conformance
