// Flows: graphs of executions.
#include "tests/conformance/flows/flow_fixture.hpp"

namespace ff::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ---- Order ---------------------------------------------------------------------------------------

TEST_P(FlowConformance, OnlyNodesWithoutDependenciesCanBeClaimedAtFirst) {
  const auto chain = submit_flow({node("a"), node("b", {dependency("a")}),
                                  node("c", {dependency("b")})});
  EXPECT_EQ(states(chain), "a=waiting b=waiting_children c=waiting_children");
  const auto claimed = claim_many(10);
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed[0].id, id_of(chain, "a"));
}

TEST_P(FlowConformance, ANodeCanBeClaimedTheMomentItsLastDependencyEnds) {
  const auto diamond =
      submit_flow({node("a"), node("b", {dependency("a")}), node("c", {dependency("a")}),
                   node("d", {dependency("b"), dependency("c")})});
  complete_node(diamond, "a");
  EXPECT_EQ(states(diamond), "a=completed b=waiting c=waiting d=waiting_children");
  complete_node(diamond, "b");
  EXPECT_EQ(states(diamond), "a=completed b=completed c=waiting d=waiting_children");
  complete_node(diamond, "c");
  EXPECT_EQ(states(diamond), "a=completed b=completed c=completed d=waiting");
  complete_node(diamond, "d");
  const auto ended = flow(diamond);
  EXPECT_EQ(ended.state, FlowState::completed);
  EXPECT_TRUE(ended.ended_at);
  EXPECT_EQ(ended.counts, (NodeCounts{.nodes = 4, .completed = 4}));
  EXPECT_EQ(ended.edges, 4u);
}

TEST_P(FlowConformance, AWaitingClaimIsWokenByTheEndOfADependency) {
  const auto chain = submit_flow({node("a"), node("b", {dependency("a")})});
  const auto first = claim();
  auto waiting = start(claim_by("w2", wake_up_max));
  await_waiting_claims(1);
  must(run(complete(first)));
  EXPECT_EQ(woken(waiting).id, id_of(chain, "b"));
}

TEST_P(FlowConformance, ABlockedNodeCannotBeClaimedByItsId) {
  const auto chain = submit_flow({node("a"), node("b", {dependency("a")})});
  EXPECT_EQ(error_of(claim_of(id_of(chain, "b"))), Errc::execution_not_leaseable);
}

TEST_P(FlowConformance, ADelayCountsAfterTheDependencies) {
  auto later = node("b", {dependency("a")});
  later.delay_until = now() + 60s;
  const auto chain = submit_flow({node("a"), later});
  complete_node(chain, "a");
  EXPECT_EQ(states(chain), "a=completed b=delayed");
  pass(60s);
  EXPECT_EQ(states(chain), "a=completed b=waiting");
}

TEST_P(FlowConformance, TheEndOfAFlowWakesItsWaiters) {
  const auto one = submit_flow({node("a")});
  auto waiting = start(GetFlow{.id = one.id, .wait = wake_up_max});
  complete_node(one, "a");
  EXPECT_EQ(must(waiting.get()).state, FlowState::completed);
}

// ---- Failure -------------------------------------------------------------------------------------

TEST_P(FlowConformance, NodesAfterAFailureAreSkippedAndOthersGoOn) {
  const auto two = submit_flow({node("a"), node("b", {dependency("a")}),
                                node("c", {dependency("b")}), node("x")});
  fail_node(two, "a");
  EXPECT_EQ(states(two), "a=failed b=skipped c=skipped x=waiting");
  EXPECT_EQ(flow(two).state, FlowState::running);
  complete_node(two, "x");
  const auto ended = flow(two);
  EXPECT_EQ(ended.state, FlowState::failed);
  EXPECT_EQ(ended.reason, "node a failed");
  EXPECT_EQ(ended.counts, (NodeCounts{.nodes = 4, .completed = 1, .failed = 1, .skipped = 2}));
}

TEST_P(FlowConformance, AFailureThatIsRetriedSkipsNothing) {
  auto again = node("a");
  again.policy.retry = RetryPolicy{.max_retries = 1, .backoff = FixedBackoff{1s}};
  const auto chain = submit_flow({again, node("b", {dependency("a")})});
  must(run(failure(claim_node(chain, "a"))));
  EXPECT_EQ(states(chain), "a=delayed b=waiting_children");
  pass(1s);
  complete_node(chain, "a");
  EXPECT_EQ(states(chain), "a=completed b=waiting");
}

