#include <fmt/format.h>

#include "engine/local_engine.hpp"
#include "store/valkey/open.hpp"
#include "tests/contract/fixture.hpp"
#include "tests/support/blocking.hpp"

namespace ff::test {
namespace {

std::string flow_key(const std::string& what) { return "ff:flow:" + tag + ":" + flow_id + ":" + what; }
std::string edge_id(int number) { return fmt::format("77777777-7777-4777-8777-{:012}", number); }

Call create_flow() {
  return {"ff_create_flow",
          {flow_key("core"), flow_key("members"), index_key("flow_index")},
          {flow_id, "dag", "default", "1"}};
}
Call add(const std::string& id = E) {
  return {"ff_add_execution_to_flow",
          {flow_key("core"), flow_key("members"), index_key("flow_index"), exec_key("core", id)},
          {flow_id, id, "1"}};
}
Call stage(int number, const std::string& from, const std::string& to, const std::string& revision,
           const std::string& data = "") {
  return {"ff_stage_dependency_edge",
          {flow_key("core"), flow_key("members"), flow_key("edge:" + edge_id(number)),
           flow_key("out:" + from), flow_key("in:" + to), flow_key("grant:x")},
          {flow_id, edge_id(number), from, to, "success_only", data, revision, "5"}};
}
Call apply(int number, const std::string& from, const std::string& to, const std::string& data = "") {
  return {"ff_apply_dependency_to_child",
          {exec_key("core", to), exec_key("deps:meta", to), exec_key("deps:unresolved", to),
           exec_key("dep:" + edge_id(number), to), lane_key("eligible"),
           lane_key("blocked:dependencies"), exec_key("deps:all_edges", to),
           flow_key("edgegroup:" + to)},
          {flow_id, edge_id(number), from, "1", "success_only", data, "6"}};
}
Call resolve(int number, const std::string& to, const std::string& outcome) {
  return {"ff_resolve_dependency",
          {exec_key("core", to), exec_key("deps:meta", to), exec_key("deps:unresolved", to),
           exec_key("dep:" + edge_id(number), to), lane_key("eligible"), lane_key("terminal"),
           lane_key("blocked:dependencies"), "ff:attempt:" + tag + ":" + to + ":0",
           "ff:stream:" + tag + ":" + to + ":0:meta", exec_key("payload", to), exec_key("result"),
           flow_key("edgegroup:" + to), flow_key("in:" + to), index_key("pending_cancel_groups")},
          {edge_id(number), outcome, "7", flow_id, to}};
}
Call set_policy(const std::string& variant, const std::string& on_satisfied = "",
                const std::string& k = "", const std::string& of = other_E) {
  return {"ff_set_edge_group_policy",
          {flow_key("core"), flow_key("edgegroup:" + of)},
          {variant, on_satisfied, k, "8"}};
}
Call cancel_flow(const std::string& policy) {
  return {"ff_cancel_flow",
          {flow_key("core"), flow_key("members"), index_key("flow_index"),
           flow_key("pending_cancels"), index_key("cancel_backlog")},
          {flow_id, "why", policy, "1", ""}};
}
Call evaluate(const std::string& id) {
  return {"ff_evaluate_flow_eligibility", {exec_key("core", id), exec_key("deps:meta", id)}, {}};
}
Call promote_blocked(const std::string& id) {
  return {"ff_promote_blocked_to_eligible",
          {exec_key("core", id), lane_key("blocked:dependencies"), lane_key("eligible"),
           exec_key("deps:meta", id), exec_key("deps:unresolved", id)},
          {id, "9"}};
}

class Flows : public Contract {
 protected:
  // E → other_E, staged and applied.
  void make_pair(const std::string& data = "") {
    run(create());
    run(create().of(other_E));
    run(create_flow());
    run(add());
    run(add(other_E));
    run(stage(1, E, other_E, "2", data));
    ASSERT_EQ(run(apply(1, E, other_E, data)), "1 OK 1");
  }
  void complete_upstream() {
    run(issue_claim_grant());
    run(claim());
    ASSERT_EQ(run(complete()), "1 OK completed");
  }
  std::string flow(const std::string& field) {
    return valkey::to_text(command({"HGET", flow_key("core"), field}));
  }
  std::string state(const std::string& id = other_E) { return core("public_state", id); }
  // n nodes, and edges 1…n from them to other_E.
  void make_group(int count) {
    run(create().of(other_E));
    if (!command({"EXISTS", flow_key("core")}).as_int() ||
        *command({"EXISTS", flow_key("core")}).as_int() == 0)
      run(create_flow());
    run(add(other_E));
    int revision = 1;
    for (int i = 1; i <= count; ++i) {
      run(create().of(numbered(i)));
      run(add(numbered(i)));
      ++revision;
      ASSERT_EQ(run(stage(i, numbered(i), other_E, std::to_string(revision))),
                "1 OK " + edge_id(i) + " " + std::to_string(revision + 1));
      ++revision;
      run(apply(i, numbered(i), other_E));
    }
  }
  std::string group(const std::string& field) {
    return valkey::to_text(command({"HGET", flow_key("edgegroup:" + other_E), field}));
  }
};

TEST_F(Flows, AreCreatedOnce) {
  EXPECT_EQ(change(create_flow()), "1 OK " + flow_id + "\n" + R"(flow:core created_at=t
flow:core edge_count=0
flow:core flow_id=)" + flow_id + R"(
flow:core flow_kind=dag
flow:core graph_revision=0
flow:core last_mutation_at=t
flow:core namespace=default
flow:core node_count=0
flow:core public_flow_state=open
idx:flow_index )" + flow_id + R"(=in
idx:ns:default:flows )" + flow_id + "=t\n");
  expect_refused(create_flow().with(2, "other"), "1 ALREADY_SATISFIED " + flow_id);
}

TEST_F(Flows, TakeExecutionsAsMembers) {
  run(create());
  expect_refused(add(), "0 flow_not_found");
  run(create_flow());
  expect_refused(add(other_E), "0 execution_not_found");
  EXPECT_EQ(run(add()), "1 OK <E> 1");
  EXPECT_EQ(core("flow_id"), flow_id);
  EXPECT_EQ(flow("graph_revision"), "\"1\"");
  expect_refused(add(), "1 ALREADY_SATISFIED <E> 1");
  command({"HSET", exec_key("core"), "flow_id", "f2"});
  expect_refused(add(), "0 already_member_of_different_flow:f2");
  run(cancel_flow("flow_only"));
  expect_refused(add(), "0 flow_already_terminal");
}

TEST_F(Flows, StageEdgesThatMakeNoCycle) {
  run(create());
  run(create().of(other_E));
  run(create_flow());
  expect_refused(stage(1, E, E, "0"), "0 self_referencing_edge");
  expect_refused(stage(1, E, other_E, "1"), "0 stale_graph_revision");
  expect_refused(stage(1, E, other_E, "0"), "0 execution_not_in_flow");
  run(add());
  run(add(other_E));
  EXPECT_EQ(run(stage(1, E, other_E, "2")), "1 OK " + edge_id(1) + " 3");
  expect_refused(stage(2, other_E, E, "3"), "0 cycle_detected");
  expect_refused(stage(1, E, other_E, "3"), "0 dependency_already_exists");
  EXPECT_EQ(state(), "waiting");
}

TEST_F(Flows, AnAppliedEdgeHoldsItsNodeBack) {
  make_pair();
  EXPECT_EQ(state(), "waiting_children");
  EXPECT_EQ(core("blocking_detail", other_E), "1 dep(s) unresolved incl " + edge_id(1));
  EXPECT_EQ(run(evaluate(other_E)), "1 OK blocked_by_dependencies");
  expect_refused(apply(1, E, other_E), "1 OK already_applied");
  expect_refused(promote_blocked(other_E), "0 deps_not_satisfied 1 1");
  expect_refused(resolve(2, other_E, "success"), "0 invalid_dependency");
}

TEST_F(Flows, AnEndResolvesTheEdgesInTheSameCall) {
  make_pair("ref");
  complete_upstream();
  EXPECT_EQ(state(), "waiting");
  EXPECT_EQ(store()["ff:exec:" + tag + ":<F>:payload"][""], "done");
  EXPECT_EQ(run(evaluate(other_E)), "1 OK eligible");
  expect_refused(resolve(1, other_E, "success"), "1 OK already_resolved");
  EXPECT_EQ(group("group_state"), "\"satisfied\"");
}

TEST_F(Flows, ACallerResolvesWhatNoEndHas) {
  make_pair();
  EXPECT_EQ(run(resolve(1, other_E, "none")), "1 OK pending \"\"");
  EXPECT_EQ(run(resolve(1, other_E, "success")), "1 OK satisfied \"\"");
  EXPECT_EQ(state(), "waiting");
}

TEST_F(Flows, AFailureSkipsWhatNeedsSuccess) {
  make_pair();
  EXPECT_EQ(run(resolve(1, other_E, "failed")), "1 OK impossible child_skipped");
  EXPECT_EQ(state(), "skipped");
  EXPECT_EQ(core("attempt_state", other_E), "none");
  EXPECT_FALSE(store().contains("idx:lane:main:blocked:dependencies"));
  EXPECT_EQ(group("group_state"), "\"impossible\"");
}

TEST_F(Flows, ASkippedNodeWaitsAgainAfterAReplay) {
  make_pair();
  run(resolve(1, other_E, "failed"));
  EXPECT_EQ(run(replay().of(other_E)), "1 OK 1");
  EXPECT_EQ(state(), "waiting_children");
  EXPECT_EQ(run(resolve(1, other_E, "success")), "1 OK satisfied \"\"");
  EXPECT_EQ(state(), "waiting");
}

TEST_F(Flows, AnEdgeFromAnEndedNodeIsResolvedWhenItIsApplied) {
  run(create());
  run(create().of(other_E));
  run(create_flow());
  run(add());
  run(add(other_E));
  run(stage(1, E, other_E, "2"));
  complete_upstream();
  EXPECT_EQ(run(apply(1, E, other_E)), "1 OK 1");
  EXPECT_EQ(state(), "waiting");
}

TEST_F(Flows, ADelayIsKeptWhileANodeWaits) {
  run(create());
  run(create().with(9, far_future).of(other_E));
  run(create_flow());
  run(add());
  run(add(other_E));
  run(stage(1, E, other_E, "2"));
  run(apply(1, E, other_E));
  EXPECT_EQ(state(), "waiting_children");
  EXPECT_FALSE(store().contains("idx:delays"));
  run(resolve(1, other_E, "success"));
  EXPECT_EQ(state(), "delayed");
}

TEST_F(Flows, PoliciesOfGroupsAreChecked) {
  expect_refused(set_policy("any_of", "let_run"), "0 flow_not_found");
  run(create_flow());
  expect_refused(set_policy("some"), "0 invalid_input unsupported_policy_variant: some");
  for (const std::string k : {"", "0", "2.5", "nan"})
    expect_refused(set_policy("quorum", "let_run", k), "0 invalid_input quorum k must be >= 1");
  expect_refused(set_policy("any_of"),
                 "0 invalid_input on_satisfied required for any_of/quorum: cancel_remaining | let_run");
  EXPECT_EQ(run(set_policy("quorum", "let_run", "2")), "1 OK set");
  expect_refused(set_policy("quorum", "let_run", "2"), "1 OK already_set");
  EXPECT_EQ(run(set_policy("quorum", "let_run", "3")), "1 OK set");
}

TEST_F(Flows, AQuorumStartsANodeOnce) {
  run(create_flow());
  run(set_policy("quorum", "cancel_remaining", "2"));
  make_group(3);
  expect_refused(set_policy("any_of", "let_run"),
                 "0 invalid_input edge_group_policy_already_fixed: dependencies already staged");
  EXPECT_EQ(run(resolve(1, other_E, "success")), "1 OK pending \"\"");
  EXPECT_EQ(run(resolve(2, other_E, "success")), "1 OK satisfied \"\"");
  EXPECT_EQ(state(), "waiting");
  EXPECT_EQ(run(evaluate(other_E)), "1 OK eligible");
  EXPECT_EQ(group("cancel_siblings_reason"), "\"sibling_quorum_satisfied\"");
  EXPECT_EQ(run(resolve(3, other_E, "failed")), "1 OK already_fired \"\"");
  EXPECT_EQ(state(), "waiting");
}

TEST_F(Flows, AQuorumThatCannotBeReachedSkips) {
  run(create_flow());
  run(set_policy("quorum", "let_run", "2"));
  make_group(3);
  EXPECT_EQ(run(resolve(1, other_E, "failed")), "1 OK pending \"\"");
  EXPECT_EQ(run(resolve(2, other_E, "skipped")), "1 OK impossible child_skipped");
  EXPECT_EQ(state(), "skipped");
}

TEST_F(Flows, SiblingsOfAGroupAreDrained) {
  const Texts keys{index_key("pending_cancel_groups"), flow_key("edgegroup:" + other_E)};
  const Call drain{"ff_drain_sibling_cancel_group", keys, {flow_id, other_E}};
  const Call reconcile{"ff_reconcile_sibling_cancel_group", keys, {flow_id, other_E}};
  expect_refused(drain.with(1, ""), "0 invalid_args flow_id and downstream_eid required");
  expect_refused(reconcile, "1 OK no_op not_in_set");
  run(create_flow());
  run(set_policy("any_of", "cancel_remaining"));
  make_group(2);
  run(resolve(1, other_E, "success"));
  expect_refused(reconcile, "1 OK no_op siblings_running");
  run(cancel().of(numbered(1)));
  run(cancel().of(numbered(2)));
  EXPECT_EQ(run(reconcile), "1 OK completed_drain \"\"");
  EXPECT_EQ(run(drain), "1 OK already_drained \"\"");
}

TEST_F(Flows, CancellingLeavesTheMembersToTheCaller) {
  expect_refused(cancel_flow("cancel_all"), "0 flow_not_found");
  make_pair();
  expect_refused(cancel_flow("cancel_all").with(5, "-1"), "0 invalid_grace_ms");
  const auto reply = reply_of(cancel_flow("cancel_all"));
  EXPECT_EQ(reply.size(), 5u);
  EXPECT_EQ(flow("public_flow_state"), "\"cancelled\"");
  EXPECT_EQ(store()["flow:pending_cancels"].size(), 2u);
  EXPECT_EQ(state(E), "waiting");
  expect_refused(issue_claim_grant(), "0 execution_not_eligible");
  expect_refused(cancel_flow("cancel_all"), "0 flow_already_terminal");
  const Call ack{"ff_ack_cancel_member",
                 {flow_key("pending_cancels"), index_key("cancel_backlog")},
                 {E, flow_id}};
  EXPECT_EQ(run(ack), "1 OK");
  EXPECT_TRUE(store().contains("idx:cancel_backlog"));
  EXPECT_EQ(run(ack.with(1, other_E)), "1 OK");
  EXPECT_FALSE(store().contains("idx:cancel_backlog"));
}

TEST_F(Flows, CancelPendingCancelsWhatHasNotStarted) {
  make_pair();
  run(issue_claim_grant());
  run(claim());
  run(cancel_flow("cancel_pending"));
  EXPECT_EQ(state(), "cancelled");
  EXPECT_EQ(state(E), "active");
}

TEST_F(Flows, HaveTags) {
  const Call set{"ff_set_flow_tags", {flow_key("core"), flow_key("tags")}, {"team.name", "a"}};
  expect_refused(set.cut(1), "0 invalid_input tags must be non-empty even-length key/value pairs");
  expect_refused(set, "0 flow_not_found");
  run(create_flow());
  expect_refused(set.with(1, "name"), "0 invalid_tag_key name");
  EXPECT_EQ(run(set), "1 OK 1");
  EXPECT_EQ(store()["flow:tags"]["team.name"], "a");
}

// ---- An engine of ours beside them ----------------------------------------------------------------

class FlowScanners : public Flows {
 protected:
  void scan() {
    if (!engine_)
      engine_ = std::make_unique<LocalEngine>(
          must(valkey_store::open({.client = client_options(), .sweep = false})),
          LocalEngineOptions{.scan = false});
    must(run_blocking(engine_->executor(), engine_->scanners().run_once()));
  }
  std::uint64_t changed_by(std::string_view name) {
    for (const auto& each : engine_->scanners().status())
      if (each.name == name) return each.changed;
    return 0;
  }
  void complete_node(const std::string& id) {
    run(issue_claim_grant().of(id));
    run(claim().of(id));
    ASSERT_EQ(run(complete().of(id)), "1 OK completed");
  }
  std::string summary(const std::string& field) {
    return valkey::to_text(command({"HGET", flow_key("summary"), field}));
  }

