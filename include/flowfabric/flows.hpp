// Flows: graphs of executions. A node is an execution that starts when the nodes before it have ended as it
// asks. A flow and its nodes live in one partition and are kept and removed together.
#pragma once

#include <flowfabric/executions.hpp>
#include <flowfabric/graph.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ff {

// ---- Flows --------------------------------------------------------------------------------------

enum class FlowState : std::uint8_t {
  building,  // nodes can be added; none can start
  running,
  paused,  // no node can start
  completed,
  failed,
  cancelled,
  expired,  // its deadline passed, or it was not sealed in time
};
FF_NAMES(FlowState, "building", "running", "paused", "completed", "failed", "cancelled", "expired");

constexpr bool is_terminal(FlowState state) { return state >= FlowState::completed; }

// How many nodes a flow has, and how many of them have ended how.
struct NodeCounts {
  std::uint32_t nodes = 0;
  std::uint32_t completed = 0;
  std::uint32_t failed = 0;
  std::uint32_t cancelled = 0;
  std::uint32_t expired = 0;
  std::uint32_t skipped = 0;

  std::uint32_t ended() const { return completed + failed + cancelled + expired + skipped; }
  std::uint32_t open() const { return nodes - ended(); }
  bool operator==(const NodeCounts&) const = default;
};

struct FlowInfo {
  FlowId id;
  Namespace ns;
  Kind kind;
  FlowState state{};
  NodeCounts counts = {};
  std::uint32_t edges = 0;
  std::uint32_t revision = 0;    // counts changes of the graph
  std::uint32_t generation = 0;  // counts redrives
  FlowFailure on_failure{};
  Tags tags = {};
  std::optional<IdempotencyKey> idempotency_key = {};
  TimePoint created_at;
  std::optional<TimePoint> deadline = {};
  std::optional<TimePoint> ended_at = {};
  Millis retention = limits::retention_default;
  std::string reason = {};  // of a pause, a cancellation or a failure
  std::optional<ExecutionId> result = {};  // the node whose result is the flow's
  std::optional<ExecutionId> parent = {};  // the node of another flow that this flow is
  bool operator==(const FlowInfo&) const = default;
};

struct FlowReply {
  FlowInfo flow;
  bool duplicate = false;  // it was submitted before; nothing was changed
  bool operator==(const FlowReply&) const = default;
};

// Submits a graph in one change: nodes without dependencies can be claimed when the reply comes. An `id` or an
// `idempotency_key` (not both) makes the call safe to repeat.
struct SubmitFlow {
  using Reply = FlowReply;
  static constexpr OperationRow row{.owner = Owner::flow,
                                    .writes = Writes::durable,
                                    .http = {HttpMethod::post,
                                             "/v1/flows",
                                             Role::submit,
                                             "Submit a flow",
                                             {"created", "duplicate"}}};
  std::optional<FlowId> id = {};
  std::optional<IdempotencyKey> idempotency_key = {};
  Namespace ns = default_namespace();
  Kind kind = default_flow_kind();
  std::vector<FlowNode> nodes;
  FlowFailure on_failure = FlowFailure::finish;
  std::optional<NodeName> result = {};  // the node whose result is the flow's
  std::optional<TimePoint> deadline = {};
  Tags tags = {};
  std::vector<BudgetId> budgets = {};  // that every node spends from
  // Of its nodes that name none in their policy; those that are added later have the key of the node that adds them.
  std::optional<FairnessKey> fairness_key = {};
  std::optional<std::uint32_t> fairness_weight = {};
  std::optional<Millis> retention = {};
  bool building = false;  // more nodes follow (ExtendFlow), and then SealFlow
  bool dry_run = false;   // checks the graph; nothing is submitted
};

// Adds nodes to a flow that is being built or runs; those of a flow that runs can start at once. A node that the
// flow has already is left alone, unless it has another payload now: then it runs again with that one.
struct ExtendFlow {
  using Reply = FlowInfo;
  static constexpr OperationRow row{.owner = Owner::flow,
                                    .writes = Writes::durable,
                                    .http = {HttpMethod::post,
                                             "/v1/flows/{id}/nodes",
                                             Role::submit,
                                             "Add nodes to a flow",
                                             {"extended"}}};
  FlowId id;
  std::vector<FlowNode> nodes;
};

// Ends the building of a flow: its nodes can start.
struct SealFlow {
  using Reply = FlowInfo;
  static constexpr OperationRow row{.owner = Owner::flow,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .http = {HttpMethod::post,
                                             "/v1/flows/{id}/seal",
                                             Role::submit,
                                             "Let a flow that was built start",
                                             {"sealed"}}};
  FlowId id;
};

struct DependencyInfo {
  ExecutionId id;  // of the node before
  NodeName node;
  DependsOn on{};
  std::optional<NodeName> input = {};
  bool operator==(const DependencyInfo&) const = default;
};

struct FlowNodeInfo {
  ExecutionId id;
  NodeName name;
  Kind kind;
  LaneId lane;
  ExecutionState state{};
  std::vector<DependencyInfo> after = {};
  std::optional<std::uint32_t> needed = {};
  bool optional = false;
  std::optional<MapOver> map = {};
  std::optional<FlowId> subflow = {};  // of a node that is a flow, once it has started
  std::uint32_t attempts = 0;
  std::optional<TimePoint> started_at = {};
  std::optional<TimePoint> ended_at = {};
  std::optional<WorkerId> worker = {};
  std::string reason = {};  // of a failure, a cancellation or a skip
  bool operator==(const FlowNodeInfo&) const = default;
};