TEST_P(FlowConformance, StopCancelsTheRestButFinalizersRun) {
  const auto stopping = submit_flow(
      SubmitFlow{.nodes = {node("a"), node("b"), node("c", {dependency("b")}),
                           node("undo", {dependency("a", DependsOn::failed)}),
                           node("last", {dependency("b", DependsOn::finished)})},
                 .on_failure = FlowFailure::stop});
  fail_node(stopping, "a");
  EXPECT_EQ(states(stopping), "a=failed b=cancelled c=cancelled undo=waiting last=waiting");
  complete_node(stopping, "undo");
  complete_node(stopping, "last");
  EXPECT_EQ(flow(stopping).state, FlowState::failed);
}

TEST_P(FlowConformance, ANodeThatWaitsForAFailureIsSkippedBySuccess) {
  const auto two = submit_flow({node("a"), node("undo", {dependency("a", DependsOn::failed)})});
  complete_node(two, "a");
  EXPECT_EQ(states(two), "a=completed undo=skipped");
  EXPECT_EQ(flow(two).state, FlowState::completed);
}

TEST_P(FlowConformance, AFailureOfAnOptionalNodeDoesNotFailTheFlow) {
  auto may_fail = node("a");
  may_fail.optional = true;
  const auto two = submit_flow({may_fail, node("b", {dependency("a", DependsOn::finished)})});
  fail_node(two, "a");
  complete_node(two, "b");
  EXPECT_EQ(flow(two).state, FlowState::completed);
}

TEST_P(FlowConformance, AnExpiredNodeCountsAsFailed) {
  auto slow = node("a");
  slow.policy.execution_deadline = 10s;
  const auto two = submit_flow({slow, node("b", {dependency("a")})});
  pass(10s);
  EXPECT_EQ(states(two), "a=expired b=skipped");
  EXPECT_EQ(flow(two).state, FlowState::failed);
}

// ---- Some of many --------------------------------------------------------------------------------

TEST_P(FlowConformance, AnyOfSeveralStartsANodeOnce) {
  auto first = node("d", {dependency("a"), dependency("b")});
  first.needed = 1;
  const auto race = submit_flow({node("a"), node("b"), first});
  complete_node(race, "b");
  EXPECT_EQ(states(race), "a=waiting b=completed d=waiting");
  complete_node(race, "d");
  complete_node(race, "a");
  EXPECT_EQ(states(race), "a=completed b=completed d=completed");
  EXPECT_EQ(flow(race).state, FlowState::completed);
}

TEST_P(FlowConformance, TheRestOfARaceIsCancelledUnlessAnotherNodeNeedsIt) {
  auto first = node("d", {dependency("a"), dependency("b"), dependency("c")});
  first.needed = 1;
  first.rest = RestAction::cancel;
  const auto race =
      submit_flow({node("a"), node("b"), node("c"), first, node("e", {dependency("c")})});
  complete_node(race, "b");
  EXPECT_EQ(states(race), "a=cancelled b=completed c=waiting d=waiting e=waiting_children");
  complete_node(race, "c");
  complete_node(race, "d");
  complete_node(race, "e");
  EXPECT_EQ(flow(race).state, FlowState::completed);
}

TEST_P(FlowConformance, AQuorumThatCannotBeReachedSkips) {
  auto two_of_three = node("d", {dependency("a"), dependency("b"), dependency("c")});
  two_of_three.needed = 2;
  const auto vote = submit_flow({node("a"), node("b"), node("c"), two_of_three});
  fail_node(vote, "a");
  EXPECT_EQ(states(vote), "a=failed b=waiting c=waiting d=waiting_children");
  fail_node(vote, "b");
  EXPECT_EQ(states(vote), "a=failed b=failed c=waiting d=skipped");
}

// ---- Data ----------------------------------------------------------------------------------------

