// JSON fields of open flows, as the published contract has them: the flow is `flow_id` also in the body, and a reply is
// an object with the name of its variant.
#include <flowfabric/limits.hpp>

#include "http/wire/json_codec.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {
namespace {

// Of the replies
struct FlowOnly {
  FlowId flow_id;
};
struct Added {
  ExecutionId execution_id;
  std::uint32_t new_node_count = 0;
};
struct AlreadyMember {
  ExecutionId execution_id;
  std::uint32_t node_count = 0;
};
struct Staged {
  GivenEdgeId edge_id;
  std::uint32_t new_graph_revision = 0;
};
struct Applied {
  std::uint32_t unsatisfied_count = 0;
};
struct AlreadyApplied {};
struct Cancelled {
  CancelPolicy cancellation_policy{};
  std::vector<ExecutionId> member_execution_ids = {};
};
struct CancellationScheduled {
  CancelPolicy cancellation_policy{};
  std::uint32_t member_count = 0;
  std::vector<ExecutionId> member_execution_ids = {};
};
struct PartiallyCancelled {
  CancelPolicy cancellation_policy{};
  std::vector<ExecutionId> member_execution_ids = {};
  std::vector<ExecutionId> failed_member_execution_ids = {};
};

// The engine's clock decides.
void describe_now(Fields& fields) {
  std::optional<std::int64_t> unused;
  fields.optional("now", unused);
}

// The only kind of dependency.
enum class DependencyKind : std::uint8_t { success_only };

// The contract copies a result into the payload of the member after it; here that member reads it as an input.
struct NoDataPassing {};

}  // namespace
}  // namespace ff::http

namespace ff {
FF_NAMES(http::DependencyKind, "success_only");
}

