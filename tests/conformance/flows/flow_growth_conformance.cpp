// Flows that grow while they run: spawned nodes, children, lists.
#include "tests/conformance/flows/flow_fixture.hpp"
#include "tests/support/await.hpp"

namespace ff::conformance {
namespace {

class FlowGrowthConformance : public FlowConformance {
 protected:
  // Completes a node with a JSON text.
  void complete_json(const FlowInfo& of, const char* name, std::string json) {
    auto report = complete(claim_node(of, name), std::move(json));
    report.content_type = *ContentType::parse("application/json");
    must(run(std::move(report)));
  }
  Complete spawning(const ClaimedExecution& claimed, std::vector<FlowNode> nodes) {
    auto report = complete(claimed);
    report.spawn = std::move(nodes);
    return report;
  }
  WaitForChildren waiting_for(const ClaimedExecution& claimed, std::vector<FlowNode> children) {
    return {.id = claimed.id, .fence = claimed.fence, .children = std::move(children)};
  }
  std::string payload_of(const FlowInfo& of, const char* name) {
    return must(run(GetPayload{id_of(of, name)})).bytes;
  }

  static FlowNode pages_node(MapOver map = {.input = node_name("list")}) {
    auto pages = node("pages", {dependency("list")});
    pages.payload.clear();
    pages.map = std::move(map);
    return pages;
  }
  // list → pages (one for each entry) → join
  FlowInfo submit_map(MapOver map = {.input = node_name("list")}) {
    return submit_flow({node("list"), pages_node(map), node("join", {dependency("pages")})});
  }
  // The next that can be claimed, also if the engine is still about to add it.
  ClaimedExecution next_claim() {
    auto waiting = start(claim_by("w1", wake_up_max));
    return woken(waiting);
  }
  std::map<std::string, ClaimedExecution> next_items(std::size_t count) {
    std::map<std::string, ClaimedExecution> items;
    while (items.size() < count) {
      auto claimed = next_claim();
      items.emplace(claimed.node->str(), std::move(claimed));
    }
    return items;
  }
  std::string node_of(const ClaimedExecution& claimed) { return claimed.node->str(); }
  void complete_with(const ClaimedExecution& claimed, std::string json) {
    auto report = complete(claimed, std::move(json));
    report.content_type = *ContentType::parse("application/json");
    must(run(std::move(report)));
  }
  // Of the node before, as `join` reads it.
  std::string pages_in(const ClaimedExecution& join) {
    return must(run(GetInputs{.id = join.id})).inputs.at(0).result;
  }
};

// ---- Nodes that a node spawns --------------------------------------------------------------------

TEST_P(FlowGrowthConformance, SpawnedNodesComeWithTheEndOfTheirSpawner) {
  const auto grown = submit_flow({node("a")});
  const auto report = spawning(claim_node(grown, "a"), {node("x"), node("y", {dependency("x")})});
  EXPECT_EQ(must(run(Complete(report))).state, ExecutionState::completed);
  EXPECT_EQ(states(grown), "a=completed x=waiting y=waiting_children");
  EXPECT_EQ(flow(grown).revision, grown.revision + 1);
  EXPECT_EQ(flow(grown).state, FlowState::running);

  // Told once more, because the reply was lost.
  EXPECT_EQ(must(run(Complete(report))).state, ExecutionState::completed);
  EXPECT_EQ(flow(grown).counts.nodes, 3u);
  complete_node(grown, "x");
  complete_node(grown, "y");
  EXPECT_EQ(flow(grown).state, FlowState::completed);
  EXPECT_EQ(flow(grown).counts, (NodeCounts{.nodes = 3, .completed = 3}));
}

TEST_P(FlowGrowthConformance, ASpawnThatIsRefusedChangesNothing) {
  const auto grown = submit_flow({node("a")});
  const auto claimed = claim_node(grown, "a");
  EXPECT_EQ(error_of(spawning(claimed, {node("x", {dependency("nobody")})})), Errc::node_not_found);
  EXPECT_EQ(error_of(spawning(claimed, {node("x"), node("x")})), Errc::invalid_input);
  EXPECT_EQ(states(grown), "a=active");
  must(run(complete(claimed)));
  EXPECT_EQ(flow(grown).state, FlowState::completed);
}

TEST_P(FlowGrowthConformance, OnlyANodeOfAFlowCanSpawn) {
  submit();
  EXPECT_EQ(error_of(spawning(claim(), {node("x")})), Errc::invalid_input);
}

TEST_P(FlowGrowthConformance, ASpawnerThatRunsAgainDecidesAnew) {
  const auto grown = submit_flow({node("a")});
  auto x = node("x");
  must(run(spawning(claim_node(grown, "a"), {x, node("z")})));
  complete_node(grown, "x");
  complete_node(grown, "z");
  must(run(RedriveFlow{.id = grown.id, .from = node_name("a")}));
  EXPECT_EQ(states(grown), "a=waiting x=waiting_children z=waiting_children");
  x.payload = "another";
  must(run(spawning(claim_node(grown, "a"), {x})));
  EXPECT_EQ(states(grown), "a=completed x=waiting z=skipped");
  EXPECT_EQ(payload_of(grown, "x"), "another");
  complete_node(grown, "x");
  EXPECT_EQ(flow(grown).state, FlowState::completed);
}

TEST_P(FlowGrowthConformance, NodesThatDependOnWhatHasFailedAreSkippedAtOnce) {
  const auto grown = submit_flow({node("a"), node("b")});
  fail_node(grown, "b");
  must(run(
      spawning(claim_node(grown, "a"), {node("x", {dependency("b")}), node("y", {dependency("x")}),
                                        node("z", {dependency("b", DependsOn::failed)})})));
  EXPECT_EQ(states(grown), "a=completed b=failed x=skipped y=skipped z=waiting");
}

TEST_P(FlowGrowthConformance, NodesSpawnedIntoAFlowThatStopsAreCancelled) {
  const auto grown = submit_flow({node("a"), node("b")});
  const auto running = claim_node(grown, "a");
  must(run(CancelFlow{.id = grown.id, .policy = CancelPolicy::cancel_pending}));
  must(run(spawning(running, {node("x")})));
  EXPECT_EQ(states(grown), "a=completed b=cancelled x=cancelled");
  EXPECT_EQ(flow(grown).state, FlowState::cancelled);
  EXPECT_TRUE(flow(grown).ended_at);
}

// ---- Children ------------------------------------------------------------------------------------

TEST_P(FlowGrowthConformance, AParentGoesOnWhenItsChildrenHaveEnded) {
  const auto grown = submit_flow({node("p"), node("after", {dependency("p")})});
  const auto first = claim_node(grown, "p");
  const auto report = waiting_for(first, {node("c1"), node("c2", {dependency("c1")})});
  EXPECT_EQ(must(run(WaitForChildren(report))).state, ExecutionState::waiting_children);
  EXPECT_EQ(must(run(WaitForChildren(report))).state, ExecutionState::waiting_children);
  EXPECT_EQ(states(grown),
            "p=waiting_children after=waiting_children c1=waiting c2=waiting_children");
  complete_node(grown, "c1", "one");
  EXPECT_EQ(info(first.id).state, ExecutionState::waiting_children);
  fail_node(grown, "c2");
  EXPECT_EQ(info(first.id).state, ExecutionState::waiting);

  const auto again = claim_node(grown, "p");
  EXPECT_TRUE(again.resumed);
  EXPECT_EQ(again.attempt_index, first.attempt_index);
  const auto inputs = must(run(GetInputs{.id = again.id})).inputs;
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].node.str(), "c1");
  EXPECT_EQ(inputs[0].result, "one");
  EXPECT_EQ(inputs[1].state, ExecutionState::failed);
  must(run(complete(again)));
  EXPECT_EQ(info(id_of(grown, "after")).state, ExecutionState::waiting);
}