TEST_P(FlowConformance, ANodeReadsTheResultsOfTheNodesBeforeIt) {
  auto join = node("join", {dependency("a"), dependency("b"), dependency("c", DependsOn::finished)});
  join.after[0].input = node_name("page");
  join.after[1].input = node_name("page");
  const auto fan = submit_flow({node("a"), node("b"), node("c"), join});
  complete_node(fan, "b", "two");
  complete_node(fan, "a", std::string("o\0ne", 4));
  fail_node(fan, "c");
  const auto pages =
      must(run(GetInputs{.id = id_of(fan, "join"), .name = node_name("page")})).inputs;
  ASSERT_EQ(pages.size(), 2u);
  EXPECT_EQ(pages[0].result, std::string("o\0ne", 4));
  EXPECT_EQ(pages[0].node.str(), "a");
  EXPECT_EQ(pages[1].result, "two");
  const auto all = must(run(GetInputs{.id = id_of(fan, "join")})).inputs;
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].name.str(), "c");
  EXPECT_EQ(all[2].state, ExecutionState::failed);
  EXPECT_EQ(must(run(GetPayload{id_of(fan, "join")})).bytes, "join");
}

TEST_P(FlowConformance, AFlowNamesTheNodeWhoseResultIsItsOwn) {
  const auto two = submit_flow(SubmitFlow{.nodes = {node("a"), node("b", {dependency("a")})},
                                          .result = node_name("b")});
  ASSERT_TRUE(two.result);
  EXPECT_EQ(*two.result, id_of(two, "b"));
  EXPECT_EQ(info(*two.result).flow, two.id);
  EXPECT_EQ(info(*two.result).node, node_name("b"));
}

// ---- Submitting ----------------------------------------------------------------------------------

TEST_P(FlowConformance, SubmittingTheSameAgainChangesNothing) {
  const SubmitFlow same{.idempotency_key = *IdempotencyKey::parse("nightly"),
                        .nodes = {node("a"), node("b", {dependency("a")})}};
  const auto first = must(run(same));
  EXPECT_FALSE(first.duplicate);
  const auto again = must(run(same));
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.flow.id, first.flow.id);
  auto other = same;
  other.nodes[1].after.clear();
  EXPECT_EQ(error_of(other), Errc::duplicate_mismatch);
  EXPECT_EQ(must(run(ListFlows{})).flows.size(), 1u);
  EXPECT_EQ(claim_many(10).size(), 1u);
}

TEST_P(FlowConformance, ADryRunSubmitsNothing) {
  const auto reply = must(run(SubmitFlow{.nodes = {node("a")}, .dry_run = true}));
  EXPECT_EQ(reply.flow.counts.nodes, 1u);
  EXPECT_THAT(must(run(ListFlows{})).flows, IsEmpty());
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(FlowConformance, ADryRunTellsOfAnEarlierSubmit) {
  SubmitFlow same{.idempotency_key = *IdempotencyKey::parse("nightly"), .nodes = {node("a")}};
  const auto first = submit_flow(same);
  same.dry_run = true;
  const auto again = must(run(same));
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.flow.id, first.id);
  same.nodes.push_back(node("b"));
  EXPECT_EQ(error_of(same), Errc::duplicate_mismatch);
  same.idempotency_key = *IdempotencyKey::parse("another");
  EXPECT_FALSE(must(run(same)).duplicate);
  EXPECT_EQ(must(run(ListFlows{})).flows.size(), 1u);
}

TEST_P(FlowConformance, NothingIsToldOfAFlowOfAnotherNamespace) {
  const auto theirs = submit_flow({node("a")});
  SubmitFlow ours{.id = theirs.id, .ns = *Namespace::parse("ours"), .nodes = {node("a")}};
  EXPECT_EQ(error_of(ours), Errc::invalid_input);
  ours.dry_run = true;
  EXPECT_EQ(error_of(ours), Errc::invalid_input);
}

