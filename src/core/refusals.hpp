// Errors for workers and callers whose operation the state of an execution does not allow. The
// state machine exists twice (here and in Lua); its messages exist once.
#pragma once

#include <flowfabric/operations.hpp>

#include <string_view>

namespace ff::core::refusals {

using Refusal = std::unexpected<Error>;

Refusal not_found(const ExecutionId& id);
Refusal not_found(const BudgetId& id);
Refusal not_found(const QuotaId& id);
Refusal not_found(const WorkerId& worker, const Namespace& ns);
Refusal duplicate_mismatch(const ExecutionId& id, bool by_idempotency_key);
Refusal duplicate_mismatch(const BudgetId& id);
Refusal duplicate_mismatch(const QuotaId& id);
Refusal duplicate_mismatch(const BudgetId& id, const DedupKey& key);
Refusal too_much_usage(const BudgetId& id, const std::string& dimension);
Refusal too_many_dimensions(const BudgetId& id);
Refusal too_many_budgets(const Namespace& ns);
Refusal too_many_quotas(const Namespace& ns);
Refusal too_many_paused_lanes(const Namespace& ns);
Refusal too_many_paused_lanes();  // of all namespaces together
Refusal lane_paused(const ExecutionId& id, const LaneId& lane, const LanePause& pause);
Refusal too_many_workers(const Namespace& ns);
// Another incarnation holds the id until `held_until`, which is in `wait`.
Refusal worker_id_in_use(const WorkerId& worker, const Namespace& ns, TimePoint held_until,
                         Millis wait);

// An execution that no worker holds, as the error reports it: its state, last lease and attempt.
struct Standing {
  ExecutionState state{};
  TerminalOutcome outcome{};
  LifecyclePhase phase{};
  LeaseEpoch epoch{};
  std::string attempt_id = {};
};
Refusal not_active(const ExecutionId& id, const Standing& standing);
Refusal lease_revoked(const ExecutionId& id);
Refusal lease_expired(const ExecutionId& id);
Refusal stale_lease(const ExecutionId& id);
Refusal another_lease(const ExecutionId& id, const LeaseId& expected, const LeaseId& current);

Refusal cannot_be_claimed(Errc code, const ExecutionId& id, ExecutionState state);
Refusal capability_mismatch(const ExecutionId& id, const std::string& missing);
Refusal set_aside(const ExecutionId& id);
Refusal no_grant(const ExecutionId& id, const WorkerId& worker);
Refusal grant_expired(const ExecutionId& id);
Refusal admission_expired(const ExecutionId& id, const QuotaId& quota);
Refusal not_held(const ExecutionId& id, const WorkerId& worker);

Refusal priority_after_end(const ExecutionId& id, ExecutionState state);
Refusal too_many_tags(const ExecutionId& id, std::size_t count);
Refusal not_terminal(const ExecutionId& id, ExecutionState state);
Refusal not_suspended(const ExecutionId& id, ExecutionState state);
Refusal not_signalable(const ExecutionId& id, ExecutionState state);
Refusal too_many_signals(const ExecutionId& id, std::uint32_t max);
Refusal too_many_waitpoints(const ExecutionId& id);
Refusal waitpoint_id_taken(const std::string& waitpoint);
Refusal waitpoint_not_found(const std::string& waitpoint);
Refusal waitpoint_closed(const std::string& waitpoint);
Refusal step_not_found(const ExecutionId& id, const StepName& name);
Refusal too_many_steps(const ExecutionId& id);
Refusal too_many_streams(const ExecutionId& id);
Refusal stream_gap(const StreamName& stream, std::uint64_t written, std::uint64_t claimed);
Refusal stream_full(const StreamName& stream);
Refusal summary_too_large(const StreamName& stream);
Refusal stream_differs(const StreamName& stream, std::string_view field, std::string_view value);
Refusal not_found(const FlowId& id);
Refusal not_a_node(const ExecutionId& id);
// A node in the operation that adds it: `list` is the field with the nodes; empty: the operation is one node itself.
struct NodePath {
  std::string_view list;
  std::size_t place = 0;
};
Refusal not_a_child(const NodeName& node, const NodePath& path);  // the flow has it already
Refusal another_node(const NodeName& node, const NodePath& path,
                     std::string_view part);  // the flow has it already, and its `part` is another
Refusal is_item_name(const NodeName& node, const NodeName& map, const NodePath& path);
Refusal item_exists(const NodeName& map, const NodePath& path);  // as a node that is no item
Refusal item_name_taken(const NodeName& item, const NodeName& map);
Refusal adds_itself(const NodeName& node, const NodePath& path);
Refusal duplicate_mismatch(const FlowId& id);
Refusal node_not_found(const FlowId& flow, const NodeName& node);  // the field `from`
Refusal node_not_found(const FlowId& flow, const NodeName& node, const NodePath& path,
                       std::size_t dependency);
Refusal unusable(const FlowId& id);       // another namespace has it, which is not to be told
Refusal being_removed(const FlowId& id);  // and submitted again meanwhile
Refusal no_nodes(const FlowId& id);
Refusal not_building(const FlowId& id, FlowState state);
Refusal not_running(const FlowId& id, FlowState state);
Refusal never_sealed(const FlowId& id, FlowState state);  // it ended while it was being built
Refusal already_terminal(const FlowId& id, FlowState state);
Refusal still_ending(const FlowId& id, FlowState state);  // its nodes have not all ended
Refusal flow_too_large(const FlowId& id, std::string_view list);
Refusal flow_holds(const ExecutionId& node, const FlowId& flow, FlowState state);
// Of open flows.
Refusal not_open(const FlowId& id);
Refusal takes_no_nodes(const FlowId& id);  // it is open
Refusal stale_revision(const FlowId& id, std::uint32_t current);
Refusal not_a_member(const FlowId& id, std::string_view field, const ExecutionId& execution);
Refusal already_in_flow(const ExecutionId& id, const FlowId& other);
Refusal depends_on_itself(const ExecutionId& id);
Refusal closes_circle(const ExecutionId& upstream, const ExecutionId& downstream);
Refusal edge_exists(const GivenEdgeId& edge);
Refusal edge_not_found(const FlowId& id, const GivenEdgeId& edge);
Refusal has_begun(const ExecutionId& id, ExecutionState state);

Refusal dependencies_failed(const ExecutionId& node);
Refusal replays_exhausted(const ExecutionId& id, std::uint32_t max);

}  // namespace ff::core::refusals
