// JSON fields of what operations answer.
#pragma once

#include <flowfabric/engine.hpp>

#include "http/wire_parts.hpp"

namespace ff::http {

template <class V, Is<SubmitReply> T>
void describe(V& fields, T& reply) {
  fields.required("id", reply.id);
  fields.required("duplicate", reply.duplicate);
  fields.required("state", reply.state);
}

template <class V, class T>
requires Is<T, SubmitManyReply> || Is<T, CompleteManyReply>
void describe(V& fields, T& reply) { fields.required("results", reply.results); }

template <class V, Is<ExecutionInfo> T>
void describe(V& fields, T& info) {
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
  fields.optional("failure_reason", info.failure_reason);
  fields.optional("failure_category", info.failure_category);
  fields.optional("cancel_reason", info.cancel_reason);
}

template <class V, Is<AttemptInfo> T>
void describe(V& fields, T& attempt) {
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

template <class V, Is<Attempts> T>
void describe(V& fields, T& reply) {
  fields.required("attempts", reply.attempts);
}

template <class V, Is<LeaseEvent> T>
void describe(V& fields, T& event) {
  fields.required("type", event.type);
  fields.required("at_ms", event.at);
  fields.optional("lease_id", event.lease_id);
  fields.required("lease_epoch", event.lease_epoch);
  fields.required("attempt_index", event.attempt_index);
  fields.optional("worker", event.worker);
  fields.required("reason", event.reason);
}

template <class V, Is<LeaseHistory> T>
void describe(V& fields, T& reply) {
  fields.required("events", reply.events);
}

template <class V, Is<ExecutionList> T>
void describe(V& fields, T& reply) {
  fields.required("executions", reply.executions);
  fields.optional("next", reply.next);
}

template <class V, Is<StateCount> T>
void describe(V& fields, T& count) {
  fields.required("lane", count.lane);
  fields.required("state", count.state);
  fields.required("count", count.count);
}

template <class V, Is<StateCounts> T>
void describe(V& fields, T& reply) {
  fields.required("counts", reply.counts);
}

template <class V, Is<Event> T>
void describe(V& fields, T& event) {
  fields.required("type", event.type);
  fields.required("at_ms", event.at);
  fields.required("id", event.id);
  fields.required("namespace", event.ns);
  fields.required("lane", event.lane);
  fields.required("kind", event.kind);
  fields.required("state", event.state);
  fields.required("attempts", event.attempts);
}

template <class V, Is<EventPage> T>
void describe(V& fields, T& page) {
  fields.required("events", page.events);
  fields.required("next", page.next);
  fields.required("missed", page.missed);
}

template <class V, Is<ClaimedExecution> T>
void describe(V& fields, T& claimed) {
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
  fields.fence(claimed.fence);
  fields.required("lease_expires_at_ms", claimed.lease_expires_at);
  fields.optional("attempt_deadline_ms", claimed.attempt_deadline);
  fields.optional("deadline_ms", claimed.deadline);
  fields.defaulted("budget_ids", claimed.budgets);
}

template <class V, Is<ClaimReply> T>
void describe(V& fields, T& reply) {
  fields.required("executions", reply.executions);
}

template <class V, Is<GrantedExecution> T>
void describe(V& fields, T& granted) {
  fields.required("id", granted.id);
  fields.required("grant_expires_at_ms", granted.grant_expires_at);
}

template <class V, Is<GrantReply> T>
void describe(V& fields, T& reply) {
  fields.optional("execution", reply.execution);
}

template <class V, Is<RenewReply> T>
void describe(V& fields, T& reply) {
  fields.required("lease_expires_at_ms", reply.lease_expires_at);
}

template <class V, Is<Done> T>
void describe(V&, T&) {}

template <class V, class T>
requires Is<T, EndReply> || Is<T, StateReply>
void describe(V& fields, T& reply) { fields.required("state", reply.state); }

template <class V, Is<FailReply> T>
void describe(V& fields, T& reply) {
  fields.required("state", reply.state);
  fields.optional("retry_at_ms", reply.retry_at);
}

template <class V, Is<RevokeReply> T>
void describe(V& fields, T& reply) {
  fields.required("status", reply.status);
  fields.required("lease_epoch", reply.lease_epoch);
}

template <class V, Is<PriorityReply> T>
void describe(V& fields, T& reply) {
  fields.required("before", reply.before);
  fields.required("after", reply.after);
}

template <class V, Is<TagsReply> T>
void describe(V& fields, T& reply) {
  fields.required("tags", reply.tags);
}

template <class V, Is<BackupReply> T>
void describe(V& fields, T& reply) {
  fields.required("directory", reply.directory);
}

template <class V, Is<ReadyReply> T>
void describe(V& fields, T& reply) {
  fields.constant("status", "ready");
  fields.required("version", reply.version);
  fields.required("scanners", reply.scanners);
}

template <class V, Is<HealthReply> T>
void describe(V& fields, T& reply) {
  fields.constant("status", "ok");
  fields.required("version", reply.version);
}

}  // namespace ff::http