TEST_P(FlowGrowthConformance, TheEndOfTheLastChildWakesAWorker) {
  const auto grown = submit_flow({node("p")});
  const auto parent = claim_node(grown, "p");
  must(run(waiting_for(parent, {node("c")})));
  const auto child = claim_node(grown, "c");
  auto waiting = start(claim_by("w2", wake_up_max));
  await_waiting_claims(1);
  must(run(complete(child)));
  EXPECT_EQ(woken(waiting).id, parent.id);
}

TEST_P(FlowGrowthConformance, ChildrenDependOnNothingButEachOther) {
  const auto grown = submit_flow({node("p"), node("q")});
  const auto claimed = claim_node(grown, "p");
  EXPECT_EQ(error_of(waiting_for(claimed, {node("c", {dependency("p")})})), Errc::node_not_found);
  EXPECT_EQ(error_of(waiting_for(claimed, {node("c", {dependency("q")})})), Errc::node_not_found);
  EXPECT_EQ(error_of(waiting_for(claimed, {node("q")})), Errc::invalid_input);
  EXPECT_EQ(error_of(waiting_for(claimed, {node("p")})), Errc::invalid_input);
  EXPECT_EQ(info(claimed.id).state, ExecutionState::active);
}

TEST_P(FlowGrowthConformance, AChildThatRunsAgainLetsItsParentRunAgain) {
  const auto grown = submit_flow({node("p")});
  must(run(waiting_for(claim_node(grown, "p"), {node("c")})));
  complete_node(grown, "c");
  complete_node(grown, "p");
  EXPECT_EQ(flow(grown).state, FlowState::completed);
  must(run(RedriveFlow{.id = grown.id, .from = node_name("c")}));
  EXPECT_EQ(states(grown), "p=waiting_children c=waiting");
  complete_node(grown, "c");
  EXPECT_EQ(states(grown), "p=waiting c=completed");
}

