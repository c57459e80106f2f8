#include <random>

#include "core/flows/memory_partition.hpp"

namespace ff::core {
namespace {

const FlowId flow_of_tests{*Uuid::parse("01920000-0000-7000-8000-00000000f10f")};
constexpr PartitionIndex flow_partition = 7;

NodeName named(const std::string& text) { return *NodeName::parse(text); }
ExecutionId id_of(const std::string& name) { return node_id(flow_of_tests, flow_partition, named(name)); }

NewNode new_node(const std::string& name, std::vector<Dependency> after = {}) {
  return {id_of(name),
          {.name = named(name), .kind = *Kind::parse("greet"), .after = std::move(after)}};
}

CreateFlow create_flow(std::vector<NewNode> nodes) {
  CreateFlow create{.id = flow_of_tests, .partition = flow_partition, .submit = {}, .nodes = {}};
  create.nodes = std::move(nodes);
  create.minted = true;
  return create;
}

TEST(FlowRules, AnEdgeIsDecidedByTheEndOfItsUpstreamNode) {
  std::string table = "\n";
  for (const auto on : {DependsOn::succeeded, DependsOn::failed, DependsOn::finished}) {
    table += std::string(to_string(on)) + ':';
    for (const auto end : {ExecutionState::completed, ExecutionState::failed,
                           ExecutionState::cancelled, ExecutionState::expired,
                           ExecutionState::skipped})
      table += decided_by(on, end) == EdgeState::satisfied
                   ? ' ' + std::string(to_string(end))
                   : std::string();
    table += '\n';
  }
  EXPECT_EQ(table, R"(
succeeded: completed
failed: failed cancelled expired
finished: completed failed cancelled expired skipped
)");
}

TEST(FlowRules, AGroupWaitsUntilItsEdgesDecideIt) {
  const auto of = [](std::optional<std::uint32_t> needed, std::uint32_t edges,
                     std::uint32_t satisfied, std::uint32_t impossible) {
    return verdict({.flow = {},
                    .needed = needed,
                    .edges_in = edges,
                    .satisfied = satisfied,
                    .impossible = impossible});
  };
  EXPECT_EQ(of({}, 0, 0, 0), Verdict::ready);
  EXPECT_EQ(of({}, 2, 1, 0), Verdict::wait);
  EXPECT_EQ(of({}, 2, 2, 0), Verdict::ready);
  EXPECT_EQ(of({}, 2, 1, 1), Verdict::skip);
  EXPECT_EQ(of(1, 2, 1, 0), Verdict::ready);
  EXPECT_EQ(of(1, 2, 0, 1), Verdict::wait);
  EXPECT_EQ(of(1, 2, 0, 2), Verdict::skip);
  EXPECT_EQ(of(2, 3, 0, 2), Verdict::skip);
}

TEST(FlowRules, NodeIdsAreUuidsMadeOfFlowAndName) {
  const auto id = id_of("build");
  EXPECT_EQ(id, id_of("build"));
  EXPECT_NE(id, id_of("test"));
  EXPECT_EQ(id.uuid().str()[14], '5');
}

// Random graphs and random operations; after each, everything that is counted is counted anew.
class RandomFlow {
 public:
  explicit RandomFlow(std::uint32_t seed) : random_(seed) {
    const auto count = 2 + below(12);
    std::vector<NewNode> nodes;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::vector<Dependency> after;
      for (std::uint32_t j = 0; j < i; ++j)
        if (below(3) == 0)
          after.push_back({.node = named(name(j)), .on = static_cast<DependsOn>(below(3))});
      auto added = new_node(name(i), after);
      if (!after.empty() && below(3) == 0) {
        added.node.needed = 1 + below(static_cast<std::uint32_t>(after.size()));
        added.node.rest = static_cast<RestAction>(below(2));
      }
      added.node.optional = below(5) == 0;
      if (!after.empty() && below(5) == 0)
        added.node.map = MapOver{.input = after[0].node, .max_parallel = 1 + below(2)};
      nodes.push_back(std::move(added));
    }
    auto create = create_flow(std::move(nodes));
    create.submit.on_failure = static_cast<FlowFailure>(below(2));
    must(view_.run(std::move(create), now_));
    check();
  }