TEST_P(FlowConformance, GraphsThatCannotRunAreRefusedWithTheirPath) {
  const auto refused = [&](std::vector<FlowNode> nodes) {
    const auto reply = run(SubmitFlow{.nodes = std::move(nodes)});
    if (reply) return std::string("accepted");
    std::string field;
    for (const auto& detail : reply.error().details)
      if (detail.name == "field") field = detail.value;
    return fmt::format("{} {}", reply.error().name(), field);
  };
  auto too_many = node("b", {dependency("a")});
  too_many.needed = 2;
  auto no_race = node("b", {dependency("a")});
  no_race.rest = RestAction::cancel;
  EXPECT_EQ(refused({}), "invalid_input nodes");
  EXPECT_EQ(refused({node("a"), no_race}), "invalid_input nodes[1].rest");
  EXPECT_EQ(refused({node("a"), node("a")}), "invalid_input nodes[1].name");
  EXPECT_EQ(refused({node("a", {dependency("a")})}), "self_referencing_edge nodes[0].after[0]");
  EXPECT_EQ(refused({node("a", {dependency("x")})}), "node_not_found nodes[0].after[0]");
  EXPECT_EQ(refused({node("x"), node("a", {dependency("x"), dependency("c")}),
                     node("b", {dependency("a")}), node("c", {dependency("b")})}),
            "cycle_detected nodes[1].after[1]");
  EXPECT_EQ(refused({node("a"), too_many}), "invalid_input nodes[1].needed");
  EXPECT_THAT(must(run(ListFlows{})).flows, IsEmpty());
}

TEST_P(FlowConformance, AFlowIsBuiltInPartsAndStartsWhenItIsSealed) {
  const auto built = submit_flow(SubmitFlow{.nodes = {node("a")}, .building = true});
  EXPECT_EQ(built.state, FlowState::building);
  const ExtendFlow more{.id = built.id, .nodes = {node("b", {dependency("a")})}};
  EXPECT_EQ(must(run(more)).counts.nodes, 2u);
  EXPECT_EQ(must(run(more)).counts.nodes, 2u);
  EXPECT_EQ(error_of(ExtendFlow{.id = built.id, .nodes = {node("c", {dependency("x")})}}),
            Errc::node_not_found);
  EXPECT_EQ(claimable(), 0u);
  EXPECT_EQ(must(run(SealFlow{built.id})).state, FlowState::running);
  EXPECT_EQ(must(run(SealFlow{built.id})).state, FlowState::running);
  EXPECT_EQ(states(built), "a=waiting b=waiting_children");
}

TEST_P(FlowConformance, AFlowWithoutNodesCannotBeSealed) {
  const auto built = submit_flow(SubmitFlow{.nodes = {}, .building = true});
  EXPECT_EQ(error_of(SealFlow{built.id}), Errc::invalid_input);
  must(run(ExtendFlow{.id = built.id, .nodes = {node("a")}}));
  EXPECT_EQ(must(run(SealFlow{built.id})).state, FlowState::running);
}

TEST_P(FlowConformance, AFlowThatIsNotSealedInTimeExpires) {
  const auto built = submit_flow(SubmitFlow{.nodes = {node("a")}, .building = true});
  pass(30min);
  EXPECT_EQ(flow(built).state, FlowState::expired);
  EXPECT_EQ(states(built), "a=cancelled");
}

// ---- Operators -----------------------------------------------------------------------------------

TEST_P(FlowConformance, CancellingAFlowCancelsItsNodes) {
  const auto two = submit_flow({node("a"), node("b", {dependency("a")})});
  const auto running = claim();
  const auto reply = must(run(CancelFlow{.id = two.id, .reason = "wrong data"}));
  EXPECT_EQ(reply.flow.state, FlowState::cancelled);
  EXPECT_EQ(reply.scheduled, 0u);
  EXPECT_EQ(states(two), "a=cancelled b=cancelled");
  EXPECT_EQ(error_of(complete(running)), Errc::execution_not_active);
  const auto again =
      must(run(CancelFlow{.id = two.id, .reason = "x", .policy = CancelPolicy::flow_only}));
  EXPECT_EQ(again.policy, CancelPolicy::cancel_all);
  EXPECT_EQ(again.flow.reason, "wrong data");
}

TEST_P(FlowConformance, CancelPendingLetsRunningNodesFinish) {
  const auto three = submit_flow({node("a"), node("b"), node("c", {dependency("a")})});
  const auto running = claim_node(three, "a");
  must(run(CancelFlow{.id = three.id, .policy = CancelPolicy::cancel_pending}));
  EXPECT_EQ(states(three), "a=active b=cancelled c=cancelled");
  EXPECT_FALSE(flow(three).ended_at);
  must(run(complete(running)));
  EXPECT_EQ(states(three), "a=completed b=cancelled c=cancelled");
  EXPECT_TRUE(flow(three).ended_at);
  EXPECT_EQ(flow(three).state, FlowState::cancelled);
}