TEST_P(FlowGrowthConformance, AParentThatWantsAChildOnceMoreStaysInItsAttempt) {
  const auto grown = submit_flow({node("p")});
  const auto first = claim_node(grown, "p");
  auto c = node("c");
  must(run(waiting_for(first, {c})));
  complete_node(grown, "c");
  const auto second = claim_node(grown, "p");
  c.payload = "another";
  EXPECT_EQ(must(run(waiting_for(second, {c}))).state, ExecutionState::waiting_children);
  EXPECT_EQ(states(grown), "p=waiting_children c=waiting");
  complete_node(grown, "c");
  const auto third = claim_node(grown, "p");
  EXPECT_TRUE(third.resumed);
  EXPECT_EQ(third.attempt_index, first.attempt_index);
  // All of them have ended.
  EXPECT_EQ(must(run(waiting_for(third, {c}))).state, ExecutionState::waiting);
}

TEST_P(FlowGrowthConformance, AChildWithManyNodesAfterItStaysAChild) {
  const auto grown = submit_flow({node("p")});
  std::vector<FlowNode> children{node("c")};
  for (int i = 0; i < 101; ++i)
    children.push_back(node(fmt::format("d{}", i).c_str(), {dependency("c")}));
  must(run(waiting_for(claim_node(grown, "p"), children)));
  fail_node(grown, "c");
  const auto again = next_claim();
  EXPECT_EQ(again.node, node_name("p"));
  EXPECT_EQ(must(run(waiting_for(again, children))).state, ExecutionState::waiting);
}

TEST_P(FlowGrowthConformance, AParentWithAnotherPayloadRunsFromTheStart) {
  const auto grown = submit_flow({node("p")});
  must(run(waiting_for(claim_node(grown, "p"), {node("c")})));
  auto p = node("p");
  p.payload = "another";
  must(run(ExtendFlow{.id = grown.id, .nodes = {p}}));
  complete_node(grown, "c");
  const auto again = claim_node(grown, "p");
  EXPECT_FALSE(again.resumed);
  EXPECT_EQ(again.payload, "another");
}