  void step() {
    now_ += 1s;
    const auto node = any_node();
    const auto state = public_state(view_.executions().at(node));
    const auto random = below(20);
    if (random == 0) {
      static_cast<void>(view_.run(PauseFlow{.id = flow_of_tests, .reason = "why"}, now_));
    } else if (random == 1) {
      static_cast<void>(view_.run(ResumeFlow{flow_of_tests}, now_));
    } else if (random == 2) {
      static_cast<void>(view_.run(BeginRedrive{.id = flow_of_tests}, now_));
    } else if (random == 3) {
      static_cast<void>(view_.run(BeginRedrive{.id = flow_of_tests, .from = node}, now_));
    } else if (random == 4 && below(4) == 0) {
      static_cast<void>(view_.run(BeginCancel{.id = flow_of_tests,
                                              .reason = "why",
                                              .policy = static_cast<CancelPolicy>(below(3))},
                                  now_));
    } else if (random == 5) {
      static_cast<void>(view_.run(Cancel{.id = node, .reason = "why"}, now_));
    } else if (random == 6) {
      static_cast<void>(view_.run(Replay{.id = node, .reason = "why"}, now_));
    } else if (random == 7 && may_grow()) {
      static_cast<void>(view_.run(AddNodes{.id = flow_of_tests, .nodes = more_nodes()}, now_));
    } else if (state == ExecutionState::active) {
      end(node);
    } else {
      claim(node);
    }
    // Whether work is left for effects or not, nothing is wrong.
    EXPECT_EQ(view_.repair(flow_of_tests, now_), 0u);
    view_.run_effects(now_);
    EXPECT_EQ(view_.repair(flow_of_tests, now_), 0u);
    check();
  }

  void remove() {
    for (const auto& [id, execution] : std::map(view_.executions()))
      static_cast<void>(view_.run(Cancel{.id = id, .reason = "end"}, now_));
    view_.run_effects(now_);
    now_ += std::chrono::days{30};
    must(view_.run(Remove{subject_of(flow())}, now_));
    view_.run_effects(now_);
    EXPECT_TRUE(view_.empty());
  }

 private:
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(random_() % bound);
  }
  static std::string name(std::uint32_t index) { return fmt::format("n{}", index); }
  const Flow& flow() { return view_.flow(flow_of_tests); }
  ExecutionId any_node() {
    const auto& all = view_.executions();
    return std::next(all.begin(), below(static_cast<std::uint32_t>(all.size())))->first;
  }
  bool may_grow() { return flow().counts.nodes < 40; }

  // After nodes that are there, in any state, and each other.
  std::vector<NewNode> more_nodes() {
    std::vector<NewNode> nodes;
    for (auto count = 1 + below(3); count > 0; --count) {
      std::vector<Dependency> after;
      if (below(2) == 0)
        after.push_back({.node = view_.executions().at(any_node()).flow->node,
                         .on = static_cast<DependsOn>(below(3))});
      if (!nodes.empty() && below(2) == 0) after.push_back({.node = nodes.back().node.name});
      nodes.push_back(new_node(fmt::format("m{}", grown_++), after));
      nodes.back().node.payload = fmt::format("{}", below(2));
    }
    return nodes;
  }
  // Each run of a node may spawn other nodes, and some of them once more.
  std::vector<NewNode> spawned_by(const ExecutionId& id) {
    auto nodes = more_nodes();
    const auto& name = view_.executions().at(id).flow->node;
    for (std::uint32_t i = 0; i < 3; ++i)
      if (below(2) == 0) {
        nodes.push_back(new_node(fmt::format("{}-s{}", name.str(), i)));
        nodes.back().node.payload = fmt::format("{}", below(2));
      }
    return nodes;
  }
  std::vector<NewNode> children() {
    std::vector<NewNode> nodes;
    for (auto count = 1 + below(3); count > 0; --count)
      nodes.push_back(new_node(fmt::format("c{}", grown_++)));
    return nodes;
  }