TEST_P(FlowConformance, ANodeThatBeganFinishesAlsoAfterItWasGivenBack) {
  const auto two = submit_flow({node("a"), node("b", {dependency("a")})});
  const auto running = claim_node(two, "a");
  must(run(CancelFlow{.id = two.id, .policy = CancelPolicy::cancel_pending}));
  must(run(HandBack{.id = running.id, .fence = running.fence}));
  complete_node(two, "a");
  EXPECT_EQ(states(two), "a=completed b=cancelled");
  EXPECT_TRUE(flow(two).ended_at);
}

TEST_P(FlowConformance, FlowOnlyLetsReadyNodesRunAndCancelsTheOthers) {
  const auto chain = submit_flow({node("a"), node("b", {dependency("a")})});
  must(run(CancelFlow{.id = chain.id, .policy = CancelPolicy::flow_only}));
  EXPECT_EQ(states(chain), "a=waiting b=cancelled");
  complete_node(chain, "a");
  EXPECT_EQ(states(chain), "a=completed b=cancelled");
  EXPECT_TRUE(flow(chain).ended_at);
}

TEST_P(FlowConformance, FlowOnlyStrandsNothingOfAPausedOrUnsealedFlow) {
  const auto paused = submit_flow({node("a"), node("b", {dependency("a")})});
  must(run(PauseFlow{.id = paused.id}));
  must(run(CancelFlow{.id = paused.id, .policy = CancelPolicy::flow_only}));
  EXPECT_EQ(states(paused), "a=waiting b=cancelled");
  complete_node(paused, "a");
  EXPECT_TRUE(flow(paused).ended_at);
  const auto built = submit_flow(SubmitFlow{.nodes = {node("a")}, .building = true});
  must(run(CancelFlow{.id = built.id, .policy = CancelPolicy::flow_only}));
  EXPECT_TRUE(flow(built).ended_at);
}

TEST_P(FlowConformance, ANodeOfAnUnsealedFlowCannotBeReplayed) {
  const auto built = submit_flow(SubmitFlow{.nodes = {node("a")}, .building = true});
  must(run(Cancel{.id = id_of(built, "a"), .reason = "why"}));
  EXPECT_EQ(error_of(Replay{.id = id_of(built, "a")}), Errc::flow_not_sealed);
  EXPECT_EQ(flow(built).state, FlowState::building);
}

TEST_P(FlowConformance, AFlowThatIsBeingBuiltIsToBeSealedFirst) {
  const auto built = submit_flow(SubmitFlow{.nodes = {node("a")}, .building = true});
  EXPECT_EQ(error_of(PauseFlow{.id = built.id}), Errc::flow_not_sealed);
  EXPECT_EQ(error_of(ResumeFlow{built.id}), Errc::flow_not_sealed);
  EXPECT_EQ(error_of(RedriveFlow{.id = built.id}), Errc::flow_not_sealed);
  EXPECT_EQ(flow(built).state, FlowState::building);
}

TEST_P(FlowConformance, AFlowThatEndedBeforeItWasSealedNeverRuns) {
  const SubmitFlow unsealed{.nodes = {node("a")}, .building = true};
  const auto cancelled = submit_flow(unsealed);
  must(run(CancelFlow{.id = cancelled.id}));
  const auto expired = submit_flow(unsealed);
  pass(30min);
  for (const auto& each : {cancelled, expired}) {
    EXPECT_EQ(error_of(RedriveFlow{.id = each.id}), Errc::flow_not_sealed);
    EXPECT_EQ(error_of(RedriveFlow{.id = each.id, .from = node_name("a")}), Errc::flow_not_sealed);
    EXPECT_EQ(error_of(Replay{.id = id_of(each, "a")}), Errc::flow_not_sealed);
    EXPECT_EQ(states(each), "a=cancelled");
  }
  const auto sealed = submit_flow(unsealed);
  must(run(SealFlow{sealed.id}));
  must(run(CancelFlow{.id = sealed.id}));
  EXPECT_EQ(must(run(RedriveFlow{.id = sealed.id})).flow.state, FlowState::running);
}

