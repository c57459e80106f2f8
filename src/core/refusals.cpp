#include "core/refusals.hpp"

#include <flowfabric/limits.hpp>

#include <fmt/format.h>

#include "core/flows/flow.hpp"
#include "core/lanes/lane.hpp"

namespace ff::core::refusals {
namespace {

std::string name_of(auto value) { return std::string(to_string(value)); }

Refusal too_many(std::string_view what, std::size_t max, const Namespace& ns,
                 std::string_view remedy) {
  return fail(Errc::resource_exhausted,
              fmt::format("namespace {} has {} {} already, the most there may be; {}", ns.str(),
                          max, what, remedy),
              {{"namespace", ns.str()}});
}

}  // namespace

Refusal not_found(const ExecutionId& id) {
  return fail(Errc::execution_not_found,
              fmt::format("there is no execution {}; check the id and the server", id.str()));
}

Refusal not_found(const BudgetId& id) {
  return fail(Errc::budget_not_found,
              fmt::format("there is no budget {}; create it first (ff budgets create)", id.str()),
              {{"budget", id.str()}});
}

Refusal not_found(const QuotaId& id) {
  return fail(Errc::quota_not_found,
              fmt::format("there is no quota {}; create it first (ff quotas create)", id.str()),
              {{"quota", id.str()}});
}

Refusal not_found(const WorkerId& worker, const Namespace& ns) {
  return fail(Errc::worker_not_found,
              fmt::format("no worker {} is registered in namespace {}; it may have stopped",
                          worker.str(), ns.str()),
              {{"worker", worker.str()}});
}

Refusal duplicate_mismatch(const ExecutionId& id, bool by_idempotency_key) {
  return fail(Errc::duplicate_mismatch,
              fmt::format("execution {} was submitted before with other content; use a new {}",
                          id.str(), by_idempotency_key ? "idempotency key" : "id"),
              {{"id", id.str()}});
}

Refusal duplicate_mismatch(const BudgetId& id) {
  return fail(
      Errc::duplicate_mismatch,
      fmt::format("budget {} was made before with other content; use a new id, or delete it "
                  "first (ff budgets delete)",
                  id.str()),
      {{"budget", id.str()}});
}

Refusal duplicate_mismatch(const QuotaId& id) {
  return fail(Errc::duplicate_mismatch,
              fmt::format("quota {} was made before with other content; use a new id, or delete it "
                          "first (ff quotas delete)",
                          id.str()),
              {{"quota", id.str()}});
}

Refusal duplicate_mismatch(const BudgetId& id, const DedupKey& key) {
  return fail(Errc::duplicate_mismatch,
              fmt::format("dedup key {} was used before for another report to budget {}; use a new "
                          "one for each report",
                          key.str(), id.str()),
              {{"budget", id.str()}});
}

Refusal too_much_usage(const BudgetId& id, const std::string& dimension) {
  return fail_field(Errc::invalid_input, dimension,
                    fmt::format("budget {}: the usage of {} would be more than {}; reset the "
                                "budget or report in a larger unit",
                                id.str(), dimension, limits::amount_max));
}

Refusal too_many_dimensions(const BudgetId& id) {
  return fail_field(Errc::invalid_input, "dimensions",
                    fmt::format("budget {} would count more than {} dimensions; use fewer",
                                id.str(), limits::usage_dimensions_max));
}

Refusal too_many_budgets(const Namespace& ns) {
  return too_many("budgets", limits::budgets_max, ns, "delete some");
}
Refusal too_many_quotas(const Namespace& ns) {
  return too_many("quotas", limits::quotas_max, ns, "delete some");
}
Refusal too_many_paused_lanes(const Namespace& ns) {
  return too_many("paused lanes", limits::paused_lanes_max, ns, "resume some");
}
Refusal too_many_paused_lanes() {
  return fail(Errc::resource_exhausted,
              fmt::format("all namespaces together have {} paused lanes already, the most there may "
                          "be; resume some",
                          limits::paused_lanes_of_store_max));
}
Refusal lane_paused(const ExecutionId& id, const LaneId& lane, const LanePause& pause) {
  return fail(Errc::lane_paused,
              fmt::format("execution {} may not start: {}", id.str(), pause_detail(lane, pause)),
              {{"lane", lane.str()}});
}
Refusal too_many_workers(const Namespace& ns) {
  return too_many("workers", limits::workers_max, ns,
                  "start fewer, or wait until those that stopped are forgotten");
}

Refusal worker_id_in_use(const WorkerId& worker, const Namespace& ns, TimePoint held_until,
                         Millis wait) {
  return fail(
      Errc::worker_id_in_use,
      fmt::format("another live worker has the id {} in namespace {}; choose another id, stop "
                  "that worker, or wait {} s for its registration to expire",
                  worker.str(), ns.str(), std::chrono::ceil<std::chrono::seconds>(wait).count()),
      {{"worker", worker.str()},
       {"held_until_ms", std::to_string(held_until.time_since_epoch().count())},
       {"wait_ms", std::to_string(wait.count())}});
}

Refusal not_active(const ExecutionId& id, const Standing& standing) {
  const bool has_ended = standing.phase == LifecyclePhase::terminal;
  return fail(Errc::execution_not_active,
              fmt::format("execution {} is {}; {}", id.str(), to_string(standing.state),
                          has_ended ? "to run it again, replay it (ff replay)"
                                    : "no worker holds it, so there is no lease to use or revoke"),
              {{"state", name_of(standing.state)},
               {"terminal_outcome", name_of(standing.outcome)},
               {"lease_epoch", std::to_string(std::to_underlying(standing.epoch))},
               {"lifecycle_phase", name_of(standing.phase)},
               {"attempt_id", standing.attempt_id}});
}

Refusal lease_revoked(const ExecutionId& id) {
  return fail(
      Errc::lease_revoked,
      fmt::format("an operator took the lease on execution {} away; stop working on it", id.str()));
}

Refusal lease_expired(const ExecutionId& id) {
  return fail(
      Errc::lease_expired,
      fmt::format("the lease on execution {} has run out; stop working on it, another worker "
                  "may have it",
                  id.str()));
}

Refusal stale_lease(const ExecutionId& id) {
  return fail(
      Errc::stale_lease,
      fmt::format("another lease on execution {} has taken over; stop working on it", id.str()));
}

Refusal another_lease(const ExecutionId& id, const LeaseId& expected, const LeaseId& current) {
  return fail(Errc::stale_lease,
              fmt::format("expected lease {} on execution {}, but the current one is {}",
                          expected.str(), id.str(), current.str()));
}

Refusal cannot_be_claimed(Errc code, const ExecutionId& id, ExecutionState state) {
  return fail(code,
              fmt::format("execution {} is {} and cannot be claimed", id.str(), to_string(state)));
}

Refusal capability_mismatch(const ExecutionId& id, const std::string& missing) {
  return fail(Errc::capability_mismatch,
              fmt::format("execution {} needs a worker that also has {}", id.str(), missing),
              {{"missing", missing}});
}

Refusal set_aside(const ExecutionId& id) {
  return fail(Errc::grant_already_exists,
              fmt::format("execution {} is set aside for another worker for a moment", id.str()));
}

Refusal no_grant(const ExecutionId& id, const WorkerId& worker) {
  return fail(Errc::invalid_claim_grant,
              fmt::format("worker {} has no grant for execution {}; ask for one first",
                          worker.str(), id.str()));
}

Refusal grant_expired(const ExecutionId& id) {
  return fail(Errc::claim_grant_expired,
              fmt::format("the grant for execution {} has run out; ask for another one", id.str()));
}

Refusal admission_expired(const ExecutionId& id, const QuotaId& quota) {
  return fail(Errc::admission_expired,
              fmt::format("execution {} was not let in by its quota {}, or that was too long ago; "
                          "claim it again",
                          id.str(), quota.str()));
}

Refusal not_held(const ExecutionId& id, const WorkerId& worker) {
  return fail(Errc::execution_not_leaseable,
              fmt::format("worker {} does not hold execution {} any more", worker.str(), id.str()));
}

Refusal priority_after_end(const ExecutionId& id, ExecutionState state) {
  return fail(Errc::execution_not_eligible,
              fmt::format("execution {} is {}; a priority matters only before the end", id.str(),
                          to_string(state)));
}

Refusal too_many_tags(const ExecutionId& id, std::size_t count) {
  return fail_field(Errc::invalid_input, "set",
                    fmt::format("execution {} would have {} tags; at most {} are allowed", id.str(),
                                count, limits::tags_max));
}

Refusal not_suspended(const ExecutionId& id, ExecutionState state) {
  return fail(Errc::execution_not_suspended,
              fmt::format("execution {} is {}; only a suspended one can be resumed", id.str(),
                          to_string(state)),
              {{"state", name_of(state)}});
}

Refusal not_signalable(const ExecutionId& id, ExecutionState state) {
  return fail(
      Errc::target_not_signalable,
      fmt::format("execution {} is {} and takes no more signals", id.str(), to_string(state)),
      {{"state", name_of(state)}});
}

Refusal too_many_signals(const ExecutionId& id, std::uint32_t max) {
  return fail(
      Errc::signal_limit_exceeded,
      fmt::format("execution {} has received {} signals, as many as its policy's max_signals "
                  "allows",
                  id.str(), max));
}

Refusal too_many_waitpoints(const ExecutionId& id) {
  return fail(
      Errc::waitpoint_limit_exceeded,
      fmt::format("execution {} has {} open waitpoints, which is the limit; close one first",
                  id.str(), limits::waitpoints_max));
}

Refusal waitpoint_id_taken(const std::string& waitpoint) {
  return fail_field(Errc::invalid_input, "waitpoint_id",
                    fmt::format("waitpoint_id {} is that of another waitpoint", waitpoint));
}

Refusal waitpoint_not_found(const std::string& waitpoint) {
  return fail(Errc::waitpoint_not_found,
              fmt::format("there is no waitpoint {}; list the open ones with pending-waitpoints",
                          waitpoint));
}

Refusal waitpoint_closed(const std::string& waitpoint) {
  return fail(Errc::waitpoint_closed,
              fmt::format("the waitpoint {} is closed and takes no more answers", waitpoint));
}

Refusal step_not_found(const ExecutionId& id, const StepName& name) {
  return fail(Errc::step_not_found,
              fmt::format("execution {} has kept no result of a step {}", id.str(), name.str()));
}

Refusal too_many_steps(const ExecutionId& id) {
  return fail(Errc::step_limit_exceeded,
              fmt::format("execution {} keeps at most {} results of steps, {} MiB together",
                          id.str(), limits::steps_max, limits::steps_bytes_max / (1024 * 1024)));
}

Refusal too_many_streams(const ExecutionId& id) {
  return fail(Errc::stream_limit_exceeded,
              fmt::format("execution {} has {} streams, which is the most; write to one of them",
                          id.str(), limits::streams_max));
}

Refusal stream_gap(const StreamName& stream, std::uint64_t written, std::uint64_t claimed) {
  return fail(Errc::stream_sequence_gap,
              fmt::format("this attempt has appended {} frames to stream {}, not {}; append what comes "
                          "behind them, and repeat a call only with the same frames",
                          written, stream.str(), claimed),
              {{.name = "written", .value = std::to_string(written), .is_number = true}});
}

Refusal summary_too_large(const StreamName& stream) {
  return fail(Errc::summary_too_large,
              fmt::format("the document of stream {} would be larger than {} KiB; remove members of it "
                          "with null, or write to another stream",
                          stream.str(), limits::summary_document_bytes_max / 1024));
}

Refusal stream_full(const StreamName& stream) {
  return fail(Errc::stream_full,
              fmt::format("stream {} holds at most {} frames and {} MiB, and was opened to refuse more",
                          stream.str(), limits::stream_frames_max,
                          limits::stream_bytes_max / (1024 * 1024)));
}

Refusal stream_differs(const StreamName& stream, std::string_view field, std::string_view value) {
  return fail_field(Errc::invalid_input, field,
                    fmt::format("stream {} was opened with {} {}, which stays", stream.str(), field,
                                value));
}

Refusal not_terminal(const ExecutionId& id, ExecutionState state) {
  return fail(Errc::execution_not_terminal,
              fmt::format("execution {} is {}; only one that has ended can be replayed", id.str(),
                          to_string(state)),
              {{"state", name_of(state)}});
}

Refusal not_found(const FlowId& id) {
  return fail(Errc::flow_not_found,
              fmt::format("there is no flow {}; check the id and the server", id.str()),
              {{"flow", id.str()}});
}

Refusal duplicate_mismatch(const FlowId& id) {
  return fail(Errc::duplicate_mismatch,
              fmt::format("flow {} was submitted before with another graph; use a new id or "
                          "idempotency key",
                          id.str()),
              {{"flow", id.str()}});
}

Refusal unusable(const FlowId& id) {
  return fail_field(Errc::invalid_input, "id",
                    fmt::format("id: {} cannot be used; use another one, or none", id.str()));
}

Refusal being_removed(const FlowId& id) {
  return fail(Errc::flow_being_removed,
              fmt::format("an earlier flow {} is being removed; submit this one again in a moment",
                          id.str()),
              {{"flow", id.str()}});
}

Refusal node_not_found(const FlowId& flow, const NodeName& node) {
  return fail(Errc::node_not_found,
              fmt::format("flow {} has no node {}; list its nodes (ff flow get)", flow.str(),
                          node.str()),
              {{"field", "from"}, {"flow", flow.str()}, {"node", node.str()}});
}

namespace {

std::string field_in(const NodePath& path, std::string_view part) {
  return path.list.empty() ? std::string(part)
                           : fmt::format("{}[{}].{}", path.list, path.place, part);
}

}  // namespace

Refusal node_not_found(const FlowId& flow, const NodeName& node, const NodePath& path,
                       std::size_t dependency) {
  const auto field = field_in(path, fmt::format("after[{}]", dependency));
  return fail(Errc::node_not_found,
              fmt::format("{}: flow {} has no node {}; list its nodes (ff flow get)", field,
                          flow.str(), node.str()),
              {{"field", field}, {"flow", flow.str()}, {"node", node.str()}});
}

namespace {

Refusal wrong_state(Errc code, const FlowId& id, FlowState state, std::string_view remedy) {
  return fail(code, fmt::format("flow {} is {}; {}", id.str(), to_string(state), remedy),
              {{"flow", id.str()}, {"state", name_of(state)}});
}

}  // namespace

Refusal no_nodes(const FlowId& id) {
  return fail_field(Errc::invalid_input, "nodes",
                    fmt::format("flow {} has no nodes; add some before it is sealed", id.str()));
}

Refusal not_building(const FlowId& id, FlowState state) {
  return wrong_state(Errc::flow_not_building, id, state,
                     "nodes can be added only before it is sealed");
}

Refusal not_running(const FlowId& id, FlowState state) {
  if (is_terminal(state)) return already_terminal(id, state);
  return wrong_state(Errc::flow_not_sealed, id, state, "seal it first");
}

Refusal never_sealed(const FlowId& id, FlowState state) {
  return wrong_state(Errc::flow_not_sealed, id, state,
                     "it was never sealed, so that its graph may be incomplete; submit it again under "
                     "a new id or idempotency key");
}

Refusal already_terminal(const FlowId& id, FlowState state) {
  return wrong_state(Errc::flow_already_terminal, id, state,
                     "redrive it to run some of its nodes again");
}

Refusal still_ending(const FlowId& id, FlowState state) {
  return wrong_state(Errc::flow_already_terminal, id, state,
                     "some of its nodes have not ended yet; try again when they have");
}

Refusal flow_too_large(const FlowId& id, std::string_view list) {
  return fail(Errc::flow_limit_exceeded,
              fmt::format("flow {} would have more than {} nodes or {} edges; split it into several "
                          "flows",
                          id.str(), limits::flow_nodes_max, limits::flow_edges_max),
              {{"field", list.empty() ? "flow" : std::string(list)}, {"flow", id.str()}});
}

Refusal not_a_child(const NodeName& node, const NodePath& path) {
  return fail(Errc::invalid_input,
              fmt::format("the flow has a node {} already; choose another name", node.str()),
              {{"field", field_in(path, "name")}, {"node", node.str()}});
}

Refusal another_node(const NodeName& node, const NodePath& path, std::string_view part) {
  const auto field = field_in(path, part);
  return fail(Errc::duplicate_mismatch,
              fmt::format("{}: the flow has a node {} already, with another {}; choose another name",
                          field, node.str(), part == "after" ? "list of dependencies" : part),
              {{"field", field}, {"node", node.str()}});
}

Refusal is_item_name(const NodeName& node, const NodeName& map, const NodePath& path) {
  const auto field = field_in(path, "name");
  return fail(Errc::invalid_input,
              fmt::format("{}: {} would be the name of an item of {}; choose another name", field,
                          node.str(), map.str()),
              {{"field", field}, {"node", node.str()}});
}

Refusal item_exists(const NodeName& map, const NodePath& path) {
  const auto field = field_in(path, "name");
  return fail(Errc::invalid_input,
              fmt::format("{}: the flow has a node {} already, which would be the name of an item of "
                          "{}; choose another name",
                          field, item_name(map, 0).str(), map.str()),
              {{"field", field}, {"node", map.str()}});
}

Refusal item_name_taken(const NodeName& item, const NodeName& map) {
  return fail(Errc::invalid_input,
              fmt::format("the name {} of an item of {} is taken: the flow has another node of that "
                          "name; submit the flow again with another name for it",
                          item.str(), map.str()),
              {{"node", item.str()}});
}

Refusal adds_itself(const NodeName& node, const NodePath& path) {
  return fail(Errc::invalid_input,
              fmt::format("node {} cannot add itself; redrive it to run it again", node.str()),
              {{"field", field_in(path, "name")}, {"node", node.str()}});
}

Refusal not_open(const FlowId& id) {
  return fail_field(Errc::invalid_input, "flow_id",
                    fmt::format("flow {} was submitted as a graph, so it takes no members or edges "
                                "one by one; add nodes to it",
                                id.str()));
}

Refusal takes_no_nodes(const FlowId& id) {
  return fail(Errc::flow_not_building,
              fmt::format("flow {} is open: it gets members and edges one by one, not nodes", id.str()),
              {{"flow", id.str()}});
}

Refusal stale_revision(const FlowId& id, std::uint32_t current) {
  return fail(Errc::stale_graph_revision,
              fmt::format("the graph of flow {} has revision {}; look at it again", id.str(), current),
              {{"field", "expected_graph_revision"}, {"revision", std::to_string(current)}});
}

Refusal not_a_member(const FlowId& id, std::string_view field, const ExecutionId& execution) {
  return fail(Errc::execution_not_in_flow,
              fmt::format("{}: execution {} is not a member of flow {}; add it first", field,
                          execution.str(), id.str()),
              {{"field", std::string(field)}, {"flow", id.str()}});
}

Refusal already_in_flow(const ExecutionId& id, const FlowId& other) {
  return fail(Errc::execution_already_in_flow,
              fmt::format("execution {} belongs to flow {} already", id.str(), other.str()),
              {{"field", "execution_id"}, {"flow", other.str()}});
}

Refusal depends_on_itself(const ExecutionId& id) {
  return fail_field(Errc::self_referencing_edge, "downstream_execution_id",
                    fmt::format("execution {} cannot depend on itself", id.str()));
}

Refusal closes_circle(const ExecutionId& upstream, const ExecutionId& downstream) {
  return fail_field(Errc::cycle_detected, "downstream_execution_id",
                    fmt::format("{} depends on {}, directly or through others", upstream.str(),
                                downstream.str()));
}

Refusal edge_exists(const GivenEdgeId& edge) {
  return fail_field(Errc::dependency_already_exists, "edge_id",
                    fmt::format("the flow has an edge {} already", edge.str()));
}

Refusal edge_not_found(const FlowId& id, const GivenEdgeId& edge) {
  return fail_field(Errc::invalid_input, "edge_id",
                    fmt::format("flow {} has no edge {} between these executions; stage it first",
                                id.str(), edge.str()));
}

Refusal has_begun(const ExecutionId& id, ExecutionState state) {
  return fail(Errc::execution_not_eligible,
              fmt::format("execution {} is {}; only one that has not begun can be made to wait",
                          id.str(), to_string(state)),
              {{"field", "downstream_execution_id"}, {"state", name_of(state)}});
}

Refusal not_a_node(const ExecutionId& id) {
  return fail(Errc::invalid_input,
              fmt::format("execution {} is not a node of a flow, so it cannot add nodes to one; submit "
                          "them as executions or as a flow of their own",
                          id.str()),
              {{"id", id.str()}});
}

Refusal flow_holds(const ExecutionId& node, const FlowId& flow, FlowState state) {
  return fail(Errc::execution_not_leaseable,
              fmt::format("execution {} belongs to flow {}, which is {}", node.str(), flow.str(),
                          to_string(state)),
              {{"flow", flow.str()}, {"state", name_of(state)}});
}

Refusal dependencies_failed(const ExecutionId& node) {
  return fail(Errc::execution_not_eligible,
              fmt::format("execution {} was skipped because nodes before it did not end as it "
                          "needs; redrive the flow from one of those",
                          node.str()),
              {{"id", node.str()}});
}

Refusal replays_exhausted(const ExecutionId& id, std::uint32_t max) {
  return fail(Errc::max_replays_exhausted,
              fmt::format("execution {} was replayed {} times, which its policy allows at most; "
                          "submit a new one",
                          id.str(), max),
              {{"max", std::to_string(max)}});
}

}  // namespace ff::core::refusals