TEST_P(FlowGrowthConformance, AWorkerCannotReplaceTheNodesOfOthers) {
  const auto grown = submit_flow({node("a"), node("b")});
  auto b = node("b");
  b.payload = "another";
  EXPECT_EQ(error_of(spawning(claim_node(grown, "a"), {b})), Errc::invalid_input);
  EXPECT_EQ(payload_of(grown, "b"), "b");
}

// ---- Nodes that others add -----------------------------------------------------------------------

TEST_P(FlowGrowthConformance, ARunningFlowCanBeExtended) {
  const auto grown = submit_flow({node("a"), node("b"), node("rest")});
  complete_node(grown, "a");
  fail_node(grown, "b");
  must(run(ExtendFlow{.id = grown.id,
                      .nodes = {node("x", {dependency("a")}), node("y", {dependency("b")}),
                                node("z", {dependency("rest"), dependency("x")})}}));
  EXPECT_EQ(states(grown),
            "a=completed b=failed rest=waiting x=waiting y=skipped z=waiting_children");
  complete_node(grown, "x");
  complete_node(grown, "rest");
  EXPECT_EQ(info(id_of(grown, "z")).state, ExecutionState::waiting);
}

TEST_P(FlowGrowthConformance, NodesAddedWhileBuildingKnowWhichNodesBeforeThemHaveEnded) {
  const auto grown = submit_flow({.nodes = {node("a"), node("b")}, .building = true});
  must(run(Cancel{.id = id_of(grown, "a")}));
  must(run(ExtendFlow{
      .id = grown.id,
      .nodes = {node("x", {dependency("a")}), node("y", {dependency("a", DependsOn::failed)}),
                node("z", {dependency("b")})}}));
  must(run(SealFlow{grown.id}));
  EXPECT_EQ(states(grown), "a=cancelled b=waiting x=skipped y=waiting z=waiting_children");
}

TEST_P(FlowGrowthConformance, AnAddedRaceSparesANodeThatAnotherAddedNodeWaitsFor) {
  const auto grown = submit_flow({node("a"), node("b"), node("c")});
  complete_node(grown, "a");
  auto first = node("first", {dependency("a"), dependency("b"), dependency("c")});
  first.needed = 1;
  first.rest = RestAction::cancel;
  must(run(ExtendFlow{.id = grown.id, .nodes = {first, node("other", {dependency("b")})}}));
  EXPECT_EQ(states(grown),
            "a=completed b=waiting c=cancelled first=waiting other=waiting_children");
}

TEST_P(FlowGrowthConformance, ANodeThatIsAddedAgainRunsAgainOnlyWithAnotherPayload) {
  const auto grown = submit_flow({node("a"), node("rest")});
  complete_node(grown, "a");
  auto a = node("a");
  must(run(ExtendFlow{.id = grown.id, .nodes = {a}}));
  EXPECT_EQ(states(grown), "a=completed rest=waiting");
  EXPECT_EQ(flow(grown).revision, grown.revision);
  a.payload = "another";
  must(run(ExtendFlow{.id = grown.id, .nodes = {a}}));
  EXPECT_EQ(states(grown), "a=waiting rest=waiting");
  EXPECT_EQ(payload_of(grown, "a"), "another");
}

TEST_P(FlowGrowthConformance, AFlowThatHasEndedCannotBeExtended) {
  const auto ended = submit_flow({node("a")});
  complete_node(ended, "a");
  EXPECT_EQ(error_of(ExtendFlow{.id = ended.id, .nodes = {node("x")}}),
            Errc::flow_already_terminal);
}

