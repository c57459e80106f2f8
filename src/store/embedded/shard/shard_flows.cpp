// The part of a shard that reads and writes flows and their edges.
#include "base/assert.hpp"
#include "base/try.hpp"
#include "core/execution/partitions.hpp"
#include "core/refusals.hpp"
#include "store/embedded/disk/flow_records.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/shard/shard.hpp"

namespace ff::embedded {

ExecutionId Shard::subject_of(const FlowId& id) const {
  return {core::partition_of(id.uuid(), parts_.partition_count), id.uuid()};
}

// ---- Changes -------------------------------------------------------------------------------------

void Shard::put_flow(core::Flow&& next, BatchNumber durable_in, Batch& batch) {
  const auto subject = core::subject_of(next);
  auto& changes = batch.changes;
  const auto found = flows_.find(next.id);
  const auto* before = found == flows_.end() ? nullptr : &found->second.flow;
  if (before) remove_from_indexes(*before, batch);
  if (const auto timer = core::next_timer(next)) {
    indexes_.add_timer(*timer, subject);
    changes.put(keys::flow_timer(timer->due, subject), "");
  }
  if (core::is_kept_until(next)) {
    const auto until = core::retained_until(next);
    changes.put(keys::retention(until, subject), "");
    first_retained_ = std::min(first_retained_.value_or(until), until);
  }
  if (!before) changes.put(keys::flow_by_time(next.ns, next.created_at, subject), "");
  changes.put(keys::flow(subject), encode(next));
  const bool same_state =
      before && before->state == next.state && before->cancel_policy == next.cancel_policy;
  auto& hot = flows_[next.id];
  hot.changed_in = batch.number;
  hot.durable_in = std::max(hot.durable_in, durable_in);
  if (!same_state) hot.state_durable_in = std::max(hot.state_durable_in, durable_in);
  hot.flow = std::move(next);
}

void Shard::remove_from_indexes(const core::Flow& flow, Batch& batch) {
  const auto subject = core::subject_of(flow);
  if (const auto timer = core::next_timer(flow)) {
    indexes_.remove_timer(*timer, subject);
    batch.changes.erase(keys::flow_timer(timer->due, subject));
  }
  if (core::is_kept_until(flow))
    batch.changes.erase(keys::retention(core::retained_until(flow), subject));
}

void Shard::remove_flow(const core::Flow& last, Batch& batch) {
  const auto subject = core::subject_of(last);
  remove_from_indexes(last, batch);
  batch.changes.erase(keys::flow(subject));
  batch.changes.erase(keys::flow_by_time(last.ns, last.created_at, subject));
  flows_.erase(last.id);
  removed_flows_.insert(last.id);
}

void Shard::add_edge(const core::Edge& edge, Batch& batch) {
  batch.changes.put(keys::edge_out(edge.upstream, edge.id), "");
  unwritten_edges_of_.insert(edge.upstream);
  hot_edges_.add(edge);
  put_edge(edge, batch);
}

void Shard::put_edge(const core::Edge& edge, Batch& batch) {
  batch.changes.put(keys::edge_in(edge.id), encode(edge));
  if (hot_edges_.put(edge))
    unwritten_edges_.erase(edge.id);
  else
    unwritten_edges_.insert_or_assign(edge.id, edge);
}

void Shard::add_member(const core::AddMember& member, Batch& batch) {
  batch.changes.put(keys::member(subject_of(member.flow), member.index),
                    encode_member(member.node));
  unwritten_members_of_.insert(member.flow);
}

void Shard::shrink_flows(BatchNumber written) {
  hot_edges_.shrink();
  constexpr std::size_t flows_max = 4'096;
  if (flows_.size() <= flows_max) return;
  std::erase_if(flows_, [&](const auto& entry) {
    const auto& hot = entry.second;
    return hot.changed_in < written && writer_.is_synced(hot.durable_in);
  });
}

// ---- As core sees them ---------------------------------------------------------------------------

Result<const core::Flow*> Shard::find_flow(const FlowId& id) {
  if (const auto found = flows_.find(id); found != flows_.end()) {
    const auto& hot = found->second;
    const auto based_on = starts_execution_ ? hot.state_durable_in : hot.durable_in;
    based_on_unsynced_ |= !writer_.is_synced(based_on);
    return &hot.flow;
  }
  if (removed_flows_.contains(id)) return nullptr;
  const auto subject = subject_of(id);
  const auto bytes = parts_.database.get(keys::flow(subject));
  FF_TRY(bytes);
  if (!*bytes) return nullptr;
  auto flow = decode_flow(subject, **bytes);
  FF_TRY(flow);
  return &(flows_[id] = {.flow = std::move(*flow)}).flow;
}

Result<std::vector<ExecutionId>> Shard::find_members(const FlowId& flow, std::uint32_t from,
                                                     std::size_t max) {
  if (unwritten_members_of_.contains(flow)) FF_TRY(write(*batch_));
  const auto subject = subject_of(flow);
  std::vector<ExecutionId> members;
  Range range{.prefix = keys::members_of(subject)};
  if (from > 0) range.after = keys::member(subject, from - 1);
  const auto visited = parts_.database.for_each(
      range, [&](std::string_view, std::string_view value) -> Result<Database::Next> {
        const auto node = decode_member(subject.partition(), value);
        FF_TRY(node);
        members.push_back(*node);
        return members.size() < max ? Database::Next::go_on : Database::Next::stop;
      });
  FF_TRY(visited);
  return members;
}

Result<std::vector<core::EdgeId>> Shard::find_edges_out(const ExecutionId& upstream,
                                                        const std::optional<core::EdgeId>& after,
                                                        std::size_t max) {
  const auto* record = hot_.find(upstream);
  if (record && record->execution.flow) {
    auto known = hot_edges_.out_of(upstream, record->execution.flow->edges_out, after, max);
    if (known) return std::move(*known);
  }
  if (unwritten_edges_of_.contains(upstream)) FF_TRY(write(*batch_));
  std::vector<core::EdgeId> edges;
  Range range{.prefix = keys::belonging(upstream, core::Belonging::edge_out)};
  if (after) range.after = keys::edge_out(upstream, *after);
  const auto visited = parts_.database.for_each(
      range, [&](std::string_view key, std::string_view) -> Result<Database::Next> {
        edges.push_back(keys::parse_edge_out(upstream, key));
        return edges.size() < max ? Database::Next::go_on : Database::Next::stop;
      });
  FF_TRY(visited);
  return edges;
}

Result<core::Edge> Shard::find_edge(const core::EdgeId& id) {
  if (const auto found = unwritten_edges_.find(id); found != unwritten_edges_.end())
    return found->second;
  if (const auto* known = hot_edges_.find(id)) return *known;
  const auto bytes = parts_.database.get(keys::edge_in(id));
  FF_TRY(bytes);
  return decode_edge(id, bytes->value_or("?"));  // a missing one is damage
}

bool Shard::has_effect(PartitionIndex partition, const core::Effect& effect) {
  return effects_.contains({partition, core::to_text(effect)});
}

// ---- Reads ---------------------------------------------------------------------------------------

Result<FlowInfo> Shard::execute(const core::ReadFlow& query, Batch&) {
  const auto flow = find_flow(query.id);
  FF_TRY(flow);
  if (!*flow || (*flow)->is_removing) return core::refusals::not_found(query.id);
  return core::info_of(**flow);
}

}  // namespace ff::embedded
