// The records of flows, and the rules that everything else about flows follows from. Pure functions.
#pragma once

#include <flowfabric/open_flows.hpp>

#include <optional>
#include <string>
#include <vector>

#include "core/execution/execution.hpp"

namespace ff::core {

// The run of a node that a flow is.
struct ParentNode {
  ExecutionId node;
  std::uint32_t run = 0;
  bool operator==(const ParentNode&) const = default;
};

struct Flow {
  FlowId id;
  PartitionIndex partition = 0;
  Namespace ns;
  Kind kind;
  Tags tags = {};
  std::optional<IdempotencyKey> idempotency_key = {};
  std::uint64_t request_digest = 0;
  FlowFailure on_failure{};
  std::optional<NodeName> result = {};
  std::vector<BudgetId> budgets = {};
  TimePoint created_at;
  std::optional<TimePoint> deadline = {};
  Millis retention = limits::retention_default;
  NodeCounts counts = {};
  std::uint32_t failures = 0;  // nodes that failed, expired or were cancelled, and are not optional
  std::uint32_t edges = 0;
  std::uint32_t revision = 0;
  std::uint32_t generation = 0;
  std::uint64_t version = 0;  // counts changes of this record
  FlowState state{};                       // cancelled and expired hold while its nodes are still ending
  std::optional<TimePoint> ended_at = {};  // with all its nodes
  std::string reason = {};        // of its end, or of the failure that it will end with
  std::string pause_reason = {};  // while it is paused
  std::optional<CancelPolicy> cancel_policy = {};  // of a cancelled flow
  bool is_open = false;  // it does not end by itself: more nodes may come (ff::OpenFlow)
  bool is_unsealed = false;                        // it ended while it was being built
  bool is_stopping = false;                        // a node failed: only finalizers can start
  bool is_redriving = false;                       // the walk resets nodes that failed
  bool is_removing = false;                        // the walk removes the nodes, then the flow
  std::optional<ParentNode> parent = {};   // it ends with this flow
  std::optional<std::uint32_t> walk = {};  // nodes from this index on are still to be brought in line
  bool operator==(const Flow&) const = default;
};

enum class EdgeState : std::uint8_t { pending, satisfied, impossible };

// An edge as its downstream node keeps it.
struct EdgeId {
  ExecutionId downstream;
  std::uint32_t index = 0;  // among the edges into it
  auto operator<=>(const EdgeId&) const = default;
};
enum class EdgeRole : std::uint8_t {
  dependency,
  spawn,  // from the node that spawned it: impossible if a later run of that node does not spawn it again
  child,  // to a node that began before: it does not go on before the end of its child
  turn,   // between items of a list: the later one starts after the other, which may run again alone
  staged,  // of an open flow: it has no effect before it is applied
};
struct Edge {
  EdgeId id;
  ExecutionId upstream;
  EdgeRole role{};
  DependsOn on{};
  std::optional<NodeName> input = {};
  EdgeState state{};
  std::uint32_t run = 0;  // of the upstream node, that decided it
  std::optional<GivenEdgeId> given = {};  // of an open flow
  bool operator==(const Edge&) const = default;
};

// Stands for the flow where owners are addressed like executions: timers, retention, events.
inline ExecutionId subject_of(const Flow& flow) { return {flow.partition, flow.id.uuid()}; }

// The id of a flow that is submitted with an idempotency key: a UUID (version 5) made of both texts.
FlowId flow_id(const Namespace& ns, const IdempotencyKey& key);

// The execution of a node: a UUID (version 5) made of the flow's and the node's name.
ExecutionId node_id(const FlowId& flow, PartitionIndex partition, const NodeName& name);

// The flow that a run of a node is: a UUID (version 5) made of both.
FlowId subflow_id(const ExecutionId& node, std::uint32_t run);

// The name of an item of a node that runs once for each entry of a list.
NodeName item_name(const NodeName& node, std::uint32_t index);

// NODE of a name NODE.7, which an item of NODE would have; none for other names.
std::optional<NodeName> list_of_item(const NodeName& name);

// How an edge is decided by the end of its upstream node.
EdgeState decided_by(DependsOn on, ExecutionState end);

enum class Verdict : std::uint8_t { wait, ready, skip };
Verdict verdict(const Membership& node);

// The engine runs the node, and no worker: it stands for a list, or is a flow.
inline bool is_run_by_engine(const Membership& node) { return node.map || node.subflow_turn; }
inline bool has_subflow(const Membership& node) { return node.subflow_turn.value_or(0) > 0; }

// Forgets the last run of such a node, which waits again.
void wait_again(Execution& node);

// A node that has not ended waits, or goes on, as its edges and its flow demand. `next` is changed; returns
// the event, if anything changed.
std::optional<EventType> settle(Execution& next, const Flow& flow, TimePoint now);

// Nothing of its run has happened, so that it can still be made to wait.
bool can_wait(const Execution& node);

// The flow goes on although it may have ended: a node of it runs again.
void reopen(Flow& flow);

// Whether nodes of the flow may be claimed.
bool lets_start(const Flow& flow);

// The state with which the flow ends now; none if it goes on or has ended before.
std::optional<FlowState> end_of(const Flow& flow);

// Whether the end of a node is a failure of its flow.
bool fails_flow(const Execution& ended);

// Counts a node that ended (+1), or that ended and runs again (-1).
void count_end(Flow& flow, const Execution& ended, int by);

// Whether anything acts on the flow at a time.
std::optional<Timer> next_timer(const Flow& flow);
TimePoint retained_until(const Flow& flow);

// Whether it is to be removed at retained_until().
bool is_kept_until(const Flow& flow);

FlowInfo info_of(const Flow& flow);
FlowNodeInfo node_info(const Execution& node);  // without its dependencies
Event event_of(EventType type, const Flow& flow, TimePoint now);

}  // namespace ff::core

template <>
struct std::hash<ff::core::EdgeId> {
  std::size_t operator()(const ff::core::EdgeId& id) const noexcept {
    return std::hash<ff::ExecutionId>{}(id.downstream) + id.index * 0x9e3779b97f4a7c15;
  }
};
