// Commands and reads of flows as function calls.
#pragma once

#include <span>

#include "store/valkey/calls/calls.hpp"

namespace ff::valkey_store {

// Whether a node's payload is set beside its core first, as bytes cost less that way.
bool sends_payload_ahead(const core::CreateFlow& command, const core::NewNode& node);
FunctionCall call_for(core::CreateFlow& command);
FunctionCall call_for(core::AddNodes& command);
FunctionCall call_for(core::SubmitNode& command);
FunctionCall call_for(core::Grow& command);
FunctionCall call_for(core::AddItems& command);
FunctionCall call_for(core::EndNode& command);
FunctionCall call_for(SealFlow& command);
FunctionCall call_for(PauseFlow& command);
FunctionCall call_for(ResumeFlow& command);
FunctionCall call_for(core::BeginCancel& command);
FunctionCall call_for(core::BeginRedrive& command);
FunctionCall call_for(core::AdvanceFlow& command);
FunctionCall call_for(core::ResolveEdges& command);
FunctionCall call_for(core::CancelRest& command);
FunctionCall call_for(core::CheckNode& command);
FunctionCall call_for(core::CheckFlow& command);
FunctionCall call_for(core::CancelOwedMembers& command);
FunctionCall call_for(core::CancelSiblings& command);
FunctionCall call_for(AddFlowMember& command);
FunctionCall call_for(StageEdge& command);
FunctionCall call_for(ApplyEdge& command);

FlowReply read_answer(const core::CreateFlow& command, Answer& answer);
FlowInfo read_answer(const core::AddNodes& command, Answer& answer);
SubmitReply read_answer(const core::SubmitNode& command, Answer& answer);
EndReply read_answer(const core::Grow& command, Answer& answer);
Done read_answer(const core::AddItems& command, Answer& answer);
Done read_answer(const core::EndNode& command, Answer& answer);
FlowInfo read_answer(const SealFlow& command, Answer& answer);
FlowInfo read_answer(const PauseFlow& command, Answer& answer);
FlowInfo read_answer(const ResumeFlow& command, Answer& answer);
CancelFlowReply read_answer(const core::BeginCancel& command, Answer& answer);
FlowInfo read_answer(const core::BeginRedrive& command, Answer& answer);
core::SliceReply read_answer(const core::AdvanceFlow& command, Answer& answer);
core::SliceReply read_answer(const core::ResolveEdges& command, Answer& answer);
core::SliceReply read_answer(const core::CancelRest& command, Answer& answer);
core::CheckReply read_answer(const core::CheckNode& command, Answer& answer);
core::CheckFlowReply read_answer(const core::CheckFlow& command, Answer& answer);
core::OwedReply read_answer(const core::CancelOwedMembers& command, Answer& answer);
core::OwedReply read_answer(const core::CancelSiblings& command, Answer& answer);
AddFlowMemberReply read_answer(const AddFlowMember& command, Answer& answer);
StageEdgeReply read_answer(const StageEdge& command, Answer& answer);
ApplyEdgeReply read_answer(const ApplyEdge& command, Answer& answer);

// Reads: what is asked, and what the answer without its first two parts means.
FunctionCall call_for(const core::ReadFlow& query);
FunctionCall call_for(const GetInputs& query);
Result<FlowInfo> read_list(const core::ReadFlow& query, std::vector<Reply> parts);
Result<NodeInputs> read_list(const GetInputs& query, std::vector<Reply> parts);

// Where a slice of a flow's nodes begins: at a node, and at one of the edges into it.
struct NodePlace {
  std::uint32_t node = 0;
  std::uint32_t edge = 0;
};

// If a slice begins within a node, its first node has only the dependencies from there on.
struct NodeSlice {
  std::vector<FlowNodeInfo> nodes;
  std::optional<NodePlace> next = {};
};

// ff_flow_nodes. Answers with fewer nodes than are asked for if they have many edges.
FunctionCall call_for_nodes(NodePlace from, std::uint32_t limit);
Result<NodeSlice> read_nodes(NodePlace from, std::vector<Reply> parts);

// Fields and tags of a flow.
Result<core::Flow> read_flow(std::vector<Reply> fields, std::vector<Reply> tags);

// Of a command whose owner is a flow; `subject` stands for it.
RefusalContext flow_context(const ExecutionId& subject);
// Of a command that adds nodes, which are in the operation's field `list`.
RefusalContext flow_context(const ExecutionId& subject, const FlowId& flow, std::string_view list,
                            std::span<const core::NewNode> nodes);

}  // namespace ff::valkey_store