  void claim(const ExecutionId& id) {
    auto command = core::claim(1);
    command.id = id;
    command.lease_ttl = 1h;
    command.lease_id = LeaseId{uuid_of(static_cast<std::uint8_t>(random_()))};
    command.attempt_id = AttemptId{command.lease_id.uuid()};
    const auto& attempt = view_.executions().at(id).attempt;
    const bool lets = lets_start(flow()) || (attempt && !attempt->end);
    const auto claimed = view_.run(std::move(command), now_);
    EXPECT_TRUE(lets || !claimed) << "claimed although the flow holds it";
  }

  void end(const ExecutionId& id) {
    const auto fence = std::get<Active>(view_.executions().at(id).state).lease.fence;
    if (below(4) == 0)
      must(view_.run(Fail{.id = id, .fence = fence, .reason = "broke", .category = "permanent"},
                     now_));
    else if (const Complete complete{.id = id, .fence = fence}; below(3) == 0 && may_grow())
      must(view_.run(
          Grow{.id = id, .flow = flow_of_tests, .end = complete, .nodes = spawned_by(id)}, now_));
    else if (below(4) == 0 && may_grow())
      must(view_.run(Grow{.id = id,
                          .flow = flow_of_tests,
                          .end = WaitForChildren{.id = id, .fence = fence},
                          .nodes = children()},
                     now_));
    else
      must(view_.run(complete, now_));
  }

  // Counted anew; the state of a turn is its own.
  EdgeState expected(const Edge& edge) {
    const auto& upstream = view_.executions().at(edge.upstream);
    const auto& downstream = view_.executions().at(edge.id.downstream);
    if (edge.role == EdgeRole::turn && edge.state == EdgeState::satisfied) return edge.state;
    if (!has_ended(upstream)) return EdgeState::pending;
    if (edge.role == EdgeRole::spawn && downstream.flow->spawned_in != upstream.replay_count)
      return EdgeState::impossible;
    return decided_by(edge.on, public_state(upstream));
  }

  void check() {
    Flow recounted;
    recounted.counts.nodes = flow().counts.nodes;
    for (const auto& [id, node] : view_.executions()) {
      std::uint32_t satisfied = 0;
      std::uint32_t impossible = 0;
      std::uint32_t open_children = 0;
      for (const auto& [edge_id, edge] : view_.edges()) {
        if (edge_id.downstream != id) continue;
        const auto state = expected(edge);
        EXPECT_EQ(static_cast<int>(edge.state), static_cast<int>(state));
        const bool is_child = edge.role == EdgeRole::child;
        satisfied += !is_child && state == EdgeState::satisfied ? 1 : 0;
        impossible += !is_child && state == EdgeState::impossible ? 1 : 0;
        open_children += is_child && state == EdgeState::pending ? 1 : 0;
      }
      EXPECT_EQ(node.flow->satisfied, satisfied);
      EXPECT_EQ(node.flow->impossible, impossible);
      EXPECT_EQ(node.flow->open_children, open_children);
      if (has_ended(node)) count_end(recounted, node, 1);
      const bool waits = std::holds_alternative<WaitingChildren>(node.state);
      const bool is_list = node.flow->map.has_value();  // which waits also for its turn
      EXPECT_TRUE(!waits || is_list || verdict(*node.flow) == Verdict::wait) << show(node);
      const bool starts = std::holds_alternative<Active>(node.state) ||
                          std::holds_alternative<Waiting>(node.state);
      EXPECT_TRUE(!starts || verdict(*node.flow) == Verdict::ready) << show(node);
      const bool is_free = std::holds_alternative<Waiting>(node.state);
      EXPECT_FALSE(is_free && flow().state == FlowState::paused) << show(node);
    }
    EXPECT_EQ(flow().counts, recounted.counts);
    EXPECT_EQ(flow().failures, recounted.failures);
    EXPECT_EQ(flow().ended_at.has_value(), flow().counts.open() == 0);
    EXPECT_FALSE(flow().walk);
  }