TEST_P(FlowConformance, ARedriveAfterTheDeadlineRunsWithoutOne) {
  const auto one = submit_flow(SubmitFlow{.nodes = {node("a")}, .deadline = now() + 60s});
  pass(60s);
  must(run(RedriveFlow{.id = one.id}));
  pass(60s);
  EXPECT_FALSE(flow(one).deadline);
  complete_node(one, "a");
  EXPECT_EQ(flow(one).state, FlowState::completed);
}

TEST_P(FlowConformance, APausedFlowStartsNothing) {
  const auto chain = submit_flow({node("a"), node("b", {dependency("a")}), node("c")});
  const auto running = claim_node(chain, "a");
  EXPECT_EQ(must(run(PauseFlow{.id = chain.id, .reason = "maintenance"})).state, FlowState::paused);
  EXPECT_EQ(claimable(), 0u);
  must(run(complete(running)));
  EXPECT_EQ(claimable(), 0u);
  EXPECT_EQ(must(run(ResumeFlow{chain.id})).state, FlowState::running);
  EXPECT_EQ(claim_many(10).size(), 2u);
}

TEST_P(FlowConformance, APauseShowsItsReasonAndLeavesThatOfAFailure) {
  const auto two = submit_flow({node("a"), node("b")});
  must(run(failure(claim_node(two, "a"), "broke", "permanent")));
  const auto reason = flow(two).reason;
  EXPECT_EQ(reason, "node a failed");
  must(run(PauseFlow{.id = two.id, .reason = "maintenance"}));
  EXPECT_EQ(flow(two).reason, "maintenance");
  EXPECT_EQ(must(run(ResumeFlow{two.id})).reason, reason);
  complete_node(two, "b");
  EXPECT_EQ(flow(two).state, FlowState::failed);
  EXPECT_EQ(flow(two).reason, reason);
}

TEST_P(FlowConformance, ANodeOfAPausedFlowTellsHowItGoesOn) {
  const auto one = submit_flow({node("a")});
  must(run(PauseFlow{.id = one.id}));
  const auto why = must(run(ExplainExecution{id_of(one, "a")}));
  std::vector<std::string> remedies;
  for (const auto& obstacle : why.obstacles) remedies.push_back(obstacle.remedy);
  EXPECT_THAT(remedies, ::testing::Contains("ff flow resume " + one.id.str()));
}

TEST_P(FlowConformance, AFlowPastItsDeadlineExpires) {
  const auto one = submit_flow(SubmitFlow{.nodes = {node("a")}, .deadline = now() + 60s});
  pass(60s);
  EXPECT_EQ(flow(one).state, FlowState::expired);
  EXPECT_EQ(states(one), "a=cancelled");
}

TEST_P(FlowConformance, ARedriveRunsFailedNodesAndThoseAfterThemAgain) {
  const auto chain = submit_flow({node("x"), node("a"), node("b", {dependency("a")})});
  complete_node(chain, "x", "kept");
  fail_node(chain, "a");
  EXPECT_EQ(flow(chain).state, FlowState::failed);
  const auto dry = must(run(RedriveFlow{.id = chain.id, .dry_run = true}));
  EXPECT_THAT(dry.nodes, ElementsAre(node_name("a"), node_name("b")));
  EXPECT_EQ(flow(chain).state, FlowState::failed);
  const auto again = must(run(RedriveFlow{.id = chain.id}));
  EXPECT_EQ(again.flow.state, FlowState::running);
  EXPECT_EQ(again.flow.generation, 1u);
  EXPECT_EQ(states(chain), "x=completed a=waiting b=waiting_children");
  complete_node(chain, "a");
  complete_node(chain, "b");
  EXPECT_EQ(flow(chain).state, FlowState::completed);
  EXPECT_EQ(flow(chain).counts, (NodeCounts{.nodes = 3, .completed = 3}));
  EXPECT_EQ(must(run(GetResult{.id = id_of(chain, "x")})).bytes, "kept");
}

TEST_P(FlowConformance, ARedriveLeavesTheRestOfARaceAlone) {
  auto first = node("first", {dependency("a"), dependency("b")});
  first.needed = 1;
  first.rest = RestAction::cancel;
  const auto race = submit_flow({node("a"), node("b"), first, node("x")});
  complete_node(race, "a");
  fail_node(race, "x");
  complete_node(race, "first");
  EXPECT_EQ(states(race), "a=completed b=cancelled first=completed x=failed");
  const auto dry = must(run(RedriveFlow{.id = race.id, .dry_run = true}));
  EXPECT_THAT(dry.nodes, ElementsAre(node_name("x")));
  EXPECT_THAT(must(run(RedriveFlow{.id = race.id})).nodes, ElementsAre(node_name("x")));
  EXPECT_EQ(states(race), "a=completed b=cancelled first=completed x=waiting");
}

