// The bytes of a connection, plain or under TLS, and HTTP messages on them. Compiled once: Beast's readers
// and writers are costly to instantiate.
#pragma once

#include <flowfabric/async.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

namespace ff::http {

namespace beast = boost::beast;
using boost::system::error_code;
using TlsContext = asio::ssl::context;
using Request = beast::http::request<beast::http::string_body>;
using Response = beast::http::response<beast::http::string_body>;
using RequestParser = beast::http::request_parser<beast::http::string_body>;
using ResponseParser = beast::http::response_parser<beast::http::string_body>;

// Why a handshake failed: the client does not know that it should begin one.
bool is_plain_http(const error_code& handshake);

class Stream {
 public:
  // With a context: under TLS, after a handshake.
  explicit Stream(asio::ip::tcp::socket socket, std::shared_ptr<TlsContext> tls = {});

  // The connection below, for timeouts and sockets.
  beast::tcp_stream& tcp();

  // Nothing to do without TLS. A client checks that the certificate is for `host`.
  asio::awaitable<error_code> accept_handshake();
  asio::awaitable<error_code> connect_handshake(const std::string& host);

  // After a handshake that failed: goes on without.
  void drop_tls();

  // Takes in some bytes for the next message; fails when the other side has hung up.
  asio::awaitable<error_code> receive();
  std::size_t received() const { return buffer_.size(); }

  asio::awaitable<error_code> read_header(RequestParser& parser);
  asio::awaitable<error_code> read(RequestParser& parser);
  asio::awaitable<error_code> read(ResponseParser& parser);
  asio::awaitable<error_code> write(Request& request);
  asio::awaitable<error_code> write(Response& response);
  asio::awaitable<error_code> write(std::string_view bytes);

 private:
  using Plain = beast::tcp_stream;
  using Tls = beast::ssl_stream<beast::tcp_stream>;

  std::shared_ptr<TlsContext> context_;
  std::variant<Plain, Tls> stream_;
  beast::flat_buffer buffer_;  // what was received beyond the last message
};

}  // namespace ff::http
