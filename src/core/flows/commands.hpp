// Commands about flows to a store, beside the operations that are commands themselves (SealFlow, …).
#pragma once

#include <variant>

#include "core/flows/flow.hpp"

namespace ff::core {

// A node with the execution that it becomes.
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

// Ends such a node, with the results of its items or without. Safe to repeat.
struct EndMap {
  using Reply = Done;
  static constexpr OperationRow row{.owner = Owner::execution, .writes = Writes::logged};
  ExecutionId id;
  std::uint32_t run = 0;
  std::optional<std::string> result = {};  // JSON; absent: it failed
  std::string failure = {};
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

}  // namespace ff::core