namespace ff::http {

template <>
struct Codec<NoDataPassing> {
  static json::value write(NoDataPassing) { return {}; }
  static Result<NoDataPassing> read(const json::value& value, Source) {
    if (value == "") return NoDataPassing{};
    return fail(Errc::invalid_input,
                "must be left out: a member reads the results of those before it at "
                "/v1/executions/{id}/inputs");
  }
  static json::object schema(NamedSchemas&) { return {{"type", "string"}, {"maxLength", 0}}; }
};

void describe(Fields& fields, FlowOnly& part) { fields.required("flow_id", part.flow_id); }
void describe(Fields& fields, Added& part) {
  fields.required("execution_id", part.execution_id);
  fields.required("new_node_count", part.new_node_count);
}
void describe(Fields& fields, AlreadyMember& part) {
  fields.required("execution_id", part.execution_id);
  fields.required("node_count", part.node_count);
}
void describe(Fields& fields, Staged& part) {
  fields.required("edge_id", part.edge_id);
  fields.required("new_graph_revision", part.new_graph_revision);
}
void describe(Fields& fields, Applied& part) {
  fields.required("unsatisfied_count", part.unsatisfied_count);
}
void describe(Fields&, AlreadyApplied&) {}
void describe(Fields& fields, Cancelled& part) {
  fields.required("cancellation_policy", part.cancellation_policy);
  fields.required("member_execution_ids", part.member_execution_ids);
}
void describe(Fields& fields, CancellationScheduled& part) {
  fields.required("cancellation_policy", part.cancellation_policy);
  fields.required("member_count", part.member_count);
  fields.required("member_execution_ids", part.member_execution_ids);
}
void describe(Fields& fields, PartiallyCancelled& part) {
  fields.required("cancellation_policy", part.cancellation_policy);
  fields.required("member_execution_ids", part.member_execution_ids);
  fields.required("failed_member_execution_ids", part.failed_member_execution_ids);
}

// ---- Requests -----------------------------------------------------------------------------------

void describe(Fields& fields, OpenFlow& open) {
  fields.required("flow_id", open.id);
  fields.defaulted("flow_kind", open.kind);
  fields.defaulted("namespace", open.ns);
  describe_now(fields);
}

void describe(Fields& fields, AddFlowMember& add) {
  fields.required("flow_id", add.id);
  fields.required("execution_id", add.execution);
  describe_now(fields);
}

namespace {

template <class Op>
void describe_edge(Fields& fields, Op& operation) {
  fields.required("flow_id", operation.id);
  fields.required("edge_id", operation.edge);
  fields.required("upstream_execution_id", operation.upstream);
  fields.required("downstream_execution_id", operation.downstream);
  DependencyKind kind{};
  fields.defaulted("dependency_kind", kind);
  std::optional<NoDataPassing> passed;
  fields.optional("data_passing_ref", passed);
  describe_now(fields);
}

}  // namespace

void describe(Fields& fields, StageEdge& stage) {
  describe_edge(fields, stage);
  fields.required("expected_graph_revision", stage.expected_revision);
}

void describe(Fields& fields, ApplyEdge& apply) {
  describe_edge(fields, apply);
  std::optional<std::uint32_t> seen;  // the revision that the caller knows; nothing depends on it
  fields.optional("graph_revision", seen);
}

void describe(Fields& fields, CancelMembers& cancel) {
  fields.required("flow_id", cancel.id);
  fields.defaulted("reason", cancel.reason);
  fields.defaulted("cancellation_policy", cancel.policy);
  std::string wait = cancel.wait > Millis{0} ? "true" : "";
  fields.unless_usual("wait", wait, {});
  cancel.wait = wait == "true" || wait == "1" ? limits::wait_max : Millis{0};
  describe_now(fields);
}

// ---- Replies ------------------------------------------------------------------------------------

void describe(Fields& fields, OpenFlowReply& reply) {
  std::optional<FlowOnly> made, there;
  (reply.duplicate ? there : made) = FlowOnly{reply.id};
  fields.optional("Created", made);
  fields.optional("AlreadySatisfied", there);
  reply.duplicate = there.has_value();
  if (const auto& part = there ? there : made) reply.id = part->flow_id;
}

void describe(Fields& fields, AddFlowMemberReply& reply) {
  std::optional<Added> added;
  std::optional<AlreadyMember> there;
  if (reply.duplicate)
    there = {reply.execution, reply.nodes};
  else
    added = {reply.execution, reply.nodes};
  fields.optional("Added", added);
  fields.optional("AlreadyMember", there);
  reply.duplicate = there.has_value();
  if (there)
    reply = {.execution = there->execution_id, .nodes = there->node_count, .duplicate = true};
  else if (added)
    reply = {.execution = added->execution_id, .nodes = added->new_node_count};
}

void describe(Fields& fields, StageEdgeReply& reply) {
  Staged staged{reply.edge, reply.revision};
  fields.required("Staged", staged);
  reply = {.edge = staged.edge_id, .revision = staged.new_graph_revision};
}

void describe(Fields& fields, ApplyEdgeReply& reply) {
  std::optional<Applied> applied;
  std::optional<AlreadyApplied> there;
  if (reply.duplicate)
    there.emplace();
  else
    applied = {reply.unsatisfied};
  fields.optional("Applied", applied);
  fields.optional("AlreadyApplied", there);
  reply.duplicate = there.has_value();
  if (applied) reply.unsatisfied = applied->unsatisfied_count;
}

void describe(Fields& fields, CancelMembersReply& reply) {
  std::optional<Cancelled> cancelled;
  std::optional<CancellationScheduled> scheduled;
  std::optional<PartiallyCancelled> partial;
  if (reply.scheduled)
    scheduled = {reply.policy, reply.count, reply.members};
  else if (!reply.open.empty())
    partial = {reply.policy, reply.members, reply.open};
  else
    cancelled = {reply.policy, reply.members};
  fields.optional("Cancelled", cancelled);
  fields.optional("CancellationScheduled", scheduled);
  fields.optional("PartiallyCancelled", partial);
  const auto take = [&](CancelPolicy policy, std::vector<ExecutionId>& members) {
    reply = {.policy = policy, .members = std::move(members)};
    reply.count = static_cast<std::uint32_t>(reply.members.size());
  };
  if (scheduled) {
    take(scheduled->cancellation_policy, scheduled->member_execution_ids);
    reply.count = scheduled->member_count;
    reply.scheduled = true;
  } else if (partial) {
    take(partial->cancellation_policy, partial->member_execution_ids);
    reply.open = std::move(partial->failed_member_execution_ids);
  } else if (cancelled) {
    take(cancelled->cancellation_policy, cancelled->member_execution_ids);
  }
}

}  // namespace ff::http