TEST_P(FlowGrowthConformance, ACallAddsALimitedNumberOfDependencies) {
  const auto nodes_with = [](std::size_t edges) {
    std::vector<FlowNode> nodes{node("base")};
    constexpr std::size_t edges_of_node = 5'000;
    for (std::size_t left = edges; left > 0; left -= std::min(left, edges_of_node))
      nodes.push_back(node(fmt::format("n{}", nodes.size()).c_str(),
                           std::vector(std::min(left, edges_of_node), dependency("base"))));
    return nodes;
  };
  const auto too_many = nodes_with(limits::flow_call_edges_max + 1);
  const auto grown = submit_flow({node("spawner"), node("parent")});
  EXPECT_EQ(refused(SubmitFlow{.nodes = too_many}), "flow_limit_exceeded nodes");
  EXPECT_EQ(refused(ExtendFlow{.id = grown.id, .nodes = too_many}), "flow_limit_exceeded nodes");
  EXPECT_EQ(refused(spawning(claim_node(grown, "spawner"), too_many)), "flow_limit_exceeded spawn");
  EXPECT_EQ(refused(waiting_for(claim_node(grown, "parent"), too_many)),
            "flow_limit_exceeded children");
  EXPECT_EQ(refused(ExtendFlow{.id = grown.id, .nodes = nodes_with(limits::flow_call_edges_max)}),
            "accepted");
}

// ---- Lists ---------------------------------------------------------------------------------------

TEST_P(FlowGrowthConformance, ANodeRunsOnceForEachEntryOfAList) {
  const auto mapped = submit_map();
  complete_json(mapped, "list", R"([ "a", {"b": [1, 2]} ])");
  auto items = next_items(2);
  EXPECT_EQ(items["pages.0"].payload, R"("a")");
  EXPECT_EQ(items["pages.1"].payload, R"({"b": [1, 2]})");
  complete_with(items["pages.1"], "22");
  complete_with(items["pages.0"], R"({"one":1})");
  const auto join = next_claim();
  EXPECT_EQ(node_of(join), "join");
  EXPECT_EQ(pages_in(join), R"([{"one":1},22])");
  must(run(complete(join)));
  EXPECT_EQ(flow(mapped).state, FlowState::completed);
  EXPECT_EQ(flow(mapped).counts, (NodeCounts{.nodes = 5, .completed = 5}));
}

TEST_P(FlowGrowthConformance, AnEmptyListCompletesWithAnEmptyList) {
  const auto mapped = submit_map();
  complete_json(mapped, "list", "[]");
  EXPECT_EQ(pages_in(next_claim()), "[]");
}

TEST_P(FlowGrowthConformance, AResultThatIsNotAListFailsTheNode) {
  const auto mapped = submit_map();
  complete_json(mapped, "list", R"({"not": "a list"})");
  const auto ended = must(run(GetFlow{.id = mapped.id, .wait = wake_up_max}));
  EXPECT_EQ(ended.state, FlowState::failed);
  EXPECT_EQ(states(mapped), "list=completed pages=failed join=skipped");
}

TEST_P(FlowGrowthConformance, OnlySoManyItemsRunAtATime) {
  const auto mapped = submit_map({.input = node_name("list"), .max_parallel = 2});
  complete_json(mapped, "list", "[0,1,2,3]");
  auto items = next_items(2);
  EXPECT_EQ(claimable(), 0u);
  must(run(complete(items.at("pages.0"))));
  EXPECT_EQ(node_of(next_claim()), "pages.2");
  EXPECT_EQ(claimable(), 0u);
  must(run(failure(items.at("pages.1"), "broke", "permanent")));
  EXPECT_EQ(node_of(next_claim()), "pages.3");
}

TEST_P(FlowGrowthConformance, AListThatCannotBeReadSaysWhy) {
  const auto reason_for = [&](std::string list) {
    const auto mapped = submit_map();
    complete_json(mapped, "list", std::move(list));
    must(run(GetFlow{.id = mapped.id, .wait = wake_up_max}));
    return must(run(GetExecution{id_of(mapped, "pages")})).failure_reason.value_or("none");
  };
  EXPECT_EQ(reason_for("{}"), "the result of list is not a JSON list");
  EXPECT_EQ(reason_for(std::string(100, '[') + std::string(100, ']')),
            "the result of list is nested deeper than the 32 levels that are allowed");
  EXPECT_THAT(reason_for(R"(["\ud800"])"),
              ::testing::StartsWith("the result of list is not valid JSON: "));
  EXPECT_THAT(reason_for("[1,"), ::testing::StartsWith("the result of list is not valid JSON: "));
}