  std::minstd_rand random_;
  std::uint32_t grown_ = 0;
  MemoryPartition view_;
  TimePoint now_ = t0;
};

TEST(FlowProperty, CountsStatesAndEdgesFollowFromEachOther) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomFlow flow(seed);
    for (int i = 0; i < 60 && !::testing::Test::HasFailure(); ++i) flow.step();
    if (::testing::Test::HasFailure()) return;
    flow.remove();
  }
}

TEST(FlowProperty, WideFansAreResolvedInSlices) {
  MemoryPartition view;
  std::vector<NewNode> nodes{new_node("first")};
  std::vector<Dependency> all;
  for (int i = 0; i < 450; ++i) {
    const auto name = fmt::format("n{}", i);
    nodes.push_back(new_node(name, {{.node = named("first")}}));
    all.push_back({.node = named(name)});
  }
  nodes.push_back(new_node("join", all));
  must(view.run(create_flow(std::move(nodes)), t0));
  must(view.run(Cancel{.id = id_of("first"), .reason = "why"}, t0));
  const auto states = [&] {
    std::map<ExecutionState, int> counts;
    for (const auto& [id, node] : view.executions()) ++counts[public_state(node)];
    return counts;
  };
  EXPECT_EQ(states()[ExecutionState::skipped], static_cast<int>(flow_step_max));
  view.run_effects(t0);
  EXPECT_EQ(states()[ExecutionState::skipped], 451);
  EXPECT_EQ(view.flow(flow_of_tests).state, FlowState::failed);
}

// ---- Repairs -------------------------------------------------------------------------------------

class FlowRepair : public ::testing::Test {
 protected:
  // A node, and 250 after it.
  void create_fan() {
    std::vector<NewNode> nodes{new_node("first")};
    for (int i = 0; i < 250; ++i)
      nodes.push_back(new_node(fmt::format("n{}", i), {{.node = named("first")}}));
    must(view_.run(create_flow(std::move(nodes)), t0));
  }
  void cancel(const std::string& name) {
    must(view_.run(Cancel{.id = id_of(name), .reason = "why"}, t0));
  }
  // Repairs, and what they left to effects; then nothing is left.
  std::uint32_t repair() {
    const auto repaired = view_.repair(flow_of_tests, t0);
    view_.run_effects(t0);
    EXPECT_EQ(view_.repair(flow_of_tests, t0), 0u);
    return repaired;
  }
  const Flow& flow() { return view_.flow(flow_of_tests); }

  MemoryPartition view_;
};

TEST_F(FlowRepair, LeavesEdgesToTheirEffect) {
  create_fan();
  cancel("first");
  EXPECT_EQ(repair(), 0u);
  EXPECT_EQ(flow().counts.skipped, 250u);
}

TEST_F(FlowRepair, DecidesEdgesWhoseEffectIsLost) {
  create_fan();
  cancel("first");
  view_.lose_effects();
  EXPECT_EQ(repair(), 150u);
  EXPECT_EQ(flow().counts.skipped, 250u);
  EXPECT_EQ(flow().state, FlowState::failed);
}

TEST_F(FlowRepair, GoesOnWithAWalkWhoseEffectIsLost) {
  create_fan();
  must(view_.run(BeginCancel{.id = flow_of_tests}, t0));
  view_.lose_effects();
  EXPECT_EQ(repair(), 1u);
  EXPECT_EQ(flow().counts.cancelled, 251u);
}

