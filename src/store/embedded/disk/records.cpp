#include "store/embedded/disk/records.hpp"

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/overloaded.hpp"
#include "records.pb.h"
#include "store/embedded/disk/record_reader.hpp"

namespace ff::embedded {
namespace {

std::int64_t to_ms(TimePoint time) { return time.time_since_epoch().count(); }

template <class Id>
void write_uuid(const Id& id, std::string& out) {
  out.assign(id.uuid().bytes().begin(), id.uuid().bytes().end());
}

void write(const Fence& fence, proto::Fence& out) {
  write_uuid(fence.lease_id, *out.mutable_lease_id());
  out.set_lease_epoch(std::to_underlying(fence.lease_epoch));
  write_uuid(fence.attempt_id, *out.mutable_attempt_id());
}

void write(const core::PastLease& lease, proto::PastLease& out) {
  write_uuid(lease.lease_id, *out.mutable_lease_id());
  out.set_epoch(std::to_underlying(lease.epoch));
  out.set_worker(lease.worker.str());
  out.set_acquired_at_ms(to_ms(lease.acquired_at));
  out.set_ended_at_ms(to_ms(lease.ended_at));
  out.set_end(std::to_underlying(lease.end));
  out.set_reason(lease.reason);
}

void write(const core::AttemptEnd& end, proto::AttemptEnd& out) {
  out.set_at_ms(to_ms(end.at));
  out.set_outcome(std::to_underlying(end.outcome));
  out.set_reason(end.reason);
  out.set_category(end.category);
  if (end.retry_at) out.set_retry_at_ms(to_ms(*end.retry_at));
}

void write(const core::Attempt& attempt, proto::Attempt& out) {
  out.set_index(attempt.index);
  out.set_type(std::to_underlying(attempt.type));
  out.set_cause(attempt.cause);
  if (attempt.requested_by) out.set_requested_by(*attempt.requested_by);
  if (attempt.requested_at) out.set_requested_at_ms(to_ms(*attempt.requested_at));
  write(attempt.fence, *out.mutable_fence());
  out.set_worker(attempt.worker.str());
  out.set_started_at_ms(to_ms(attempt.started_at));
  if (attempt.timeout_left) out.set_timeout_left_ms(attempt.timeout_left->count());
  for (const auto& lease : attempt.past_leases) write(lease, *out.add_past_leases());
  if (attempt.end) write(*attempt.end, *out.mutable_end());
}

void write(const RetryPolicy& retry, proto::RetryPolicy& out) {
  out.set_max_retries(retry.max_retries);
  std::visit(Overloaded{
                 [&](const FixedBackoff& fixed) {
                   out.mutable_fixed()->set_delay_ms(fixed.delay.count());
                 },
                 [&](const ExponentialBackoff& growing) {
                   auto& exponential = *out.mutable_exponential();
                   exponential.set_initial_delay_ms(growing.initial_delay.count());
                   exponential.set_max_delay_ms(growing.max_delay.count());
                   exponential.set_multiplier(growing.multiplier);
                   exponential.set_jitter(growing.jitter);
                 },
             },
             retry.backoff);
  for (const auto& category : retry.retryable_categories) out.add_retryable_categories(category);
}

}  // namespace

void write(const Policy& policy, proto::Policy& out) {
  if (policy.retry) write(*policy.retry, *out.mutable_retry());
  if (policy.attempt_timeout) out.set_attempt_timeout_ms(policy.attempt_timeout->count());
  if (policy.execution_deadline) out.set_execution_deadline_ms(policy.execution_deadline->count());
  out.set_max_reclaim_count(policy.max_reclaim_count);
  out.set_max_replay_count(policy.max_replay_count);
  for (const auto& token : policy.required_capabilities.tokens())
    out.add_required_capabilities(token);
  out.set_dedup_window_ms(policy.dedup_window.count());
  if (policy.retention) out.set_retention_ms(policy.retention->count());
  for (const auto& budget : policy.budgets) write_uuid(budget, *out.add_budgets());
  if (policy.quota) write_uuid(*policy.quota, *out.mutable_quota());
  if (policy.max_signals != Policy{}.max_signals) out.set_max_signals(policy.max_signals);
  if (policy.fairness_key) out.set_fairness_key(policy.fairness_key->str());
  if (policy.fairness_weight) out.set_fairness_weight(*policy.fairness_weight);
  if (policy.max_running) out.set_max_running(*policy.max_running);
}

namespace {

void write(const core::Ended& ended, proto::Execution::Ended& out) {
  out.set_at_ms(to_ms(ended.at));
  std::visit(
      Overloaded{
          [&](const core::Completed& completed) {
            auto& stored = *out.mutable_completed();
            if (completed.content_type) stored.set_content_type(completed.content_type->str());
          },
          [&](const core::Failed& failed) {
            out.mutable_failed()->set_reason(failed.reason);
            out.mutable_failed()->set_category(failed.category);
          },
          [&](const core::Cancelled& cancelled) {
            out.mutable_cancelled()->set_reason(cancelled.reason);
            if (cancelled.by) write(*cancelled.by, *out.mutable_cancelled()->mutable_by());
          },
          [&](const core::Expired& expired) { out.mutable_expired()->set_reason(expired.reason); },
          [&](const core::Skipped& skipped) { out.mutable_skipped()->set_reason(skipped.reason); },
      },
      ended.outcome);
}

void write(const core::State& state, proto::Execution& out) {
  std::visit(
      Overloaded{
          [&](const core::Waiting&) { out.mutable_waiting(); },
          [&](const core::Granted& granted) {
            out.mutable_granted()->set_worker(granted.worker.str());
            out.mutable_granted()->set_expires_at_ms(to_ms(granted.expires_at));
            if (granted.token)
              write_uuid(*granted.token, *out.mutable_granted()->mutable_quota_token());
          },
          [&](const core::Delayed& delayed) {
            out.mutable_delayed()->set_until_ms(to_ms(delayed.until));
          },
          [&](const core::WaitingChildren& waiting) {
            auto& stored = *out.mutable_waiting_children();
            if (waiting.delay_until) stored.set_delay_until_ms(to_ms(*waiting.delay_until));
          },
          [&](const core::Active& active) {
            auto& stored = *out.mutable_active();
            stored.mutable_lease()->set_acquired_at_ms(to_ms(active.lease.acquired_at));
            stored.mutable_lease()->set_expires_at_ms(to_ms(active.lease.expires_at));
            if (active.attempt_deadline)
              stored.set_attempt_deadline_ms(to_ms(*active.attempt_deadline));
            if (active.token) write_uuid(*active.token, *stored.mutable_quota_token());
          },
          [&](const core::Suspended& suspended) {
            auto& stored = *out.mutable_suspended();
            write_uuid(suspended.id, *stored.mutable_id());
            stored.set_reason(std::to_underlying(suspended.reason));
            stored.set_since_ms(to_ms(suspended.since));
            if (suspended.timeout_at) stored.set_timeout_at_ms(to_ms(*suspended.timeout_at));
            stored.set_on_timeout(std::to_underlying(suspended.on_timeout));
            stored.set_escalated(suspended.escalated);
          },
          [&](const core::Ended& ended) { write(ended, *out.mutable_ended()); },
          [&](const core::Blocked& blocked) {  // by its flow: no other scheduler is here
            auto& stored = *out.mutable_blocked();
            stored.set_reason(std::to_underlying(blocked.reason));
            stored.set_detail(blocked.detail);
            stored.set_since_ms(to_ms(blocked.since));
          },
      },
      state);
}

void write(const core::Membership& node, proto::Execution::Membership& out) {
  write_uuid(node.flow, *out.mutable_flow());
  out.set_node(node.node.str());
  out.set_index(node.index);
  out.set_is_optional(node.is_optional);
  out.set_is_finalizer(node.is_finalizer);
  out.set_cancel_rest(node.cancel_rest);
  out.set_is_cancelled_as_rest(node.is_cancelled_as_rest);
  if (node.needed) out.set_needed(*node.needed);
  out.set_edges_in(node.edges_in);
  out.set_satisfied(node.satisfied);
  out.set_impossible(node.impossible);
  out.set_edges_out(node.edges_out);
  out.set_children(node.children);
  out.set_open_children(node.open_children);
  out.set_staged(node.staged);
  if (node.spawned_in) out.set_spawned_in(*node.spawned_in);
  if (node.subflow_turn) out.set_subflow_turn(*node.subflow_turn);
  if (!node.map) return;
  auto& map = *out.mutable_map();
  map.set_input(node.map->over.input.str());
  if (node.map->over.max_parallel) map.set_max_parallel(*node.map->over.max_parallel);
  map.set_tolerated_failures(node.map->over.tolerated_failures);
  map.set_phase(std::to_underlying(node.map->phase));
  map.set_items(node.map->items);
}

void write(const Progress& progress, proto::Progress& out) {
  if (progress.percent) out.set_percent(*progress.percent);
  out.set_message(progress.message);
  out.set_at_ms(to_ms(progress.at));
}

std::unexpected<Error> damaged(const ExecutionId& id) {
  return fail(Errc::store_damaged,
              fmt::format("the record of execution {} is damaged; restore the data directory from "
                          "a backup",
                          id.str()));
}

std::unexpected<Error> damaged_entry() {
  return fail(Errc::store_damaged,
              "an index record is damaged; restore the data directory from a backup");
}

}  // namespace

std::string encode(const core::Execution& execution) {
  // Kept between calls for the memory that it holds.
  thread_local proto::Execution out;
  out.Clear();
  out.set_namespace_(execution.ns.str());
  out.set_lane(execution.lane.str());
  out.set_kind(execution.kind.str());
  out.set_priority(execution.priority);
  out.set_created_at_ms(to_ms(execution.created_at));
  if (execution.started_at) out.set_started_at_ms(to_ms(*execution.started_at));
  out.set_last_epoch(std::to_underlying(execution.last_epoch));
  out.set_attempt_count(execution.attempt_count);
  out.set_reclaim_count(execution.reclaim_count);
  for (const auto& [key, value] : execution.tags) {
    auto& tag = *out.add_tags();
    tag.set_key(key);
    tag.set_value(value);
  }
  if (execution.policy != Policy{}) write(execution.policy, *out.mutable_policy());
  if (execution.idempotency_key) out.set_idempotency_key(execution.idempotency_key->str());
  if (execution.content_type) out.set_content_type(execution.content_type->str());
  if (execution.traceparent) out.set_traceparent(execution.traceparent->str());
  out.set_request_digest(execution.request_digest);
  out.set_queued_at_ms(to_ms(execution.queued_at));
  if (execution.deadline) out.set_deadline_ms(to_ms(*execution.deadline));
  out.set_retention_ms(execution.retention.count());
  out.set_retry_count(execution.retry_count);
  out.set_replay_count(execution.replay_count);
  if (execution.attempt) write(*execution.attempt, *out.mutable_attempt());
  if (const auto& replay = execution.pending_replay) {
    out.mutable_pending_replay()->set_reason(replay->reason);
    out.mutable_pending_replay()->set_requested_by(replay->requested_by);
    out.mutable_pending_replay()->set_at_ms(to_ms(replay->at));
  }
  if (execution.progress) write(*execution.progress, *out.mutable_progress());
  out.set_signal_count(execution.signal_count);
  out.set_step_count(execution.step_count);
  out.set_step_bytes(execution.step_bytes);
  out.set_has_waits(execution.has_waits);
  out.set_has_streams(execution.has_streams);
  if (execution.waitpoint_expiry) out.set_waitpoint_expiry_ms(to_ms(*execution.waitpoint_expiry));
  if (const auto& wake = execution.wake) {
    auto& stored = *out.mutable_wake();
    write_uuid(wake->suspension_id, *stored.mutable_suspension_id());
    stored.set_cause(std::to_underlying(wake->cause));
    stored.set_at_ms(to_ms(wake->at));
    stored.set_reason(wake->reason);
  }
  if (execution.flow) write(*execution.flow, *out.mutable_flow());
  write(execution.state, out);
  return out.SerializeAsString();
}

Result<core::Execution> decode(const ExecutionId& id, std::string_view bytes) {
  thread_local proto::Execution stored;
  RecordReader read;
  if (!parse(stored, bytes)) return damaged(id);
  auto execution = read.execution(id, stored);
  if (!read.ok()) return damaged(id);
  return execution;
}

std::string encode(const core::Attempt& attempt) {
  proto::Attempt out;
  write(attempt, out);
  return out.SerializeAsString();
}

Result<core::Attempt> decode_attempt(const ExecutionId& id, std::string_view bytes) {
  proto::Attempt stored;
  RecordReader read;
  if (!parse(stored, bytes)) return damaged(id);
  auto attempt = read.attempt(stored);
  if (!read.ok()) return damaged(id);
  return attempt;
}

std::string encode(const IdempotencyEntry& entry) {
  proto::Idempotency out;
  out.set_partition(entry.id.partition());
  write_uuid(entry.id, *out.mutable_uuid());
  out.set_until_ms(to_ms(entry.until));
  return out.SerializeAsString();
}

Result<IdempotencyEntry> decode_idempotency(std::string_view bytes) {
  proto::Idempotency stored;
  RecordReader read;
  if (!parse(stored, bytes)) return damaged_entry();
  const IdempotencyEntry entry{.id = read.execution_id(stored.partition(), stored.uuid()),
                               .until = TimePoint{Millis{stored.until_ms()}}};
  if (!read.ok()) return damaged_entry();
  return entry;
}

std::string encode_ended(const CountByState& counts) {
  proto::EndedCount out;
  for (std::size_t state = 0; state < counts.size(); ++state) {
    if (counts[state] == 0 || !is_terminal(static_cast<ExecutionState>(state))) continue;
    auto& count = *out.add_counts();
    count.set_state(static_cast<std::uint32_t>(state));
    count.set_count(counts[state]);
  }
  return out.SerializeAsString();
}

Result<CountByState> decode_ended(std::string_view bytes) {
  proto::EndedCount stored;
  CountByState counts{};
  if (!parse(stored, bytes)) return damaged_entry();
  for (const auto& count : stored.counts()) {
    if (count.state() >= counts.size() || !is_terminal(static_cast<ExecutionState>(count.state())))
      return damaged_entry();
    counts[count.state()] = count.count();
  }
  return counts;
}

}  // namespace ff::embedded
