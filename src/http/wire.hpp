// The HTTP API: for each operation its method and path, and the JSON fields of request and reply.
// Server and remote engine both work from here.
#pragma once

#include <flowfabric/engine.hpp>

#include <string_view>

#include <boost/beast/http/status.hpp>
#include <boost/beast/http/verb.hpp>

#include "http/json_fields.hpp"

namespace ff::http {

namespace beast = boost::beast;
using Verb = beast::http::verb;
using Status = beast::http::status;

struct Endpoint {
  Verb method;
  std::string_view path;  // {name} stands for the request field of that name
};

template <class Op>
inline constexpr Endpoint endpoint = Op::no_endpoint_yet;

// A long poll: `wait` says how long the answer may take.
template <class Op>
concept Waiting = requires(Op operation) {
  operation.wait;
};

// A reply that is the body itself, as it is, instead of a JSON object.
template <class Reply>
inline constexpr bool is_raw_body = std::same_as<Reply, Bytes>;

// Of bytes whose content type nobody told.
inline constexpr std::string_view unknown_content_type = "application/octet-stream";

#define FF_ENDPOINT(Op, method, path)      \
  template <>                              \
  inline constexpr Endpoint endpoint<Op> { \
    Verb::method, path                     \
  }

FF_ENDPOINT(Submit, post, "/v1/executions");
FF_ENDPOINT(SubmitMany, post, "/v1/executions/batch");
FF_ENDPOINT(ListExecutions, get, "/v1/executions");
FF_ENDPOINT(CountExecutions, get, "/v1/counts");
FF_ENDPOINT(GetExecution, get, "/v1/executions/{id}");
FF_ENDPOINT(GetState, get, "/v1/executions/{id}/state");
FF_ENDPOINT(GetPayload, get, "/v1/executions/{id}/payload");
FF_ENDPOINT(GetResult, get, "/v1/executions/{id}/result");
FF_ENDPOINT(GetAttempts, get, "/v1/executions/{id}/attempts");
FF_ENDPOINT(GetLeaseHistory, get, "/v1/executions/{id}/lease-history");
FF_ENDPOINT(ReadEvents, get, "/v1/events");
FF_ENDPOINT(Claim, post, "/v1/workers/{worker}/claim-with-lease");
FF_ENDPOINT(Grant, post, "/v1/workers/{worker}/claim");
FF_ENDPOINT(ClaimGranted, post, "/v1/executions/{id}/claim-granted");
FF_ENDPOINT(ClaimExecution, post, "/v1/executions/{id}/claim");
FF_ENDPOINT(Renew, post, "/v1/executions/{id}/renew");
FF_ENDPOINT(UpdateProgress, post, "/v1/executions/{id}/progress");
FF_ENDPOINT(Complete, post, "/v1/executions/{id}/complete");
FF_ENDPOINT(CompleteMany, post, "/v1/complete-batch");
FF_ENDPOINT(Fail, post, "/v1/executions/{id}/fail");
FF_ENDPOINT(Delay, post, "/v1/executions/{id}/delay");
FF_ENDPOINT(HandBack, post, "/v1/executions/{id}/hand-back");
FF_ENDPOINT(WaitForChildren, post, "/v1/executions/{id}/wait-for-children");
FF_ENDPOINT(Cancel, post, "/v1/executions/{id}/cancel");
FF_ENDPOINT(RevokeLease, post, "/v1/executions/{id}/revoke-lease");
FF_ENDPOINT(ChangePriority, put, "/v1/executions/{id}/priority");
FF_ENDPOINT(SetTags, post, "/v1/executions/{id}/tags");
FF_ENDPOINT(Replay, post, "/v1/executions/{id}/replay");
FF_ENDPOINT(Backup, post, "/v1/backups");
FF_ENDPOINT(Health, get, "/healthz");
#undef FF_ENDPOINT

// ---- Parts ---------------------------------------------------------------------------------------

template <class V, Is<RetryPolicy> T>
void describe(V& fields, T& retry) {
  fields.defaulted("max_retries", retry.max_retries);
  fields.defaulted("backoff", retry.backoff);
  fields.defaulted("retryable_categories", retry.retryable_categories);
}

enum class BackoffType : std::uint8_t { exponential, fixed };

template <class V, Is<FixedBackoff> T>
void describe(V& fields, T& fixed) {
  auto type = BackoffType::fixed;
  fields.required("type", type);
  fields.required("delay_ms", fixed.delay);
}

template <class V, Is<ExponentialBackoff> T>
void describe(V& fields, T& growing) {
  auto type = BackoffType::exponential;
  fields.required("type", type);
  fields.defaulted("initial_delay_ms", growing.initial_delay);
  fields.defaulted("max_delay_ms", growing.max_delay);
  fields.defaulted("multiplier", growing.multiplier);
  fields.defaulted("jitter", growing.jitter);
}

// The policy's JSON has the contract's groups; the struct is flat.
template <class V, Is<Policy> T>
void describe(V& fields, T& policy) {
  fields.optional("retry_policy", policy.retry);
  fields.group("timeout_policy", [&](auto& timeouts) {
    timeouts.optional("attempt_timeout_ms", policy.attempt_timeout);
    timeouts.optional("execution_deadline_ms", policy.execution_deadline);
  });
  fields.defaulted("max_reclaim_count", policy.max_reclaim_count);
  fields.defaulted("max_replay_count", policy.max_replay_count);
  fields.group("routing_requirements", [&](auto& routing) {
    routing.defaulted("required_capabilities", policy.required_capabilities);
  });
  fields.defaulted("dedup_window_ms", policy.dedup_window);
  fields.optional("retention_ms", policy.retention);
}

template <class V, Is<StateVector> T>
void describe(V& fields, T& vector) {
  fields.required("lifecycle_phase", vector.lifecycle_phase);
  fields.required("ownership_state", vector.ownership_state);
  fields.required("eligibility_state", vector.eligibility_state);
  fields.required("blocking_reason", vector.blocking_reason);
  fields.required("terminal_outcome", vector.terminal_outcome);
  fields.required("attempt_state", vector.attempt_state);
}

template <class V, Is<Progress> T>
void describe(V& fields, T& progress) {
  fields.optional("percent", progress.percent);
  fields.required("message", progress.message);
  fields.required("at_ms", progress.at);
}

// ---- Requests ------------------------------------------------------------------------------------

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
    Is<T, GetLeaseHistory>
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

template <class V, Is<Health> T>
void describe(V&, T&) {}

// ---- Replies -------------------------------------------------------------------------------------

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

template <class V, Is<HealthReply> T>
void describe(V& fields, T& reply) {
  std::string status = "ok";
  fields.required("status", status);
  fields.required("version", reply.version);
}

// ---- Statuses ------------------------------------------------------------------------------------

template <class Reply>
Status status_of(const Reply&) {
  return Status::ok;
}
inline Status status_of(const SubmitReply& reply) {
  return reply.duplicate ? Status::ok : Status::created;
}

}  // namespace ff::http

namespace ff {
FF_NAMES(http::BackoffType, "exponential", "fixed");
}

namespace ff::http {

// `type` says which it is.
template <>
struct Codec<Backoff> {
  static json::value write(const Backoff& backoff) {
    return std::visit([](const auto& each) -> json::value { return to_fields(each); }, backoff);
  }
  static Result<Backoff> read(const json::value& value, Source source) {
    const auto* object = value.if_object();
    const auto* type = object ? object->if_contains("type") : nullptr;
    if (!type)
      return fail(Errc::invalid_input, "must be an object with a type, exponential or fixed");
    const auto named = Codec<BackoffType>::read(*type, source);
    if (!named) return fail_field(named.error().code, "type", "type " + named.error().message);
    switch (*named) {
      case BackoffType::exponential: return read_as<ExponentialBackoff>(value, source);
      case BackoffType::fixed: return read_as<FixedBackoff>(value, source);
    }
    return fail(Errc::internal, "");
  }

 private:
  template <class T>
  static Result<Backoff> read_as(const json::value& value, Source source) {
    auto read = Codec<T>::read(value, source);
    if (!read) return std::unexpected(read.error());
    return Backoff{*read};
  }
};

}  // namespace ff::http
