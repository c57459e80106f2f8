#include "store/embedded/disk/flow_records.hpp"

#include <fmt/format.h>

#include "records.pb.h"
#include "store/embedded/disk/record_reader.hpp"

namespace ff::embedded {
namespace {

std::int64_t flow_ms(TimePoint time) { return time.time_since_epoch().count(); }
TimePoint flow_time(std::int64_t ms) { return TimePoint{Millis{ms}}; }

std::string bytes_of(const Uuid& uuid) { return {uuid.bytes().begin(), uuid.bytes().end()}; }

std::unexpected<Error> damaged_flow(std::string_view what, const ExecutionId& id) {
  return fail(Errc::store_damaged,
              fmt::format("the record of {} {} is damaged; restore the data directory from a backup",
                          what, id.str()));
}

}  // namespace

std::string encode(const core::Flow& flow) {
  thread_local proto::Flow out;
  out.Clear();
  out.set_namespace_(flow.ns.str());
  out.set_kind(flow.kind.str());
  for (const auto& [key, value] : flow.tags) {
    auto& tag = *out.add_tags();
    tag.set_key(key);
    tag.set_value(value);
  }
  if (flow.idempotency_key) out.set_idempotency_key(flow.idempotency_key->str());
  out.set_request_digest(flow.request_digest);
  out.set_on_failure(std::to_underlying(flow.on_failure));
  if (flow.result) out.set_result(flow.result->str());
  for (const auto& budget : flow.budgets) out.add_budgets(bytes_of(budget.uuid()));
  out.set_created_at_ms(flow_ms(flow.created_at));
  if (flow.deadline) out.set_deadline_ms(flow_ms(*flow.deadline));
  out.set_retention_ms(flow.retention.count());
  out.set_nodes(flow.counts.nodes);
  out.set_completed(flow.counts.completed);
  out.set_failed(flow.counts.failed);
  out.set_cancelled(flow.counts.cancelled);
  out.set_expired(flow.counts.expired);
  out.set_skipped(flow.counts.skipped);
  out.set_failures(flow.failures);
  out.set_edges(flow.edges);
  out.set_revision(flow.revision);
  out.set_generation(flow.generation);
  out.set_version(flow.version);
  out.set_state(std::to_underlying(flow.state));
  if (flow.ended_at) out.set_ended_at_ms(flow_ms(*flow.ended_at));
  out.set_reason(flow.reason);
  out.set_pause_reason(flow.pause_reason);
  if (flow.cancel_policy) out.set_cancel_policy(std::to_underlying(*flow.cancel_policy));
  out.set_is_unsealed(flow.is_unsealed);
  out.set_is_stopping(flow.is_stopping);
  out.set_is_redriving(flow.is_redriving);
  out.set_is_removing(flow.is_removing);
  out.set_is_open(flow.is_open);
  if (flow.walk) out.set_walk(*flow.walk);
  if (flow.parent) {
    auto& parent = *out.mutable_parent();
    parent.set_partition(flow.parent->node.partition());
    parent.set_uuid(bytes_of(flow.parent->node.uuid()));
    parent.set_run(flow.parent->run);
  }
  return out.SerializeAsString();
}

Result<core::Flow> decode_flow(const ExecutionId& subject, std::string_view bytes) {
  thread_local proto::Flow stored;
  RecordReader read;
  if (!parse(stored, bytes)) return damaged_flow("flow", subject);
  core::Flow flow{.id = FlowId{subject.uuid()},
                  .partition = subject.partition(),
                  .ns = read.text<Namespace>(stored.namespace_()),
                  .kind = read.text<Kind>(stored.kind()),
                  .request_digest = stored.request_digest(),
                  .on_failure = read.named<FlowFailure>(stored.on_failure()),
                  .created_at = flow_time(stored.created_at_ms()),
                  .retention = Millis{stored.retention_ms()},
                  .counts = {.nodes = stored.nodes(),
                             .completed = stored.completed(),
                             .failed = stored.failed(),
                             .cancelled = stored.cancelled(),
                             .expired = stored.expired(),
                             .skipped = stored.skipped()},
                  .failures = stored.failures(),
                  .edges = stored.edges(),
                  .revision = stored.revision(),
                  .generation = stored.generation(),
                  .version = stored.version(),
                  .state = read.named<FlowState>(stored.state()),
                  .reason = stored.reason(),
                  .pause_reason = stored.pause_reason(),
                  .is_open = stored.is_open(),
                  .is_unsealed = stored.is_unsealed(),
                  .is_stopping = stored.is_stopping(),
                  .is_redriving = stored.is_redriving(),
                  .is_removing = stored.is_removing()};
  for (const auto& tag : stored.tags()) flow.tags.emplace(tag.key(), tag.value());
  for (const auto& budget : stored.budgets()) flow.budgets.emplace_back(read.uuid(budget));
  if (stored.has_idempotency_key())
    flow.idempotency_key = read.text<IdempotencyKey>(stored.idempotency_key());
  if (stored.has_result()) flow.result = read.text<NodeName>(stored.result());
  if (stored.has_deadline_ms()) flow.deadline = flow_time(stored.deadline_ms());
  if (stored.has_ended_at_ms()) flow.ended_at = flow_time(stored.ended_at_ms());
  if (stored.has_cancel_policy())
    flow.cancel_policy = read.named<CancelPolicy>(stored.cancel_policy());
  if (stored.has_walk()) flow.walk = stored.walk();
  if (stored.has_parent())
    flow.parent = {.node = read.execution_id(stored.parent().partition(), stored.parent().uuid()),
                   .run = stored.parent().run()};
  if (!read.ok() || flow.counts.ended() > flow.counts.nodes) return damaged_flow("flow", subject);
  return flow;
}

std::string encode(const core::Edge& edge) {
  proto::Edge out;
  out.set_upstream(bytes_of(edge.upstream.uuid()));
  out.set_on(std::to_underlying(edge.on));
  if (edge.input) out.set_input(edge.input->str());
  out.set_state(std::to_underlying(edge.state));
  out.set_run(edge.run);
  out.set_role(std::to_underlying(edge.role));
  if (edge.given) out.set_given(bytes_of(edge.given->uuid()));
  return out.SerializeAsString();
}

Result<core::Edge> decode_edge(const core::EdgeId& id, std::string_view bytes) {
  proto::Edge stored;
  RecordReader read;
  constexpr auto states = std::to_underlying(core::EdgeState::impossible);
  constexpr auto roles = std::to_underlying(core::EdgeRole::staged);
  if (!parse(stored, bytes) || stored.state() > states || stored.role() > roles)
    return damaged_flow("an edge into execution", id.downstream);
  core::Edge edge{.id = id,
                  .upstream = {id.downstream.partition(), read.uuid(stored.upstream())},
                  .role = static_cast<core::EdgeRole>(stored.role()),
                  .on = read.named<DependsOn>(stored.on()),
                  .state = static_cast<core::EdgeState>(stored.state()),
                  .run = stored.run()};
  if (stored.has_input()) edge.input = read.text<NodeName>(stored.input());
  if (!stored.given().empty()) edge.given = GivenEdgeId{read.uuid(stored.given())};
  if (!read.ok()) return damaged_flow("an edge into execution", id.downstream);
  return edge;
}

std::string encode_member(const ExecutionId& node) { return bytes_of(node.uuid()); }

Result<ExecutionId> decode_member(PartitionIndex partition, std::string_view bytes) {
  RecordReader read;
  const auto uuid = read.uuid(std::string(bytes));
  if (!read.ok()) return damaged_flow("a node in partition", ExecutionId{partition, uuid});
  return ExecutionId{partition, uuid};
}

}  // namespace ff::embedded
