// The route table: which request is which operation.
#pragma once

#include <flowfabric/engine.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "http/wire.hpp"

namespace ff::http {

using Request = beast::http::request<beast::http::string_body>;
using Response = beast::http::response<beast::http::string_body>;

// A route turns the request's fields into an operation, runs it, and turns the reply into a response.
struct Route {
  Endpoint endpoint;
  bool may_wait;  // a long poll: its client may go away meanwhile
  std::function<asio::awaitable<Response>(Engine&, RequestFields fields)> run;
};

std::span<const Route> routes();

// The route of a request and its fields from path, query and body; or why there is none.
struct Match {
  const Route* route;
  RequestFields fields;
};
Result<Match> match(const Request& request);

asio::awaitable<Response> respond(Engine& engine, Result<Match> matched);

Response error_response(const Error& error);

}  // namespace ff::http
