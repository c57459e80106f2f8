// Flows under the published contract's paths and names: they are open until they are cancelled, and get executions
// as members and edges between them one by one.
#pragma once

#include <flowfabric/flows.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ff {

using GivenEdgeId = UuidId<struct GivenEdgeTag>;  // of an edge, chosen by the caller

struct OpenFlowReply {
  FlowId id;
  bool duplicate = false;  // there was one; nothing was changed
  bool operator==(const OpenFlowReply&) const = default;
};

// Makes a flow without nodes. It does not end by itself, since more may come at any time.
struct OpenFlow {
  using Reply = OpenFlowReply;
  static constexpr OperationRow row{
      .owner = Owner::flow,
      .writes = Writes::durable,
      .http = {HttpMethod::post, "/v1/flows", Role::submit, "Make an open flow"}};
  FlowId id;
  Namespace ns = default_namespace();
  Kind kind = default_flow_kind();
};

struct AddFlowMemberReply {
  ExecutionId execution;
  std::uint32_t nodes = 0;  // that the flow has with it
  bool duplicate = false;   // it was a member before
  bool operator==(const AddFlowMemberReply&) const = default;
};

// Makes an execution of the flow's partition and namespace a node of an open flow.
struct AddFlowMember {
  using Reply = AddFlowMemberReply;
  static constexpr OperationRow row{.owner = Owner::flow,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .http = {HttpMethod::post, "/v1/flows/{flow_id}/members",
                                             Role::submit, "Add an execution to an open flow"}};
  FlowId id;
  ExecutionId execution;
};

struct StageEdgeReply {
  GivenEdgeId edge;
  std::uint32_t revision = 0;  // of the flow, with this edge
  bool operator==(const StageEdgeReply&) const = default;
};

// Adds an edge between two members, which has no effect before it is applied. Fails with stale_graph_revision if the
// flow's graph has changed since the caller looked.
struct StageEdge {
  using Reply = StageEdgeReply;
  static constexpr OperationRow row{.owner = Owner::flow,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .http = {HttpMethod::post, "/v1/flows/{flow_id}/edges",
                                             Role::submit, "Add an edge to an open flow"}};
  FlowId id;
  GivenEdgeId edge;
  ExecutionId upstream;
  ExecutionId downstream;
  std::uint32_t expected_revision = 0;
};

struct ApplyEdgeReply {
  std::uint32_t unsatisfied = 0;  // edges that the member waits for now
  bool duplicate = false;         // it was applied before
  bool operator==(const ApplyEdgeReply&) const = default;
};

// Makes a member that has not begun wait for the success of another one, as a staged edge says.
struct ApplyEdge {
  using Reply = ApplyEdgeReply;
  static constexpr OperationRow row{.owner = Owner::flow,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .http = {HttpMethod::post, "/v1/flows/{flow_id}/edges/apply",
                                             Role::submit, "Let a member wait for another one"}};
  FlowId id;
  GivenEdgeId edge;
  ExecutionId upstream;
  ExecutionId downstream;
};

struct CancelMembersReply {
  CancelPolicy policy{};
  std::vector<ExecutionId> members = {};  // at most limits::redrive_names_max of them
  std::uint32_t count = 0;                // of all of them
  bool scheduled = false;                 // they are cancelled in the background
  std::vector<ExecutionId> open = {};     // of `members`, those that had not ended when the wait was over
  bool operator==(const CancelMembersReply&) const = default;
};

// CancelFlow with the contract's reply, for any flow.
struct CancelMembers {
  using Reply = CancelMembersReply;
  static constexpr OperationRow row{
      .owner = Owner::flow,
      .writes = Writes::durable,
      .is_audited = true,
      .http = {HttpMethod::post, "/v1/flows/{flow_id}/cancel", Role::submit,
               "Cancel a flow and its members"}};
  FlowId id;
  std::string reason = {};
  CancelPolicy policy = CancelPolicy::cancel_all;
  Millis wait{0};
};

}  // namespace ff
