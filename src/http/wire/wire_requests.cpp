// JSON fields of the operations.
#include "http/wire/json_codec.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {

void describe(Fields& fields, Submit& submit) {
  fields.optional("id", submit.id);
  fields.optional("idempotency_key", submit.idempotency_key);
  fields.defaulted("namespace", submit.ns);
  fields.defaulted("lane", submit.lane);
  fields.required("kind", submit.kind);
  fields.defaulted("priority", submit.priority);
  fields.typed_bytes("payload", submit.payload, submit.content_type);
  fields.time("delay_until_ms", "delay_ms", submit.delay_until);
  fields.optional("deadline_ms", submit.deadline);
  fields.defaulted("tags", submit.tags);
  fields.defaulted("policy", submit.policy);
  fields.optional("traceparent", submit.traceparent);
  fields.optional("flow", submit.flow);
  fields.optional("node", submit.node);
  describe_after(fields, submit.after);
}

void describe(Fields& fields, SubmitMany& many) { fields.required("executions", many.executions); }

void describe(Fields& fields, GetResult& get) {
  fields.required("id", get.id);
  fields.defaulted("wait_ms", get.wait);
}

void describe(Fields& fields, ListExecutions& list) {
  fields.defaulted("namespace", list.ns);
  fields.optional("lane", list.lane);
  fields.optional("state", list.state);
  fields.optional("kind", list.kind);
  fields.optional("tag", list.tag);
  fields.optional("created_from_ms", list.created_from);
  fields.optional("created_before_ms", list.created_before);
  fields.optional("where", list.where);
  fields.unless_usual("order", list.order, ListOrder::newest);
  fields.defaulted("limit", list.limit);
  fields.optional("cursor", list.cursor);
}

void describe(Fields& fields, CountExecutions& count) {
  fields.defaulted("namespace", count.ns);
  fields.optional("lane", count.lane);
}

void describe(Fields& fields, ReadEvents& read) {
  fields.optional("namespace", read.ns);
  fields.optional("lane", read.lane);
  fields.optional("kind", read.kind);
  fields.optional("id", read.id);
  fields.optional("flow", read.flow);
  fields.optional("tag", read.tag);
  fields.defaulted("types", read.types);
  fields.optional("after", read.after);
  fields.defaulted("limit", read.limit);
  fields.defaulted("wait_ms", read.wait);
}

void describe(Fields& fields, Claim& claim) {
  fields.required("worker", claim.worker);
  fields.defaulted("namespace", claim.ns);
  fields.defaulted("lanes", claim.lanes);
  fields.defaulted("capabilities", claim.capabilities);
  fields.unless_usual("kinds", claim.kinds, {});
  fields.defaulted("max", claim.max);
  fields.defaulted("lease_ttl_ms", claim.lease_ttl);
  fields.defaulted("wait_ms", claim.wait);
  fields.optional("request_id", claim.request_id);
}

void describe(Fields& fields, Grant& grant) {
  fields.required("worker", grant.worker);
  fields.defaulted("namespace", grant.ns);
  fields.defaulted("lanes", grant.lanes);
  fields.defaulted("capabilities", grant.capabilities);
  fields.unless_usual("kinds", grant.kinds, {});
  fields.defaulted("grant_ttl_ms", grant.grant_ttl);
}

void describe(Fields& fields, ClaimGranted& claim) {
  fields.required("id", claim.id);
  fields.required("worker", claim.worker);
  fields.optional("lease_id", claim.lease_id);
  fields.defaulted("lease_ttl_ms", claim.lease_ttl);
}

void describe(Fields& fields, ClaimExecution& claim) {
  fields.required("id", claim.id);
  fields.required("worker", claim.worker);
  fields.defaulted("capabilities", claim.capabilities);
  fields.optional("lease_id", claim.lease_id);
  fields.defaulted("lease_ttl_ms", claim.lease_ttl);
}

void describe(Fields& fields, Renew& renew) {
  fields.required("id", renew.id);
  fields.fence(renew.fence);
  fields.defaulted("lease_ttl_ms", renew.lease_ttl);
}

void describe(Fields& fields, UpdateProgress& progress) {
  fields.required("id", progress.id);
  fields.fence(progress.fence);
  fields.optional("percent", progress.percent);
  fields.defaulted("message", progress.message);
}

void describe(Fields& fields, Complete& complete) {
  fields.required("id", complete.id);
  fields.fence(complete.fence);
  fields.typed_bytes("result", complete.result, complete.content_type);
  fields.defaulted("spawn", complete.spawn);
}

void describe(Fields& fields, CompleteMany& many) {
  fields.required("executions", many.executions);
}

void describe(Fields& fields, Fail& failure) {
  fields.required("id", failure.id);
  fields.fence(failure.fence);
  fields.required("reason", failure.reason);
  fields.defaulted("category", failure.category);
}

void describe(Fields& fields, Delay& delay) {
  fields.required("id", delay.id);
  fields.fence(delay.fence);
  fields.time("until_ms", "delay_ms", delay.until);
}

void describe(Fields& fields, HandBack& back) {
  fields.required("id", back.id);
  fields.fence(back.fence);
  fields.defaulted("reason", back.reason);
}

void describe(Fields& fields, WaitForChildren& wait) {
  fields.required("id", wait.id);
  fields.fence(wait.fence);
  fields.defaulted("children", wait.children);
}

void describe(Fields& fields, Cancel& cancel) {
  fields.required("id", cancel.id);
  fields.defaulted("reason", cancel.reason);
  fields.fence(cancel.fence);
}

void describe(Fields& fields, RevokeLease& revoke) {
  fields.required("id", revoke.id);
  fields.optional("lease_id", revoke.lease_id);
  fields.defaulted("reason", revoke.reason);
}

void describe(Fields& fields, ChangePriority& change) {
  fields.required("id", change.id);
  fields.required("priority", change.priority);
}

void describe(Fields& fields, SetTags& tags) {
  fields.required("id", tags.id);
  fields.defaulted("set", tags.set);
  fields.defaulted("remove", tags.remove);
}

void describe(Fields& fields, Replay& replay) {
  fields.required("id", replay.id);
  fields.defaulted("reason", replay.reason);
  fields.defaulted("requested_by", replay.requested_by);
}

void describe(Fields& fields, Backup& backup) { fields.required("name", backup.name); }

void describe(Fields&, Health&) {}
void describe(Fields&, CheckReady&) {}
void describe(Fields&, GetMetrics&) {}

}  // namespace ff::http