TEST_P(FlowGrowthConformance, ToleratedFailuresAreNullsInTheList) {
  const auto mapped = submit_map({.input = node_name("list"), .tolerated_failures = 1});
  complete_json(mapped, "list", "[0,1]");
  auto items = next_items(2);
  must(run(failure(items.at("pages.0"), "broke", "permanent")));
  complete_with(items.at("pages.1"), "7");
  EXPECT_EQ(pages_in(next_claim()), "[null,7]");
}

TEST_P(FlowGrowthConformance, ARedriveRunsOnlyTheItemsThatFailed) {
  const auto mapped = submit_map();
  complete_json(mapped, "list", "[0,1]");
  auto items = next_items(2);
  must(run(failure(items.at("pages.0"), "broke", "permanent")));
  complete_with(items.at("pages.1"), "1");
  EXPECT_EQ(must(run(GetFlow{.id = mapped.id, .wait = wake_up_max})).state, FlowState::failed);
  EXPECT_EQ(states(mapped),
            "list=completed pages=failed join=skipped pages.0=failed pages.1=completed");
  must(run(RedriveFlow{.id = mapped.id}));
  const auto again = next_claim();
  EXPECT_EQ(node_of(again), "pages.0");
  complete_with(again, "0");
  EXPECT_EQ(pages_in(next_claim()), "[0,1]");
}

TEST_P(FlowGrowthConformance, AListThatChangedRunsWhatIsNew) {
  const auto mapped = submit_map();
  complete_json(mapped, "list", "[0,1]");
  auto items = next_items(2);
  complete_with(items.at("pages.0"), "10");
  complete_with(items.at("pages.1"), "11");
  must(run(complete(next_claim())));
  must(run(RedriveFlow{.id = mapped.id, .from = node_name("list")}));
  complete_json(mapped, "list", "[0,5]");
  const auto changed = next_claim();
  EXPECT_EQ(node_of(changed), "pages.1");
  EXPECT_EQ(changed.payload, "5");
  complete_with(changed, "15");
  EXPECT_EQ(pages_in(next_claim()), "[10,15]");
}

TEST_P(FlowGrowthConformance, AListThatChangesWhileItsItemsRunIsReadAgain) {
  const auto mapped = submit_map();
  complete_json(mapped, "list", "[0,1]");
  auto items = next_items(2);
  complete_with(items.at("pages.0"), "10");
  must(run(RedriveFlow{.id = mapped.id, .from = node_name("list")}));
  complete_json(mapped, "list", "[0,5]");
  const auto changed = next_claim();
  EXPECT_EQ(changed.payload, "5");
  complete_with(changed, "15");
  EXPECT_EQ(pages_in(next_claim()), "[10,15]");
}

TEST_P(FlowGrowthConformance, ARedriveOfAFlowThatStoppedRunsTheItemThatFailed) {
  auto pages = node("pages", {dependency("list")});
  pages.payload.clear();
  pages.map = MapOver{.input = node_name("list")};
  const auto mapped =
      submit_flow(SubmitFlow{.nodes = {node("list"), pages}, .on_failure = FlowFailure::stop});
  std::string list = "[0";
  constexpr std::uint32_t count = 130;
  for (std::uint32_t i = 1; i < count; ++i) list += fmt::format(",{}", i);
  complete_json(mapped, "list", list + "]");
  const auto items = next_items(count);
  for (const auto& [name, item] : items)
    if (name == "pages.129")
      must(run(failure(item, "broke", "permanent")));
    else
      complete_with(item, "1");
  EXPECT_EQ(must(run(GetFlow{.id = mapped.id, .wait = wake_up_max})).state, FlowState::failed);
  must(run(RedriveFlow{.id = mapped.id}));
  const auto again = next_claim();
  EXPECT_EQ(node_of(again), "pages.129");
  complete_with(again, "1");
  EXPECT_EQ(must(run(GetFlow{.id = mapped.id, .wait = wake_up_max})).state, FlowState::completed);
}

