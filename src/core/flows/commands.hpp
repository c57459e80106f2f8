// Commands about flows to a store, beside the operations that are commands themselves (SealFlow, …).
#pragma once

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

// Adds nodes to a flow that is being built.
struct AddNodes {
  using Reply = FlowInfo;
  static constexpr OperationRow row{.owner = Owner::flow, .writes = Writes::durable};
  FlowId id;
  std::vector<NewNode> nodes;
  Millis retention_default = limits::retention_default;
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

}  // namespace ff::core
