// Commands about flows to a store, beside the operations that are commands themselves (SealFlow, …).
#pragma once

#include <map>
#include <variant>

#include "core/flows/flow.hpp"

namespace ff::core {

// A node with the execution that it becomes. The graph of a node that is a flow is its payload, and `node.flow` is
// without nodes.
struct NewNode {
  ExecutionId id;
  FlowNode node;
};

// Makes a flow with its first nodes. `submit.nodes` is empty; `submit.id` is ignored. With `submit.dry_run`, it only
// looks for an earlier one, and the reply tells nothing of a new one.
struct CreateFlow {
  using Reply = FlowReply;
  static constexpr OperationRow row{.owner = Owner::flow, .writes = Writes::durable};
  FlowId id;
  PartitionIndex partition = 0;
  SubmitFlow submit;
  std::vector<NewNode> nodes;
  std::uint64_t digest = 0;  // of the submitted flow; a repeated submit must match it
  bool minted = false;       // the id was made for this; nothing can have it yet
  std::optional<ParentNode> parent = {};
  bool is_open = false;      // for ff::OpenFlow: an earlier one need not match
  Millis retention_default = limits::retention_default;
};

// Adds nodes to a flow that is being built or runs.
struct AddNodes {
  using Reply = FlowInfo;
  static constexpr OperationRow row{.owner = Owner::flow, .writes = Writes::durable};
  FlowId id;
  std::vector<NewNode> nodes;
  Millis retention_default = limits::retention_default;
};

// Adds one node as a submit of an execution does: a node that is there already must be the same one.
struct SubmitNode {
  using Reply = SubmitReply;
  static constexpr OperationRow row{.owner = Owner::flow, .writes = Writes::durable};
  FlowId id;
  Namespace ns;
  NewNode node;
  Millis retention_default = limits::retention_default;
};

// Ends a node or gives it back, and adds nodes to its flow in the same change. `end` has no nodes in it.
struct Grow {
  using Reply = EndReply;
  static constexpr OperationRow row{.owner = Owner::execution, .writes = Writes::durable};
  ExecutionId id;
  FlowId flow;
  std::variant<Complete, WaitForChildren> end;
  std::vector<NewNode> nodes;
  Millis retention_default = limits::retention_default;
};

// Adds items to a node that runs once for each entry of a list. Safe to repeat.
struct AddItems {
  using Reply = Done;
  static constexpr OperationRow row{.owner = Owner::execution, .writes = Writes::logged};
  struct Item {
    ExecutionId id;
    std::string payload;
  };
  ExecutionId id;
  std::uint32_t run = 0;    // of the node; nothing is added to a later one
  std::uint32_t first = 0;  // the index of the first item
  std::vector<Item> items;
  bool is_last = false;
  Millis retention_default = limits::retention_default;
};

// Ends a node that the engine runs. Safe to repeat.
struct EndNode {
  using Reply = Done;
  static constexpr OperationRow row{.owner = Owner::execution, .writes = Writes::logged};
  struct Failure {
    std::string reason;
    std::string category;
  };
  ExecutionId id;
  std::uint32_t run = 0;  // a later one is not ended
  std::optional<std::string> result = {};
  std::optional<ContentType> content_type = {};
  std::optional<Failure> failure = {};  // absent: it completed
};

struct ReadFlow {
  using Reply = FlowInfo;
  static constexpr OperationRow row{.owner = Owner::flow};
  FlowId id;
};

// Marks a flow as cancelled; AdvanceFlow cancels its nodes.
struct BeginCancel {
  using Reply = CancelFlowReply;
  static constexpr OperationRow row{.owner = Owner::flow, .writes = Writes::durable};
  FlowId id;
  std::string reason = {};
  CancelPolicy policy{};
};

// Resets a node and everything after it, or lets AdvanceFlow reset all nodes that failed.
struct BeginRedrive {
  using Reply = FlowInfo;
  static constexpr OperationRow row{.owner = Owner::flow, .writes = Writes::durable};
  FlowId id;
  std::optional<ExecutionId> from = {};  // absent: all that failed
  std::string reason = {};
};

struct SliceReply {
  bool more = false;  // the command is to be run again
  std::optional<EdgeId> next = {};
  bool operator==(const SliceReply&) const = default;
};

// One slice of the outstanding work of a flow. Safe to repeat.
struct AdvanceFlow {
  using Reply = SliceReply;
  static constexpr OperationRow row{.owner = Owner::flow, .writes = Writes::logged};
  FlowId id;
  bool operator==(const AdvanceFlow&) const = default;
};

// Brings the edges out of a node in line with its state, one slice of them: decided if it has ended, open if it
// runs again. Safe to repeat.
struct ResolveEdges {
  using Reply = SliceReply;
  static constexpr OperationRow row{.owner = Owner::execution, .writes = Writes::logged};
  ExecutionId id;
  // Two for each run of the node, and one more if it has ended. A later cause is thus another effect, which stays
  // when this one is settled.
  std::uint32_t turn = 0;
  std::optional<EdgeId> after = {};  // `next` of the slice before
  bool operator==(const ResolveEdges&) const = default;
};

// Cancels the nodes before a node that started without waiting for all of them, if no other node waits for
// them; one slice of them. Safe to repeat.
struct CancelRest {
  using Reply = SliceReply;
  static constexpr OperationRow row{.owner = Owner::execution, .writes = Writes::logged};
  ExecutionId id;
  std::uint32_t run = 0;  // of the node, which started; it does nothing to a later one
  std::optional<EdgeId> after = {};
  bool operator==(const CancelRest&) const = default;
};

// ---- Repairs -------------------------------------------------------------------------------------

// Compares the edges into a node that waits for others with those nodes, one slice of them, and repairs what differs.
// Work that an effect is stored for is left to that effect, so a store without faults needs no repair.
struct CheckReply {
  std::uint32_t repaired = 0;
  std::optional<std::uint32_t> next = {};  // `from` of the next slice
  bool operator==(const CheckReply&) const = default;
};
struct CheckNode {
  using Reply = CheckReply;
  static constexpr OperationRow row{.owner = Owner::execution, .writes = Writes::logged};
  ExecutionId id;
  std::uint32_t from = 0;  // the index of the first edge
};

// Nodes that were counted by state.
struct NodeTally {
  std::map<ExecutionState, std::uint32_t> states = {};
  std::uint32_t failures = 0;  // as core::Flow::failures
  bool operator==(const NodeTally&) const = default;
};

// Counts the nodes of a flow, one slice of them. The last slice repairs the counters of the flow, if the flow has not
// changed since the first one. A walk whose effect is lost gets another one. On Valkey, it also writes the summary of a
// flow that a program of the contract made.
struct CheckFlowReply {
  std::uint32_t repaired = 0;
  std::optional<std::uint32_t> next = {};  // `from` of the next slice
  std::uint64_t version = 0;
  NodeTally tally = {};
  bool operator==(const CheckFlowReply&) const = default;
};
struct CheckFlow {
  using Reply = CheckFlowReply;
  static constexpr OperationRow row{.owner = Owner::flow, .writes = Writes::logged};
  FlowId id;
  std::uint32_t from = 0;     // the index of the first node
  std::uint64_t version = 0;  // of the flow, as the first slice told it
  NodeTally tally = {};       // of the nodes before `from`
};

// Cancels members of a flow that a program of the contract cancelled, or the nodes before a node that started without
// them; one slice of them. Only on Valkey.
struct OwedReply {
  std::uint32_t cancelled = 0;
  bool more = false;
};
struct CancelOwedMembers {
  using Reply = OwedReply;
  static constexpr OperationRow row{.owner = Owner::flow, .writes = Writes::logged};
  FlowId id;
};
struct CancelSiblings {
  using Reply = OwedReply;
  static constexpr OperationRow row{.owner = Owner::execution, .writes = Writes::logged};
  ExecutionId id;  // the node that started
  FlowId flow;
};

// ---- Lists ---------------------------------------------------------------------------------------

// Work on a node with a list that is the engine's, not the store's: the items of its list are to be added, or their
// results to be collected.
struct ExpandMap {
  ExecutionId id;
  std::uint32_t run = 0;
  NodeName input;  // whose result is the list
  bool operator==(const ExpandMap&) const = default;
};
struct CollectMap {
  ExecutionId id;
  std::uint32_t run = 0;
  std::uint32_t items = 0;
  std::uint32_t tolerated_failures = 0;
  bool operator==(const CollectMap&) const = default;
};

// Likewise for a node that is a flow: that flow is to start, to be held, to go on or to be cancelled, as its node
// demands by then.
struct RunSubflow {
  ExecutionId id;
  std::uint32_t run = 0;
  std::uint32_t turn = 0;
  bool operator==(const RunSubflow&) const = default;
};
// The flow has ended, and so does its node.
struct EndSubflow {
  ExecutionId id;  // of the node
  std::uint32_t run = 0;
  FlowId flow;
  std::uint32_t generation = 0;  // of the flow; it may be redriven and end again
  bool operator==(const EndSubflow&) const = default;
};

}  // namespace ff::core