  std::unique_ptr<LocalEngine> engine_;
};

TEST_F(FlowScanners, CancelTheMembersOfACancelledFlowAfterItsGrace) {
  make_pair();
  run(cancel_flow("cancel_all").with(5, "60000"));
  scan();
  EXPECT_EQ(state(E), "waiting") << "its program may still do it";
  command({"ZADD", index_key("cancel_backlog"), "1", flow_id});
  scan();
  EXPECT_EQ(state(E), "cancelled");
  EXPECT_EQ(state(other_E), "cancelled");
  EXPECT_EQ(core("cancellation_reason"), "why");
  EXPECT_FALSE(store().contains("idx:cancel_backlog"));
  EXPECT_FALSE(store().contains("flow:pending_cancels"));
}

TEST_F(FlowScanners, MembersThatHaveEndedOrAreGoneNeedNoCancel) {
  make_pair();
  complete_upstream();
  run(cancel_flow("cancel_all").with(5, "0"));
  command({"SADD", flow_key("pending_cancels"), numbered(9), "nonsense"});
  command({"DEL", exec_key("core", other_E)});
  scan();
  EXPECT_EQ(state(E), "completed");
  EXPECT_FALSE(store().contains("idx:cancel_backlog"));
  EXPECT_FALSE(store().contains("flow:pending_cancels"));
}

TEST_F(FlowScanners, CancelSiblingsThatANodeStartedWithout) {
  run(create_flow());
  run(set_policy("any_of", "cancel_remaining"));
  make_group(30);
  complete_node(numbered(1));
  EXPECT_EQ(state(), "waiting");
  command({"SADD", index_key("pending_cancel_groups"), "nonsense", "a|b"});
  scan();
  EXPECT_EQ(state(numbered(1)), "completed");
  for (int i = 2; i <= 30; ++i) EXPECT_EQ(state(numbered(i)), "cancelled");
  EXPECT_EQ(core("cancellation_reason", numbered(2)), "sibling_quorum_satisfied");
  EXPECT_EQ(group("cancel_siblings_pending_flag"), "(nil)");
  EXPECT_FALSE(store().contains("idx:pending_cancel_groups"));
  EXPECT_EQ(changed_by("edge_cancel_dispatcher"), 29u);
}

TEST_F(FlowScanners, ResolveEdgesWhoseUpstreamHasEnded) {
  make_pair();
  scan();
  EXPECT_EQ(changed_by("dependency_reconciler"), 0u);
  EXPECT_EQ(state(), "waiting_children");
  command({"HSET", exec_key("core"), "lifecycle_phase", "terminal", "terminal_outcome", "success",
           "public_state", "completed", "completed_at", "1"});
  scan();
  EXPECT_EQ(state(), "waiting");
  EXPECT_EQ(changed_by("dependency_reconciler"), 1u);
}

TEST_F(FlowScanners, ANodeThatWaitsForNothingGoesOn) {
  make_pair();
  command({"DEL", exec_key("deps:unresolved", other_E)});
  command({"HSET", exec_key("deps:meta", other_E), "unsatisfied_required_count", "0"});
  command({"HSET", exec_key("core", other_E), "satisfied", "1"});
  scan();
  EXPECT_EQ(state(), "waiting");
  EXPECT_EQ(changed_by("dependency_reconciler"), 1u);
}

TEST_F(FlowScanners, WriteTheSummaryOfAFlow) {
  make_pair();
  scan();
  EXPECT_EQ(summary("public_flow_state"), "\"blocked\"");
  EXPECT_EQ(summary("total_members"), "\"2\"");
  EXPECT_EQ(summary("members_waiting"), "\"1\"");
  EXPECT_EQ(summary("members_waiting_children"), "\"1\"");
  complete_node(E);
  run(cancel().of(other_E));
  scan();
  EXPECT_EQ(summary("public_flow_state"), "\"failed\"");
  EXPECT_EQ(summary("members_completed"), "\"1\"");
  EXPECT_EQ(summary("members_cancelled"), "\"1\"");
  EXPECT_FALSE(store().contains("idx:flow_index")) << "nothing about it changes any more";
}

TEST_F(FlowScanners, AFlowThatIsGoneLeavesTheIndex) {
  run(create_flow());
  command({"DEL", flow_key("core")});
  scan();
  EXPECT_FALSE(store().contains("idx:flow_index"));
}

}  // namespace
}  // namespace ff::test
