// The HTTP side of operations: what follows from their rows, fields and replies.
#pragma once

#include <flowfabric/engine.hpp>

#include <string_view>

#include <boost/beast/http/status.hpp>
#include <boost/beast/http/verb.hpp>

namespace ff::http {

namespace beast = boost::beast;
using Verb = beast::http::verb;
using Status = beast::http::status;

// An operation's row as Beast names things.
struct Endpoint {
  Verb method;
  std::string_view path;
  Role role;
  std::string_view summary;
  HttpRow::Words words = {};
  std::string_view alias = "";  // its other path, if it has two
};

constexpr Verb verb_of(HttpMethod method) {
  switch (method) {
    case HttpMethod::get: return Verb::get;
    case HttpMethod::post: return Verb::post;
    case HttpMethod::put: return Verb::put;
    case HttpMethod::delete_: return Verb::delete_;
  }
  return Verb::unknown;
}

// Of login sessions, which are the server's own.
inline constexpr Endpoint login_endpoint{Verb::post, "/v1/login", Role::nobody,
                                         "Begin a login session of a browser with a token"};
inline constexpr Endpoint logout_endpoint{Verb::post, "/v1/logout", Role::nobody,
                                          "End the login session"};

template <class Op>
inline constexpr Endpoint endpoint{
    verb_of(Op::row.http.method), Op::row.http.path,  Op::row.http.role,
    Op::row.http.summary,         Op::row.http.words, Op::row.http.alias};

// A long poll: `wait` says how long the answer may take.
template <class Op>
concept Waiting = requires(Op operation) {
  operation.wait;
};

// Concerns one namespace, which its sender may name.
template <class Op>
concept NamesNamespace = requires(Op operation) {
  operation.ns;
};

// The reply to what makes something, or finds that it is there.
template <class Reply>
concept Creates = requires(Reply reply) {
  reply.duplicate;
};

// Others have all their fields in the URL.
constexpr bool has_body(Verb method) { return method != Verb::get && method != Verb::delete_; }

// A reply that is the body itself, as it is, instead of a JSON object.
template <class Reply>
inline constexpr bool is_raw_body = std::same_as<Reply, Bytes>;

// Of bytes whose content type nobody told.
inline constexpr std::string_view unknown_content_type = "application/octet-stream";

// The field that a request's body is, as it is, if its content type is not JSON.
template <class Op>
inline constexpr std::string_view raw_body_field = "";
template <>
inline constexpr std::string_view raw_body_field<Submit> = "payload";
template <>
inline constexpr std::string_view raw_body_field<Complete> = "result";
template <>
inline constexpr std::string_view raw_body_field<SendSignal> = "payload";
template <>
inline constexpr std::string_view raw_body_field<PutStep> = "result";

// The path of an operation whose caller holds a waitpoint's token and sends it as `Authorization: Waitpoint
// TOKEN`: proxies log paths. Empty for all others.
template <class Op>
inline constexpr std::string_view token_header_path = "";
template <>
inline constexpr std::string_view token_header_path<ReadWaitpoint> = "/v1/waitpoint";
template <>
inline constexpr std::string_view token_header_path<AnswerWaitpoint> = "/v1/waitpoint";
inline constexpr std::string_view token_scheme = "Waitpoint ";

// Requests or replies with tokens or secrets that no cache may keep.
template <class Op>
inline constexpr bool has_secrets =
    !token_header_path<Op>.empty() || std::same_as<Op, Suspend> ||
    std::same_as<Op, CreateWaitpoint> || std::same_as<Op, GetWaitpointTokens> ||
    std::same_as<Op, DeliverSignal> || std::same_as<Op, RotateWaitpointSecret> ||
    std::same_as<Op, CreateStreamTicket>;

// Replies with what a token without the right to payloads may not see.
template <class Op>
inline constexpr bool shows_payloads =
    std::same_as<Op, GetPayload> || std::same_as<Op, GetResult> || std::same_as<Op, GetSignals> ||
    std::same_as<Op, GetStep> || std::same_as<Op, GetInputs> || std::same_as<Op, ReadStream> ||
    std::same_as<Op, ReadAttemptStream> || std::same_as<Op, TailAttemptStream> ||
    std::same_as<Op, ReadFlowStream> || std::same_as<Op, CreateStreamTicket> ||
    std::same_as<Op, GetWaitpointTokens> || Op::row.http.role == Role::work;

// May be asked with a ticket in the query, which the engine checks, instead of a token.
template <class Op>
concept TakesTicket = requires(Op operation) {
  operation.ticket;
};

// Also answers with server-sent events.
template <class Op>
inline constexpr bool sends_events = std::same_as<Op, ReadEvents> || std::same_as<Op, ReadStream> ||
                                     std::same_as<Op, ReadFlowStream>;

// Its request is a list, and may be as large as all its items.
template <class Op>
concept Batched = requires(Op operation) {
  operation.executions;
};

// Its request is a graph, and may be as large as all its nodes.
template <class Op>
concept HasNodes = requires(Op operation) {
  operation.nodes;
};

// May be asked to check only; the status word of the reply is then `checked`.
template <class Op>
concept ChecksOnly = requires(Op operation) {
  operation.dry_run;
};
inline constexpr std::string_view checked = "checked";

// Whether a reply is the endpoint's second word.
inline bool is_otherwise(const ClaimReply& reply) { return reply.executions.empty(); }
inline bool is_otherwise(const FailReply& reply) { return reply.retry_at.has_value(); }
inline bool is_otherwise(const SuspendReply& reply) { return reply.satisfied; }
inline bool is_otherwise(const LanePauseReply& reply) { return reply.unchanged; }
template <class Reply>
bool is_otherwise(const Reply& reply) {
  if constexpr (Creates<Reply>)
    return reply.duplicate;
  else
    return false;
}

template <class Reply>
Status http_status(const Reply& reply) {
  return Creates<Reply> && !is_otherwise(reply) ? Status::created : Status::ok;
}
inline Status http_status(const GrantReply& reply) {
  return reply.execution ? Status::ok : Status::no_content;
}
inline Status http_status(const StageEdgeReply&) { return Status::created; }
inline Status http_status(const ApplyEdgeReply&) { return Status::ok; }
inline Status http_status(const Bytes& reply) {
  return reply.absent ? Status::no_content : Status::ok;
}

}  // namespace ff::http