TEST_F(FlowRepair, CountsTheNodesOfAFlowAnew) {
  create_fan();
  cancel("n0");
  view_.damage_flow(flow_of_tests).counts.cancelled += 1;
  EXPECT_EQ(repair(), 1u);
  EXPECT_EQ(flow().counts.cancelled, 1u);
}

TEST_F(FlowRepair, EndsAFlowThatMissedItsEnd) {
  must(view_.run(create_flow({new_node("a"), new_node("b")}), t0));
  cancel("a");
  view_.damage_flow(flow_of_tests).counts.cancelled = 0;
  cancel("b");
  EXPECT_FALSE(flow().ended_at);
  EXPECT_EQ(repair(), 1u);
  EXPECT_TRUE(flow().ended_at);
}

// A count over several slices is of no moment if the flow changes meanwhile.
TEST_F(FlowRepair, DoesNotTrustACountDuringWhichTheFlowChanged) {
  create_fan();
  const auto first = must(view_.run(CheckFlow{.id = flow_of_tests}, t0));
  ASSERT_EQ(first.next, 100u);
  cancel("n0");
  const auto second = must(view_.run(
      CheckFlow{
          .id = flow_of_tests, .from = 200, .version = first.version, .tally = first.tally},
      t0));
  EXPECT_EQ(second, (CheckFlowReply{.version = first.version + 1}));
}

TEST_F(FlowRepair, CountsTheEdgesOfANodeAnew) {
  must(view_.run(create_flow({new_node("a"), new_node("b"),
                              new_node("c", {{.node = named("a"), .on = DependsOn::finished},
                                             {.node = named("b"), .on = DependsOn::finished}})}),
                 t0));
  cancel("a");
  view_.damage_node(id_of("c")).satisfied = 0;
  EXPECT_EQ(repair(), 1u);
  cancel("b");
  EXPECT_EQ(public_state(view_.executions().at(id_of("c"))), ExecutionState::waiting);
}

TEST_F(FlowRepair, ReadsAListWhoseEffectIsLost) {
  auto mapped = new_node("m", {{.node = named("a"), .on = DependsOn::finished}});
  mapped.node.map = MapOver{.input = named("a")};
  must(view_.run(create_flow({new_node("a"), std::move(mapped)}), t0));
  cancel("a");
  view_.lose_effects();
  EXPECT_EQ(repair(), 1u);
  EXPECT_EQ(flow().counts.nodes, 3u);
}

// A node that no item is may have such a name in a store of an earlier release.
TEST(FlowGrowth, AnItemWhoseNameIsTakenIsRefused) {
  MemoryPartition view;
  auto mapped = new_node("m", {{.node = named("a"), .on = DependsOn::finished}});
  mapped.node.map = MapOver{.input = named("a")};
  must(view.run(create_flow({new_node("a"), new_node("m.1"), std::move(mapped)}), t0));
  must(view.run(Cancel{.id = id_of("a"), .reason = "why"}, t0));
  AddItems items{.id = id_of("m"), .run = 0, .first = 0, .items = {}, .is_last = true};
  for (const auto* name : {"m.0", "m.1"}) items.items.push_back({id_of(name), "1"});
  const auto added = view.run(std::move(items), t0);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Errc::invalid_input);
  EXPECT_EQ(added.error().message,
            "the name m.1 of an item of m is taken: the flow has another node of that name; submit "
            "the flow again with another name for it");
  EXPECT_EQ(view.flow(flow_of_tests).counts.nodes, 3u);
}

TEST(FlowRules, OnlyANameWithAnIndexIsThatOfAnItem) {
  EXPECT_EQ(list_of_item(named("m.0")), named("m"));
  EXPECT_EQ(list_of_item(named("m.0.17")), named("m.0"));
  for (const auto* name : {"m", "m.", "m.x", "m.1x", "17"})
    EXPECT_FALSE(list_of_item(named(name))) << name;
}

}  // namespace
}  // namespace ff::core
