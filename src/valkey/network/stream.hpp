// The bytes of one connection to a server: TCP or a unix socket, plain or under TLS.
#pragma once

#include <flowfabric/async.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "valkey/options.hpp"

namespace ff::valkey {

using boost::system::error_code;
using TlsContext = asio::ssl::context;

// TLS 1.2 and later; trusts the system's authorities, or those of the CA file alone. Null without TLS.
// Fails with invalid_input if the file cannot be used.
Result<std::shared_ptr<TlsContext>> make_tls(const ClientOptions& options);

// A stream connects once. One coroutine reads, and one write runs at a time. Everything happens on the
// executor, which must not run two things at once. Whoever starts something keeps the stream alive
// until it has ended.
class Stream {
 public:
  Stream(const asio::any_io_executor& executor, std::shared_ptr<TlsContext> tls);

  // With TLS this includes the handshake, which checks that the certificate is for the host.
  asio::awaitable<error_code> connect(const Endpoint& endpoint);

  struct Received {
    error_code failed;
    std::string_view bytes;  // until the next read
  };
  asio::awaitable<Received> read();

  // The buffers, and what they refer to, stay as they are until `done`.
  void write(const std::vector<asio::const_buffer>& buffers, std::function<void(error_code)> done);
  asio::awaitable<error_code> write(const std::vector<asio::const_buffer>& buffers);

  // Ends what is under way; it then fails, and so does everything started later.
  void close();

 private:
  using Socket = asio::generic::stream_protocol::socket;
  using TlsSocket = asio::ssl::stream<Socket>;

  asio::awaitable<error_code> connect_tcp(const TcpEndpoint& endpoint);
  asio::awaitable<error_code> connect_to(asio::generic::stream_protocol::endpoint endpoint);
  asio::awaitable<error_code> handshake(const std::string& host);
  Socket& socket();

  static constexpr std::size_t read_bytes = 64 * 1024;

  std::shared_ptr<TlsContext> context_;
  std::variant<Socket, TlsSocket> socket_;
  std::unique_ptr<char[]> buffer_;
  bool closed_ = false;
};

}  // namespace ff::valkey
