// The host that a request is meant for, and the web page that it comes from.
#pragma once

#include <flowfabric/error.hpp>

#include <string_view>

#include "http/transport/stream.hpp"

namespace ff::http {

using RequestHeader = Request::header_type;

// A request's target without scheme and authority: "/path?query".
struct Target {
  std::string_view authority;  // HOST[:PORT] of an absolute target, otherwise of the header Host
  std::string_view path;
};

// The parts point into the header. Fails with invalid_input unless an HTTP/1.1 request has exactly one Host.
Result<Target> read_target(const RequestHeader& header);

// localhost, a name below it, or a loopback address; with or without a port.
bool is_loopback(std::string_view authority);

// Web pages of other origins, as browsers declare them, are refused with permission_denied: where a request needs no
// token of its own (without tokens, or with a login session), every page that a user opens could otherwise use the
// server.
Result<void> refuse_foreign_page(const RequestHeader& header, std::string_view authority);

// A name that resolves to a loopback address may belong to anybody (DNS rebinding): permission_denied.
Result<void> refuse_foreign_host(std::string_view authority);

}  // namespace ff::http