TEST_P(FlowConformance, ARedriveFromANodeOfACompletedFlowFencesLateWorkersOut) {
  const auto chain = submit_flow({node("a"), node("b", {dependency("a")})});
  complete_node(chain, "a", "old");
  const auto late = claim_node(chain, "b");
  must(run(RedriveFlow{.id = chain.id, .from = node_name("a")}));
  EXPECT_EQ(states(chain), "a=waiting b=waiting_children");
  EXPECT_EQ(error_of(complete(late)), Errc::execution_not_active);
  complete_node(chain, "a", "new");
  const auto inputs = must(run(GetInputs{.id = id_of(chain, "b")})).inputs;
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].result, "new");
  complete_node(chain, "b");
  EXPECT_EQ(flow(chain).state, FlowState::completed);
}

TEST_P(FlowConformance, ReplayingANodeIsARedriveFromIt) {
  const auto chain = submit_flow({node("a"), node("b", {dependency("a")})});
  complete_node(chain, "a");
  complete_node(chain, "b");
  must(run(Replay{.id = id_of(chain, "a")}));
  EXPECT_EQ(states(chain), "a=waiting b=waiting_children");
  EXPECT_EQ(flow(chain).state, FlowState::running);
}

TEST_P(FlowConformance, ASkippedNodeIsReplayedFromItsCauseOnly) {
  const auto chain = submit_flow({node("a"), node("b", {dependency("a")})});
  fail_node(chain, "a");
  EXPECT_EQ(error_of(Replay{.id = id_of(chain, "b")}), Errc::execution_not_eligible);
}

TEST_P(FlowConformance, EveryOperationRefusesAnUnknownFlow) {
  const FlowId unknown{*Uuid::parse("01920000-0000-7000-8000-00000000abcd")};
  EXPECT_EQ(error_of(GetFlow{.id = unknown}), Errc::flow_not_found);
  EXPECT_EQ(error_of(ListFlowNodes{.id = unknown}), Errc::flow_not_found);
  EXPECT_EQ(error_of(SealFlow{unknown}), Errc::flow_not_found);
  EXPECT_EQ(error_of(PauseFlow{.id = unknown}), Errc::flow_not_found);
  EXPECT_EQ(error_of(ResumeFlow{unknown}), Errc::flow_not_found);
  EXPECT_EQ(error_of(CancelFlow{.id = unknown}), Errc::flow_not_found);
  EXPECT_EQ(error_of(RedriveFlow{.id = unknown}), Errc::flow_not_found);
  EXPECT_EQ(error_of(ExtendFlow{.id = unknown, .nodes = {node("a")}}), Errc::flow_not_found);
}

TEST_P(FlowConformance, AnEndedFlowRefusesWhatOnlyARunningOneCanDo) {
  const auto one = submit_flow({node("a")});
  complete_node(one, "a");
  EXPECT_EQ(error_of(PauseFlow{.id = one.id}), Errc::flow_already_terminal);
  EXPECT_EQ(error_of(ResumeFlow{one.id}), Errc::flow_already_terminal);
  EXPECT_EQ(error_of(CancelFlow{.id = one.id}), Errc::flow_already_terminal);
}

// ---- Size ----------------------------------------------------------------------------------------

TEST_P(FlowConformance, AWideFanIsResolvedInSlices) {
  std::vector<FlowNode> nodes{node("first")};
  auto join = node("join");
  for (int i = 0; i < 250; ++i) {
    const auto name = fmt::format("n{}", i);
    nodes.push_back(node(name.c_str(), {dependency("first")}));
    join.after.push_back(dependency(name.c_str()));
  }
  nodes.push_back(join);
  const auto fan = submit_flow(std::move(nodes));
  complete_node(fan, "first");
  std::size_t done = 0;
  while (done < 250) {
    auto claimed = claim_many(100);
    if (claimed.empty()) pass(30s);  // the rest is on its way
    for (const auto& each : claimed) must(run(complete(each)));
    done += claimed.size();
  }
  complete_node(fan, "join");
  EXPECT_EQ(must(run(GetFlow{.id = fan.id, .wait = wake_up_max})).state, FlowState::completed);
}

