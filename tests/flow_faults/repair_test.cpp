// Faults in each store that the scanners of flows repair.
#include "tests/flow_faults/fixture.hpp"

namespace ff::flow_faults {
namespace {

class FlowRepairs : public FlowOnStore {};

TEST_P(FlowRepairs, AHealthyFlowNeedsNone) {
  create_fan();
  EXPECT_EQ(repair(), 0u);
  EXPECT_EQ(count(ExecutionState::waiting_children), 250u);
}

// An effect that is still stored is the outbox's, which runs after them.
TEST_P(FlowRepairs, WorkThatAnEffectIsStoredForIsLeftToIt) {
  create_fan();
  complete("first");
  EXPECT_EQ(repair(), 0u);
  EXPECT_EQ(count(ExecutionState::waiting), 250u);
}

TEST_P(FlowRepairs, EdgesThatStayedOpenAreResolved) {
  create_fan();
  complete("first");
  lose_effects();
  EXPECT_EQ(repair(), 150u);
  EXPECT_EQ(count(ExecutionState::waiting), 250u);
  EXPECT_EQ(repair(), 0u);
}

TEST_P(FlowRepairs, AWalkThatLostItsEffectGoesOn) {
  create_fan();
  run(core::BeginCancel{.id = flow_});
  lose_effects();
  EXPECT_EQ(repair(), 1u);
  EXPECT_EQ(count(ExecutionState::cancelled), 251u);
  EXPECT_TRUE(ask(GetFlow{.id = flow_}).ended_at);
  EXPECT_EQ(repair(), 0u);
}

TEST_P(FlowRepairs, ACounterThatIsOffIsCountedAnew) {
  std::vector<FlowNode> nodes;
  for (int i = 0; i < 250; ++i) nodes.push_back(node(fmt::format("n{}", i)));
  create(std::move(nodes));
  complete("n0");
  complete("n1");
  miscount_completed();
  EXPECT_EQ(repair(), 1u);
  EXPECT_EQ(ask(GetFlow{.id = flow_}).counts.completed, 2u);
  EXPECT_EQ(repair(), 0u);
}

TEST_P(FlowRepairs, AFlowThatMissedItsEndEnds) {
  create({node("a"), node("b")});
  complete("a");
  miscount_completed();
  complete("b");
  EXPECT_EQ(repair(), 1u);
  const auto flow = ask(GetFlow{.id = flow_});
  EXPECT_EQ(flow.state, FlowState::completed);
  EXPECT_EQ(flow.counts.completed, 2u);
}

TEST_P(FlowRepairs, AListThatLostItsEffectIsRead) {
  auto mapped = node("m", {{.node = named("a")}});
  mapped.map = MapOver{.input = named("a")};
  create({node("a"), std::move(mapped)});
  complete("a", "[1,2]");
  lose_effects();
  EXPECT_EQ(repair(), 1u);
  EXPECT_EQ(ask(GetFlow{.id = flow_}).counts.nodes, 4u);
  EXPECT_EQ(repair(), 0u);
}

INSTANTIATE_TEST_SUITE_P(, FlowRepairs, ::testing::Values("embedded", "valkey"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace ff::flow_faults
