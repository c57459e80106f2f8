// JSON fields of the operations.
#pragma once

#include <flowfabric/engine.hpp>

#include "http/wire_parts.hpp"

namespace ff::http {

template <class V, Is<Submit> T>
void describe(V& fields, T& submit) {
  fields.optional("id", submit.id);
  fields.optional("idempotency_key", submit.idempotency_key);
  fields.defaulted("namespace", submit.ns);
  fields.defaulted("lane", submit.lane);
  fields.required("kind", submit.kind);
  fields.defaulted("priority", submit.priority);
  fields.bytes("payload", submit.payload);
  fields.optional("content_type", submit.content_type);
  fields.optional("delay_until_ms", submit.delay_until);
  fields.optional("deadline_ms", submit.deadline);
  fields.defaulted("tags", submit.tags);
  fields.defaulted("policy", submit.policy);
  fields.optional("traceparent", submit.traceparent);
}

template <class V, Is<SubmitMany> T>
void describe(V& fields, T& many) {
  fields.required("executions", many.executions);
}

template <class V, class T>
requires Is<T, GetExecution> || Is<T, GetState> || Is<T, GetPayload> || Is<T, GetAttempts> ||
    Is<T, GetLeaseHistory> || Is<T, ExplainExecution>
void describe(V& fields, T& get) { fields.required("id", get.id); }

template <class V, Is<GetResult> T>
void describe(V& fields, T& get) {
  fields.required("id", get.id);
  fields.defaulted("wait_ms", get.wait);
}

template <class V, Is<ListExecutions> T>
void describe(V& fields, T& list) {
  fields.defaulted("namespace", list.ns);
  fields.optional("lane", list.lane);
  fields.optional("state", list.state);
  fields.optional("kind", list.kind);
  fields.optional("tag", list.tag);
  fields.optional("created_from_ms", list.created_from);
  fields.optional("created_before_ms", list.created_before);
  fields.defaulted("limit", list.limit);
  fields.optional("cursor", list.cursor);
}

template <class V, Is<CountExecutions> T>
void describe(V& fields, T& count) {
  fields.defaulted("namespace", count.ns);
  fields.optional("lane", count.lane);
}

template <class V, Is<ReadEvents> T>
void describe(V& fields, T& read) {
  fields.optional("namespace", read.ns);
  fields.optional("lane", read.lane);
  fields.optional("kind", read.kind);
  fields.optional("id", read.id);
  fields.defaulted("types", read.types);
  fields.optional("after", read.after);
  fields.defaulted("limit", read.limit);
  fields.defaulted("wait_ms", read.wait);
}

template <class V, Is<Claim> T>
void describe(V& fields, T& claim) {
  fields.required("worker", claim.worker);
  fields.defaulted("namespace", claim.ns);
  fields.defaulted("lanes", claim.lanes);
  fields.defaulted("capabilities", claim.capabilities);
  fields.defaulted("max", claim.max);
  fields.defaulted("lease_ttl_ms", claim.lease_ttl);
  fields.defaulted("wait_ms", claim.wait);
  fields.optional("request_id", claim.request_id);
}

template <class V, Is<Grant> T>
void describe(V& fields, T& grant) {
  fields.required("worker", grant.worker);
  fields.defaulted("namespace", grant.ns);
  fields.defaulted("lanes", grant.lanes);
  fields.defaulted("capabilities", grant.capabilities);
  fields.defaulted("grant_ttl_ms", grant.grant_ttl);
}

template <class V, Is<ClaimGranted> T>
void describe(V& fields, T& claim) {
  fields.required("id", claim.id);
  fields.required("worker", claim.worker);
  fields.optional("lease_id", claim.lease_id);
  fields.defaulted("lease_ttl_ms", claim.lease_ttl);
}

template <class V, Is<ClaimExecution> T>
void describe(V& fields, T& claim) {
  fields.required("id", claim.id);
  fields.required("worker", claim.worker);
  fields.defaulted("capabilities", claim.capabilities);
  fields.optional("lease_id", claim.lease_id);
  fields.defaulted("lease_ttl_ms", claim.lease_ttl);
}

template <class V, Is<Renew> T>
void describe(V& fields, T& renew) {
  fields.required("id", renew.id);
  fields.fence(renew.fence);
  fields.defaulted("lease_ttl_ms", renew.lease_ttl);
}

template <class V, Is<UpdateProgress> T>
void describe(V& fields, T& progress) {
  fields.required("id", progress.id);
  fields.fence(progress.fence);
  fields.optional("percent", progress.percent);
  fields.defaulted("message", progress.message);
}

template <class V, Is<Complete> T>
void describe(V& fields, T& complete) {
  fields.required("id", complete.id);
  fields.fence(complete.fence);
  fields.bytes("result", complete.result);
  fields.optional("content_type", complete.content_type);
}

template <class V, Is<CompleteMany> T>
void describe(V& fields, T& many) {
  fields.required("executions", many.executions);
}

template <class V, Is<Fail> T>
void describe(V& fields, T& failure) {
  fields.required("id", failure.id);
  fields.fence(failure.fence);
  fields.required("reason", failure.reason);
  fields.defaulted("category", failure.category);
}

template <class V, Is<Delay> T>
void describe(V& fields, T& delay) {
  fields.required("id", delay.id);
  fields.fence(delay.fence);
  fields.required("until_ms", delay.until);
}

template <class V, Is<HandBack> T>
void describe(V& fields, T& back) {
  fields.required("id", back.id);
  fields.fence(back.fence);
  fields.defaulted("reason", back.reason);
}

template <class V, Is<WaitForChildren> T>
void describe(V& fields, T& wait) {
  fields.required("id", wait.id);
  fields.fence(wait.fence);
}

template <class V, Is<Cancel> T>
void describe(V& fields, T& cancel) {
  fields.required("id", cancel.id);
  fields.defaulted("reason", cancel.reason);
  fields.fence(cancel.fence);
}

template <class V, Is<RevokeLease> T>
void describe(V& fields, T& revoke) {
  fields.required("id", revoke.id);
  fields.optional("lease_id", revoke.lease_id);
  fields.defaulted("reason", revoke.reason);
}

template <class V, Is<ChangePriority> T>
void describe(V& fields, T& change) {
  fields.required("id", change.id);
  fields.required("priority", change.priority);
}

template <class V, Is<SetTags> T>
void describe(V& fields, T& tags) {
  fields.required("id", tags.id);
  fields.defaulted("set", tags.set);
  fields.defaulted("remove", tags.remove);
}

template <class V, Is<Replay> T>
void describe(V& fields, T& replay) {
  fields.required("id", replay.id);
  fields.defaulted("reason", replay.reason);
  fields.defaulted("requested_by", replay.requested_by);
}

template <class V, Is<Backup> T>
void describe(V& fields, T& backup) {
  fields.required("name", backup.name);
}

template <class V, class T>
requires Is<T, Health> || Is<T, CheckReady> || Is<T, GetMetrics>
void describe(V&, T&) {}

}  // namespace ff::http