TEST_P(FlowConformance, AllDependenciesOfANodeAreShown) {
  constexpr std::size_t count = 1'234;
  auto join = node("join");
  for (std::size_t i = 0; i < count; ++i) {
    join.after.push_back(dependency(i % 2 == 0 ? "a" : "b"));
    if (i % 400 == 399) join.after.back().input = node_name(fmt::format("in{}", i));
  }
  const auto fan = submit_flow({node("a"), node("b"), join, node("end", {dependency("join")})});
  for (const std::uint32_t limit : {1u, 2u, 1'000u}) {
    const auto page = must(run(ListFlowNodes{.id = fan.id, .from = 2, .limit = limit}));
    ASSERT_EQ(page.nodes.size(), std::min(limit, 2u));
    EXPECT_EQ(page.next, limit == 1 ? std::optional(3u) : std::nullopt);
    const auto& after = page.nodes.front().after;
    ASSERT_EQ(after.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(after[i].node.str(), i % 2 == 0 ? "a" : "b") << i;
      EXPECT_EQ(after[i].input, join.after[i].input) << i;
    }
    EXPECT_EQ(page.nodes.back().after.size(), limit == 1 ? count : 1);
  }
}

TEST_P(FlowConformance, ManyNodesAreCancelledInSlices) {
  std::vector<FlowNode> nodes;
  for (int i = 0; i < 350; ++i) nodes.push_back(node(fmt::format("n{}", i).c_str()));
  const auto many = submit_flow(std::move(nodes));
  const auto reply = must(run(CancelFlow{.id = many.id, .wait = wake_up_max}));
  EXPECT_TRUE(reply.flow.ended_at);
  EXPECT_EQ(reply.flow.counts.cancelled, 350u);
}

TEST_P(FlowConformance, AFlowIsRemovedWithItsNodes) {
  const auto chain = submit_flow(SubmitFlow{
      .nodes = {node("a"), node("b", {dependency("a")})}, .retention = Millis{60s}});
  const auto first = id_of(chain, "a");
  complete_node(chain, "a");
  pass(1h);
  EXPECT_EQ(state_of(first), ExecutionState::completed);
  complete_node(chain, "b");
  pass(60s);
  pass(1s);
  EXPECT_EQ(error_of(GetFlow{.id = chain.id}), Errc::flow_not_found);
  EXPECT_EQ(error_of(GetExecution{first}), Errc::execution_not_found);
}

TEST_P(FlowConformance, FlowsAreListedNewestFirstAndFiltered) {
  const auto first = submit_flow(SubmitFlow{.nodes = {node("a")}, .tags = {{"app.x", "1"}}});
  advance(1ms);
  const auto second = submit_flow({node("a")});
  must(run(CancelFlow{.id = second.id}));
  const auto all = must(run(ListFlows{})).flows;
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].id, second.id);
  EXPECT_EQ(must(run(ListFlows{.state = FlowState::cancelled})).flows.size(), 1u);
  EXPECT_EQ(must(run(ListFlows{.tag = "app.x=1"})).flows.at(0).id, first.id);
  const auto page = must(run(ListFlows{.limit = 1}));
  ASSERT_TRUE(page.next);
  EXPECT_EQ(must(run(ListFlows{.limit = 1, .cursor = page.next})).flows.at(0).id, first.id);
}

TEST_P(FlowConformance, EventsOfAFlowCanBeFollowed) {
  const auto began = must(run(ReadEvents{})).next;
  const auto chain = submit_flow({node("a"), node("b", {dependency("a")})});
  submit("other");
  complete_node(chain, "a");
  const auto page = must(run(ReadEvents{.flow = chain.id, .after = began}));
  std::string types;
  for (const auto& event : page.events) types += std::string(to_string(event.type)) + ' ';
  EXPECT_THAT(types, ::testing::HasSubstr("flow_submitted"));
  EXPECT_THAT(types, ::testing::HasSubstr("completed promoted"));
}

INSTANTIATE_TEST_SUITE_P(, FlowConformance, ::testing::ValuesIn(home_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ff::conformance
