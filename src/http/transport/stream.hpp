// The bytes of a connection, plain or under TLS, and HTTP messages on them. Beast parses the messages; its
// own readers and writers are costly to compile, once per kind of stream and message.
#pragma once

#include <flowfabric/async.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace ff::http {

namespace beast = boost::beast;
using boost::system::error_code;
using TlsContext = asio::ssl::context;
using Request = beast::http::request<beast::http::string_body>;
using Response = beast::http::response<beast::http::string_body>;
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

  // Takes some bytes below TLS that nobody wants; their number is added to `taken`.
  asio::awaitable<error_code> discard(std::span<char> space, std::size_t& taken);

  template <bool is_request>
  using Parser = beast::http::basic_parser<is_request>;
  asio::awaitable<error_code> read_header(Parser<true>& request);
  asio::awaitable<error_code> read(Parser<true>& request);
  asio::awaitable<error_code> read(Parser<false>& response);
  // A message must outlive the call. Its body is sent as it is, so its header must say how long it is.
  asio::awaitable<error_code> write(const Request& request);
  asio::awaitable<error_code> write(const Response& response);
  asio::awaitable<error_code> write(std::string header, std::string_view body = {});

 private:
  using Plain = beast::tcp_stream;
  using Tls = asio::ssl::stream<beast::tcp_stream>;

  // Adds at most so many bytes to the buffer.
  asio::awaitable<error_code> read_some(std::size_t size_max);
  template <bool is_request>
  asio::awaitable<error_code> parse(Parser<is_request>& parser,
                                    bool (Parser<is_request>::*is_enough)() const);

  std::shared_ptr<TlsContext> context_;
  std::variant<Plain, Tls> stream_;
  beast::flat_buffer buffer_;  // bytes received beyond the last message
};

}  // namespace ff::http
