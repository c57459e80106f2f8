// The route table: which request is which operation.
#pragma once

#include <flowfabric/engine.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "http/server/pages.hpp"
#include "http/transport/stream.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {

// The kind of client that a route is for. Its credential decides which checks apply.
enum class Audience : std::uint8_t {
  callers,        // programs and people with a bearer token, if the server has any
  token_holders,  // outsiders with the token of a waitpoint
  webhooks,       // programs that sign their requests
  browsers,       // anybody: a static page
  logins,         // people who begin or end a login session
};

// A route turns the request's fields into an operation and the operation's reply into a response. Webhooks,
// pages and the OpenAPI document have no such functions.
struct Route {
  Endpoint endpoint;
  Result<std::unique_ptr<EngineCall>> (*read)(const RequestFields& fields) = nullptr;
  Response (*respond)(EngineCall& answered) = nullptr;
  Audience audience = Audience::callers;
  const Page* page = nullptr;
  std::uint64_t body_bytes_max = 0;
  bool may_wait = false;  // a long poll: its client may go away meanwhile
  bool is_stream_op = false;  // of the pool of ServerLimits::stream_ops
  bool is_batch = false;
  bool has_nodes = false;                // of a flow
  bool is_audited = false;               // the log says who did it
  bool has_secrets = false;              // no cache may keep its replies
  bool shows_payloads = false;           // and results, signals, frames or kept steps
  bool takes_namespace = false;          // a field of that name; the token's, if it is left out
  bool takes_key = false;                // an Idempotency-Key
  bool takes_trace = false;              // a traceparent
  bool takes_token_header = false;       // a waitpoint's token
  bool takes_ticket = false;             // in the query, instead of a token
  bool sends_events = false;             // if the request prefers them to JSON
  bool is_tail = false;                  // of a stream: counted apart from other waiting requests
  std::string_view raw_body_field = "";  // the field for a body that is not JSON
};

std::span<const Route> routes();

// The route of a path and its fields from path and query; or why there is none.
struct Found {
  const Route* route;
  json::object url_fields;
};
Result<Found> find_route(Verb method, std::string_view method_text, std::string_view target);

// All fields of a request: of the URL, the body and the headers. What it leaves out of its namespace is
// `default_ns`, if that is given.
Result<RequestFields> read_fields(Found found, Request request,
                                  const std::optional<Namespace>& default_ns);

// Runs the route's operation on the engine, for a caller who outlives it.
asio::awaitable<Response> run(const Route& route, Engine& engine, RequestFields fields,
                              const Caller* caller = nullptr);

// The path of a target as logs and errors may show it: without its query, which may hold a payload, and
// without the token of a waitpoint.
std::string shown_path(std::string_view target);

Response make_response(Status status, std::string_view type, std::string body);
Response error_response(const Error& error);
Response status_response(std::string_view word);  // {"status": word}
// The token that a login sends: as the header Authorization, or in its body. Fails with invalid_input if it sends both.
Result<std::string> read_login(const Request& request);
Response login_response(const Caller& caller);

}  // namespace ff::http
