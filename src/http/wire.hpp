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
inline constexpr bool is_raw_body = std::same_as<Reply, ResultBytes>;

template <>
inline constexpr Endpoint endpoint<Submit>{Verb::post, "/v1/executions"};
template <>
inline constexpr Endpoint endpoint<GetExecution>{Verb::get, "/v1/executions/{id}"};
template <>
inline constexpr Endpoint endpoint<GetResult>{Verb::get, "/v1/executions/{id}/result"};
template <>
inline constexpr Endpoint endpoint<Claim>{Verb::post, "/v1/workers/{worker}/claim-with-lease"};
template <>
inline constexpr Endpoint endpoint<Renew>{Verb::post, "/v1/executions/{id}/renew"};
template <>
inline constexpr Endpoint endpoint<Complete>{Verb::post, "/v1/executions/{id}/complete"};
template <>
inline constexpr Endpoint endpoint<Fail>{Verb::post, "/v1/executions/{id}/fail"};
template <>
inline constexpr Endpoint endpoint<Health>{Verb::get, "/healthz"};

// ---- Requests ------------------------------------------------------------------------------------

template <class V, Is<Submit> T>
void describe(V& fields, T& submit) {
  fields.optional("id", submit.id);
  fields.defaulted("namespace", submit.ns);
  fields.defaulted("lane", submit.lane);
  fields.required("kind", submit.kind);
  fields.defaulted("priority", submit.priority);
  fields.bytes("payload", submit.payload);
}

template <class V, Is<GetExecution> T>
void describe(V& fields, T& get) {
  fields.required("id", get.id);
}

template <class V, Is<GetResult> T>
void describe(V& fields, T& get) {
  fields.required("id", get.id);
  fields.defaulted("wait_ms", get.wait);
}

template <class V, Is<Claim> T>
void describe(V& fields, T& claim) {
  fields.required("worker", claim.worker);
  fields.defaulted("namespace", claim.ns);
  fields.defaulted("lanes", claim.lanes);
  fields.defaulted("max", claim.max);
  fields.defaulted("lease_ttl_ms", claim.lease_ttl);
  fields.defaulted("wait_ms", claim.wait);
}

template <class V, Is<Renew> T>
void describe(V& fields, T& renew) {
  fields.required("id", renew.id);
  fields.fence(renew.fence);
  fields.defaulted("lease_ttl_ms", renew.lease_ttl);
}

template <class V, Is<Complete> T>
void describe(V& fields, T& complete) {
  fields.required("id", complete.id);
  fields.fence(complete.fence);
  fields.bytes("result", complete.result);
}

template <class V, Is<Fail> T>
void describe(V& fields, T& failure) {
  fields.required("id", failure.id);
  fields.fence(failure.fence);
  fields.required("reason", failure.reason);
  fields.defaulted("category", failure.category);
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

template <class V, Is<ExecutionInfo> T>
void describe(V& fields, T& info) {
  fields.required("id", info.id);
  fields.required("namespace", info.ns);
  fields.required("lane", info.lane);
  fields.required("kind", info.kind);
  fields.required("priority", info.priority);
  fields.required("state", info.state);
  fields.required("created_at_ms", info.created_at);
  fields.optional("started_at_ms", info.started_at);
  fields.optional("completed_at_ms", info.completed_at);
  fields.required("attempts", info.attempts);
  fields.optional("worker", info.worker);
  fields.optional("lease_expires_at_ms", info.lease_expires_at);
  fields.optional("failure_reason", info.failure_reason);
  fields.optional("failure_category", info.failure_category);
}

template <class V, Is<ClaimedExecution> T>
void describe(V& fields, T& claimed) {
  fields.required("id", claimed.id);
  fields.required("namespace", claimed.ns);
  fields.required("lane", claimed.lane);
  fields.required("kind", claimed.kind);
  fields.bytes("payload", claimed.payload);
  fields.required("attempt_index", claimed.attempt_index);
  fields.fence(claimed.fence);
  fields.required("lease_expires_at_ms", claimed.lease_expires_at);
}

template <class V, Is<ClaimReply> T>
void describe(V& fields, T& reply) {
  fields.required("executions", reply.executions);
}

template <class V, Is<RenewReply> T>
void describe(V& fields, T& reply) {
  fields.required("lease_expires_at_ms", reply.lease_expires_at);
}

template <class V, Is<EndReply> T>
void describe(V& fields, T& reply) {
  fields.required("state", reply.state);
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
