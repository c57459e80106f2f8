// JSON fields of what operations answer.
#include "http/wire/json_codec.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {

void describe(Fields& fields, SubmitReply& reply) {
  fields.required("id", reply.id);
  fields.required("duplicate", reply.duplicate);
  fields.required("state", reply.state);
}

void describe(Fields& fields, SubmitManyReply& reply) { fields.required("results", reply.results); }
void describe(Fields& fields, CompleteManyReply& reply) {
  fields.required("results", reply.results);
}

void describe(Fields& fields, ExecutionInfo& info) {
  fields.required("id", info.id);
  fields.required("namespace", info.ns);
  fields.required("lane", info.lane);
  fields.required("kind", info.kind);
  fields.required("priority", info.priority);
  fields.required("state", info.state);
  fields.required("state_vector", info.state_vector);
  fields.optional("blocking_detail", info.blocking_detail);
  fields.required("tags", info.tags);
  fields.required("policy", info.policy);
  fields.optional("idempotency_key", info.idempotency_key);
  fields.optional("content_type", info.content_type);
  fields.optional("traceparent", info.traceparent);
  fields.required("created_at_ms", info.created_at);
  fields.optional("delay_until_ms", info.delay_until);
  fields.optional("deadline_ms", info.deadline);
  fields.optional("started_at_ms", info.started_at);
  fields.optional("completed_at_ms", info.completed_at);
  fields.required("attempts", info.attempts);
  fields.required("retries", info.retries);
  fields.required("reclaims", info.reclaims);
  fields.required("replays", info.replays);
  fields.required("lease_epoch", info.lease_epoch);
  fields.optional("worker", info.worker);
  fields.optional("lease_expires_at_ms", info.lease_expires_at);
  fields.optional("granted_to", info.granted_to);
  fields.optional("progress", info.progress);
  fields.defaulted("signals", info.signals);
  fields.optional("suspended_since_ms", info.suspended_since);
  fields.optional("suspension_timeout_at_ms", info.suspension_timeout);
  fields.optional("flow", info.flow);
  fields.optional("node", info.node);
  fields.optional("subflow", info.subflow);
  fields.optional("failure_reason", info.failure_reason);
  fields.optional("failure_category", info.failure_category);
  fields.optional("cancel_reason", info.cancel_reason);
}

void describe(Fields& fields, AttemptInfo& attempt) {
  fields.required("index", attempt.index);
  fields.required("id", attempt.id);
  fields.required("type", attempt.type);
  fields.required("cause", attempt.cause);
  fields.optional("requested_by", attempt.requested_by);
  fields.required("worker", attempt.worker);
  fields.required("started_at_ms", attempt.started_at);
  fields.optional("ended_at_ms", attempt.ended_at);
  fields.required("outcome", attempt.outcome);
  fields.optional("failure_reason", attempt.failure_reason);
  fields.optional("failure_category", attempt.failure_category);
  fields.optional("retry_at_ms", attempt.retry_at);
}

void describe(Fields& fields, Attempts& reply) { fields.required("attempts", reply.attempts); }

void describe(Fields& fields, LeaseEvent& event) {
  fields.required("type", event.type);
  fields.required("at_ms", event.at);
  fields.optional("lease_id", event.lease_id);
  fields.required("lease_epoch", event.lease_epoch);
  fields.required("attempt_index", event.attempt_index);
  fields.optional("worker", event.worker);
  fields.required("reason", event.reason);
}

void describe(Fields& fields, LeaseHistory& reply) { fields.required("events", reply.events); }

void describe(Fields& fields, ExecutionList& reply) {
  fields.required("executions", reply.executions);
  fields.optional("next", reply.next);
}

void describe(Fields& fields, StateCount& count) {
  fields.required("lane", count.lane);
  fields.required("state", count.state);
  fields.required("count", count.count);
  fields.defaulted("reclaimable", count.reclaimable);
}

void describe(Fields& fields, StateCounts& reply) {
  fields.required("counts", reply.counts);
  fields.unless_usual("paused_lanes", reply.paused_lanes, {});
}

void describe(Fields& fields, Event& event) {
  fields.required("type", event.type);
  fields.required("at_ms", event.at);
  fields.required("id", event.id);
  fields.required("namespace", event.ns);
  fields.unless_usual("lane", event.lane, {});  // a flow has none
  fields.required("kind", event.kind);
  fields.required("state", event.state);
  fields.required("attempts", event.attempts);
  fields.optional("flow", event.flow);
}

void describe(Fields& fields, EventPage& page) {
  fields.required("events", page.events);
  fields.required("next", page.next);
  fields.required("missed", page.missed);
}

void describe(Fields& fields, ClaimedExecution& claimed) {
  fields.required("id", claimed.id);
  fields.required("namespace", claimed.ns);
  fields.required("lane", claimed.lane);
  fields.required("kind", claimed.kind);
  fields.bytes("payload", claimed.payload);
  fields.optional("content_type", claimed.content_type);
  fields.optional("traceparent", claimed.traceparent);
  fields.required("tags", claimed.tags);
  fields.required("attempt_index", claimed.attempt_index);
  fields.required("attempt_type", claimed.attempt_type);
  fields.required("resumed", claimed.resumed);
  fields.optional("wake", claimed.wake);
  fields.fence(claimed.fence);
  fields.required("lease_expires_at_ms", claimed.lease_expires_at);
  fields.optional("attempt_deadline_ms", claimed.attempt_deadline);
  fields.optional("deadline_ms", claimed.deadline);
  fields.defaulted("budget_ids", claimed.budgets);
  fields.optional("flow", claimed.flow);
  fields.optional("node", claimed.node);
}

void describe(Fields& fields, ClaimReply& reply) {
  fields.required("executions", reply.executions);
}

void describe(Fields& fields, GrantedExecution& granted) {
  fields.required("id", granted.id);
  fields.required("grant_expires_at_ms", granted.grant_expires_at);
}

void describe(Fields& fields, GrantReply& reply) { fields.optional("execution", reply.execution); }

void describe(Fields& fields, RenewReply& reply) {
  fields.required("lease_expires_at_ms", reply.lease_expires_at);
}

void describe(Fields&, Done&) {}

void describe(Fields& fields, EndReply& reply) { fields.required("state", reply.state); }
void describe(Fields& fields, StateReply& reply) { fields.required("state", reply.state); }

void describe(Fields& fields, FailReply& reply) {
  fields.required("state", reply.state);
  fields.optional("retry_at_ms", reply.retry_at);
}

void describe(Fields& fields, RevokeReply& reply) {
  fields.required("status", reply.status);
  fields.required("lease_epoch", reply.lease_epoch);
}

void describe(Fields& fields, PriorityReply& reply) {
  fields.required("before", reply.before);
  fields.required("after", reply.after);
}

void describe(Fields& fields, TagsReply& reply) { fields.required("tags", reply.tags); }

void describe(Fields& fields, BackupReply& reply) { fields.required("directory", reply.directory); }

void describe(Fields& fields, ReadyReply& reply) {
  fields.constant("status", "ready");
  fields.required("version", reply.version);
  fields.required("scanners", reply.scanners);
  fields.unless_usual("paused_lanes", reply.paused_lanes, std::uint64_t{0});
}

void describe(Fields& fields, HealthReply& reply) {
  fields.constant("status", "ok");
  fields.required("version", reply.version);
}

}  // namespace ff::http
