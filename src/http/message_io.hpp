// HTTP messages on a connection. Compiled once: Beast's readers and writers are costly to instantiate.
#pragma once

#include <flowfabric/async.hpp>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "http/routes.hpp"

namespace ff::http {

using RequestParser = beast::http::request_parser<beast::http::string_body>;
using ResponseParser = beast::http::response_parser<beast::http::string_body>;
using boost::system::error_code;

struct MessageStream {
  beast::tcp_stream socket;
  beast::flat_buffer buffer = {};  // what was received beyond the last message
};

asio::awaitable<error_code> read_header(MessageStream& stream, RequestParser& parser);
asio::awaitable<error_code> read(MessageStream& stream, RequestParser& parser);
asio::awaitable<error_code> read(MessageStream& stream, ResponseParser& parser);
asio::awaitable<error_code> write(MessageStream& stream, Request& request);
asio::awaitable<error_code> write(MessageStream& stream, Response& response);

}  // namespace ff::http