TEST_P(FlowGrowthConformance, AReplayOfANodeWithAListReadsTheListAgain) {
  const auto mapped = submit_map();
  complete_json(mapped, "list", "[0]");
  complete_with(next_claim(), "10");
  must(run(complete(next_claim())));
  must(run(Replay{.id = id_of(mapped, "pages")}));
  const auto join = next_claim();
  EXPECT_EQ(node_of(join), "join") << "the item has ended, and its entry is the same";
  EXPECT_EQ(pages_in(join), "[10]");
}

TEST_P(FlowGrowthConformance, LongListsAreAddedInSlices) {
  const auto mapped = submit_map();
  std::string list = "[0";
  constexpr std::uint32_t count = 1'500;
  for (std::uint32_t i = 1; i < count; ++i) list += fmt::format(",{}", i);
  complete_json(mapped, "list", list + "]");
  for (std::uint32_t done = 0; done < count;) {
    auto claimed = claim_many(100);
    if (claimed.empty()) claimed.push_back(next_claim());
    for (const auto& each : claimed) must(run(complete(each)));
    done += static_cast<std::uint32_t>(claimed.size());
  }
  EXPECT_EQ(node_of(next_claim()), "join");
  EXPECT_EQ(flow(mapped).counts.completed, count + 2);
}

// More items than a node can have dependencies when it is submitted.
TEST_P(FlowGrowthConformance, ADryRunFollowsTheLastOfManyItems) {
  const auto& home = GetParam().name;
  if (home != "Embedded" && home != "Valkey") GTEST_SKIP() << "takes long, and is the same there";
  constexpr std::uint32_t count = limits::node_dependencies_max + 5;
  const auto mapped = submit_map();
  std::string list = "[0";
  for (std::uint32_t i = 1; i < count; ++i) list += ",0";
  complete_json(mapped, "list", list + "]");
  test::await(
      "all items", [&] { return flow(mapped).counts.nodes == count + 3; }, 120s);
  const auto last = must(run(ListFlowNodes{.id = mapped.id, .from = count + 2})).nodes.at(0);
  must(run(Cancel{.id = last.id}));
  const auto dry = must(run(RedriveFlow{.id = mapped.id, .dry_run = true}));
  EXPECT_THAT(dry.nodes, ElementsAre(node_name("pages"), node_name("join"), last.name));
}

TEST_P(FlowGrowthConformance, ARedriveFromTheListRunsTheItemsThatDidNotComplete) {
  const auto mapped = submit_map();
  complete_json(mapped, "list", "[0,1,2]");
  auto items = next_items(3);
  must(run(failure(items.at("pages.0"), "broke", "permanent")));
  must(run(Cancel{.id = items.at("pages.1").id, .reason = "why"}));
  complete_with(items.at("pages.2"), "12");
  EXPECT_EQ(must(run(GetFlow{.id = mapped.id, .wait = wake_up_max})).state, FlowState::failed);
  must(run(RedriveFlow{.id = mapped.id, .from = node_name("list")}));
  complete_json(mapped, "list", "[0,1,2]");
  auto again = next_items(2);
  complete_with(again.at("pages.0"), "10");
  complete_with(again.at("pages.1"), "11");
  EXPECT_EQ(pages_in(next_claim()), "[10,11,12]");
}