struct FlowNodes {
  std::vector<FlowNodeInfo> nodes;           // in the order in which they were submitted
  std::optional<std::uint32_t> next = {};    // `from` of the next page, if there is one
};

// A flow, with the first page of its nodes if they were asked for.
struct FlowView : FlowInfo {
  std::optional<std::vector<FlowNodeInfo>> nodes = {};
  std::optional<std::uint32_t> next = {};  // `from` of the next page (ListFlowNodes), if there is one
  bool operator==(const FlowView&) const = default;
};

// Waits up to `wait` for the end of the flow, and answers with it as it is then.
struct GetFlow {
  using Reply = FlowView;
  static constexpr OperationRow row{
      .owner = Owner::flow,
      .http = {HttpMethod::get, "/v1/flows/{id}", Role::read,
               "Show a flow, waiting for its end if asked to"}};
  FlowId id;
  Millis wait{0};
  bool graph = false;  // with its nodes and their dependencies
};

struct ListFlowNodes {
  using Reply = FlowNodes;
  static constexpr OperationRow row{
      .owner = Owner::flow,
      .is_stored = true,
      .http = {HttpMethod::get, "/v1/flows/{id}/nodes", Role::read,
               "The nodes of a flow with their states and dependencies"}};
  FlowId id;
  std::uint32_t from = 0;  // the node with this number in the order of submission
  std::uint32_t limit = 1'000;
};

struct FlowList {
  std::vector<FlowInfo> flows;
  std::optional<std::string> next = {};
};

// The flows of a namespace, the newest first. A page may be shorter than `limit` although there is a next one.
struct ListFlows {
  using Reply = FlowList;
  static constexpr OperationRow row{
      .is_stored = true,
      .http = {HttpMethod::get, "/v1/flows", Role::read, "List flows, the newest first"}};
  Namespace ns = default_namespace();
  std::optional<FlowState> state = {};
  std::optional<Kind> kind = {};
  std::optional<std::string> tag = {};  // "key=value"
  std::uint32_t limit = 100;
  std::optional<std::string> cursor = {};
};

// ---- Data ---------------------------------------------------------------------------------------

// The result of a node before this one.
struct NodeInput {
  NodeName name;  // of the input
  NodeName node;
  ExecutionState state{};
  std::string result = {};  // of a completed node
  std::optional<ContentType> content_type = {};
  bool operator==(const NodeInput&) const = default;
};

struct NodeInputs {
  std::vector<NodeInput> inputs;  // in the order of the node's dependencies
  std::optional<std::uint32_t> next = {};
};

// The results of the nodes before this one; with `name`, only the inputs of that name. A page ends at
// limits::inputs_page_bytes_max.
struct GetInputs {
  using Reply = NodeInputs;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .is_stored = true,
                                    .http = {HttpMethod::get, "/v1/executions/{id}/inputs",
                                             Role::read,
                                             "The results of the nodes that it depends on"}};
  ExecutionId id;
  std::optional<NodeName> name = {};
  std::uint32_t from = 0;
};

// ---- Operators ----------------------------------------------------------------------------------

enum class CancelPolicy : std::uint8_t {
  cancel_all,
  cancel_pending,  // nodes that have not started; the flow is cancelled when the others have ended
  flow_only,       // nodes that run or can be claimed go on; no other node starts
};
FF_NAMES(CancelPolicy, "cancel_all", "cancel_pending", "flow_only");

struct CancelFlowReply {
  FlowInfo flow;
  CancelPolicy policy{};     // of the first cancellation
  std::uint32_t scheduled = 0;  // nodes that are still to be cancelled
  bool operator==(const CancelFlowReply&) const = default;
};

// No node can be claimed from now on; the nodes are cancelled in the background, or before the reply if it is
// to wait. Repeated, it answers with the first policy and reason.
struct CancelFlow {
  using Reply = CancelFlowReply;
  static constexpr OperationRow row{.owner = Owner::flow,
                                    .writes = Writes::durable,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/flows/{id}/cancel",
                                             Role::submit,
                                             "Cancel a flow and its nodes",
                                             {"cancelled"}}};
  FlowId id;
  std::string reason = {};
  CancelPolicy policy = CancelPolicy::cancel_all;
  Millis wait{0};
};

// No further node starts until ResumeFlow; running ones go on.
struct PauseFlow {
  using Reply = FlowInfo;
  static constexpr OperationRow row{.owner = Owner::flow,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/flows/{id}/pause",
                                             Role::submit,
                                             "Start no further nodes",
                                             {"paused"}}};
  FlowId id;
  std::string reason = {};
};

struct ResumeFlow {
  using Reply = FlowInfo;
  static constexpr OperationRow row{.owner = Owner::flow,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/flows/{id}/resume",
                                             Role::submit,
                                             "Let nodes of a paused flow start",
                                             {"resumed"}}};
  FlowId id;
};

struct RedriveReply {
  FlowInfo flow;
  std::vector<NodeName> nodes = {};  // that run again, at most limits::redrive_names_max of them
  std::uint32_t count = 0;           // of all of them
  bool operator==(const RedriveReply&) const = default;
};

// Runs a node, or all that failed, once more, and everything after them; other results stay.
struct RedriveFlow {
  using Reply = RedriveReply;
  static constexpr OperationRow row{.owner = Owner::flow,
                                    .writes = Writes::durable,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/flows/{id}/redrive",
                                             Role::submit,
                                             "Run nodes of a flow once more, and all after them",
                                             {"redriven"}}};
  FlowId id;
  std::optional<NodeName> from = {};  // absent: all that failed, expired or were cancelled
  std::string reason = {};
  bool dry_run = false;  // only tells which nodes would run again
};

}  // namespace ff
