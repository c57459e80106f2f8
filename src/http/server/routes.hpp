// The route table: which request is which operation.
#pragma once

#include <flowfabric/engine.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "http/transport/stream.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {

// A route turns the request's fields into an operation and the operation's reply into a response. The one of
// the OpenAPI document has neither.
struct Route {
  Endpoint endpoint;
  Result<std::unique_ptr<EngineCall>> (*read)(const RequestFields& fields);
  Response (*respond)(EngineCall& answered);
  bool may_wait = false;                 // a long poll: its client may go away meanwhile
  bool is_batch = false;                 // its body may be large
  bool is_audited = false;               // the log says who did it
  bool takes_namespace = false;          // a field of that name; the token's, if it is left out
  bool takes_key = false;                // an Idempotency-Key
  bool takes_trace = false;              // a traceparent
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

// Runs the route's operation on the engine.
asio::awaitable<Response> run(const Route& route, Engine& engine, RequestFields fields);

Response make_response(Status status, std::string_view type, std::string body);
Response error_response(const Error& error);

}  // namespace ff::http