TEST_P(FlowGrowthConformance, ANewNodeCannotHaveTheNameOfAnItem) {
  const auto mapped =
      submit_flow({node("list"), pages_node(), node("spawner"), node("parent"), node("other")});
  EXPECT_EQ(refused(ExtendFlow{.id = mapped.id, .nodes = {node("x"), node("pages.0")}}),
            "invalid_input nodes[1].name");
  EXPECT_EQ(refused(Submit{.kind = greet, .flow = mapped.id, .node = node_name("pages.1")}),
            "invalid_input name");
  EXPECT_EQ(refused(spawning(claim_node(mapped, "spawner"), {node("pages.2")})),
            "invalid_input spawn[0].name");
  EXPECT_EQ(refused(waiting_for(claim_node(mapped, "parent"), {node("pages.17")})),
            "invalid_input children[0].name");
  EXPECT_EQ(refused(ExtendFlow{.id = mapped.id, .nodes = {node("other.0"), node("pages.x")}}),
            "accepted");
}

TEST_P(FlowGrowthConformance, AListCannotBeAddedBesideANodeWithTheNameOfItsItem) {
  const auto grown = submit_flow({node("list"), node("spawner"), node("pages.0")});
  EXPECT_EQ(refused(ExtendFlow{.id = grown.id, .nodes = {pages_node()}}),
            "invalid_input nodes[0].name");
  EXPECT_EQ(refused(spawning(claim_node(grown, "spawner"), {pages_node()})),
            "invalid_input spawn[0].name");
}

TEST_P(FlowGrowthConformance, AListFailsIfTheNameOfAnItemIsTaken) {
  const auto grown = submit_flow({node("list"), node("pages.1")});
  must(run(ExtendFlow{.id = grown.id, .nodes = {pages_node()}}));
  complete_node(grown, "pages.1");
  complete_json(grown, "list", "[0,1]");
  EXPECT_EQ(must(run(GetFlow{.id = grown.id, .wait = wake_up_max})).state, FlowState::failed);
  EXPECT_EQ(states(grown), "list=completed pages.1=completed pages=failed");
  EXPECT_EQ(payload_of(grown, "pages.1"), "pages.1");
  EXPECT_EQ(
      must(run(GetExecution{id_of(grown, "pages")})).failure_reason,
      "the name pages.1 of an item of pages is taken: the flow has another node of that name; "
      "submit the flow again with another name for it");
}

// The node before it is not its item either.
TEST_P(FlowGrowthConformance, AListFailsIfItDependsOnANodeWithTheNameOfAnItem) {
  auto pages = pages_node();
  pages.after.push_back(dependency("pages.1"));
  const auto grown = submit_flow({node("list"), node("pages.1")});
  must(run(ExtendFlow{.id = grown.id, .nodes = {pages}}));
  complete_node(grown, "pages.1");
  complete_json(grown, "list", "[0,1]");
  EXPECT_EQ(must(run(GetFlow{.id = grown.id, .wait = wake_up_max})).state, FlowState::failed);
  EXPECT_EQ(states(grown), "list=completed pages.1=completed pages=failed");
}

TEST_P(FlowGrowthConformance, AMapThatCannotRunIsRefused) {
  auto pages = node("pages", {dependency("list")});
  pages.map = MapOver{.input = node_name("list")};
  EXPECT_EQ(error_of(SubmitFlow{.nodes = {node("list"), pages}}),
            Errc::invalid_input);  // a payload
  pages.payload.clear();
  pages.map->input = node_name("other");
  EXPECT_EQ(error_of(SubmitFlow{.nodes = {node("list"), pages}}), Errc::invalid_input);
  pages.map = MapOver{.input = node_name("list")};
  EXPECT_EQ(error_of(SubmitFlow{.nodes = {node("list"), pages, node("pages.7")}}),
            Errc::invalid_input);
  pages.map = MapOver{.input = node_name("list"), .max_parallel = 0};
  EXPECT_EQ(error_of(SubmitFlow{.nodes = {node("list"), pages}}), Errc::invalid_input);
}

INSTANTIATE_TEST_SUITE_P(, FlowGrowthConformance, ::testing::ValuesIn(home_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ff::conformance
