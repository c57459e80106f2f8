// Flows come to their end with the outbox alone: no scanner runs.
#include "tests/flow_faults/fixture.hpp"

namespace ff::flow_faults {
namespace {

class OutboxAlone : public FlowOnStore {
 protected:
  // Completes what can be claimed until the flow has ended. The outbox runs after each round, as it does in time.
  FlowInfo work_to_the_end() {
    for (int round = 0; round < 50; ++round) {
      while (complete_some()) {
      }
      run_outbox();
      const auto flow = ask(GetFlow{.id = flow_});
      if (flow.ended_at) return flow;
    }
    return ask(GetFlow{.id = flow_});
  }
  bool complete_some() {
    const auto claimed =
        ask(Claim{.worker = *WorkerId::parse("w"), .max = 200, .lease_ttl = 1h}).executions;
    for (const auto& each : claimed) {
      Complete end{.id = each.id, .fence = each.fence, .result = each.payload == "list" ? "[1,2,3]" : "1"};
      end.content_type = *ContentType::parse("application/json");
      ask(std::move(end));
    }
    return !claimed.empty();
  }
  std::vector<FlowNode> chain(int length) {
    std::vector<FlowNode> nodes{node("c0")};
    for (int i = 1; i < length; ++i)
      nodes.push_back(node(fmt::format("c{}", i), {{.node = nodes.back().name}}));
    return nodes;
  }
  FlowNode list_node() {
    auto each = node("list");
    each.payload = "list";
    return each;
  }
  FlowNode map_node() {
    auto each = node("m", {{.node = named("list")}});
    each.map = MapOver{.input = named("list"), .max_parallel = 2};
    return each;
  }
};

TEST_P(OutboxAlone, EndsAChain) {
  create(chain(20));
  start_engine();
  const auto flow = work_to_the_end();
  EXPECT_EQ(flow.state, FlowState::completed);
  EXPECT_EQ(flow.counts.completed, 20u);
}

TEST_P(OutboxAlone, EndsAFan) {
  create_fan();
  start_engine();
  EXPECT_EQ(work_to_the_end().state, FlowState::completed);
}

TEST_P(OutboxAlone, EndsAList) {
  create({list_node(), map_node()});
  start_engine();
  const auto flow = work_to_the_end();
  EXPECT_EQ(flow.state, FlowState::completed);
  EXPECT_EQ(flow.counts.completed, 5u);
}

// ---- The program dies after the change, before it carries out the effect --------------------------

TEST_P(OutboxAlone, ResolvesTheEdgesThatADeadProgramLeft) {
  create_fan();
  complete("first");
  start_engine();
  EXPECT_EQ(count(ExecutionState::waiting), 100u);
  run_outbox();
  EXPECT_EQ(count(ExecutionState::waiting), 250u);
  EXPECT_EQ(work_to_the_end().state, FlowState::completed);
}

TEST_P(OutboxAlone, FinishesACancellation) {
  create_fan();
  run(core::BeginCancel{.id = flow_});
  start_engine();
  EXPECT_LT(count(ExecutionState::cancelled), 251u);
  run_outbox();
  EXPECT_EQ(count(ExecutionState::cancelled), 251u);
  EXPECT_TRUE(ask(GetFlow{.id = flow_}).ended_at);
}

TEST_P(OutboxAlone, FinishesARedrive) {
  std::vector<FlowNode> nodes;
  for (int i = 0; i < 150; ++i) nodes.push_back(node(fmt::format("n{}", i)));
  create(std::move(nodes));
  for (int i = 0; i < 150; ++i) fail(fmt::format("n{}", i));
  run(core::BeginRedrive{.id = flow_});
  start_engine();
  EXPECT_LT(count(ExecutionState::waiting), 150u);
  run_outbox();
  EXPECT_EQ(count(ExecutionState::waiting), 150u);
  EXPECT_EQ(work_to_the_end().state, FlowState::completed);
}

TEST_P(OutboxAlone, ReadsTheListOfADeadProgram) {
  create({list_node(), map_node()});
  complete("list", "[1,2,3]");
  start_engine();
  run_outbox();
  EXPECT_EQ(ask(GetFlow{.id = flow_}).counts.nodes, 5u);
  EXPECT_EQ(work_to_the_end().state, FlowState::completed);
}

INSTANTIATE_TEST_SUITE_P(, OutboxAlone, ::testing::Values("embedded", "valkey"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace ff::flow_faults
