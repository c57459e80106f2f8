#include "valkey/network/stream.hpp"

#include <utility>

#include <fmt/format.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace ff::valkey {

using asio::ip::tcp;

namespace {

auto into(error_code& failed) { return asio::redirect_error(asio::use_awaitable, failed); }

}  // namespace

Result<std::shared_ptr<TlsContext>> make_tls(const ClientOptions& options) {
  if (!options.tls) return nullptr;
  using Context = asio::ssl::context;
  auto context = std::make_shared<Context>(Context::tls_client);
  error_code failed;
  context->set_options(Context::no_tlsv1 | Context::no_tlsv1_1, failed);
  context->set_verify_mode(asio::ssl::verify_peer, failed);
  if (options.ca_file)
    context->load_verify_file(*options.ca_file, failed);
  else
    context->set_default_verify_paths(failed);
  if (failed)
    return fail(Errc::invalid_input,
                fmt::format("cannot use the certificate authorities in {}: {}",
                            options.ca_file.value_or("the system's files"), failed.message()));
  return context;
}

Stream::Stream(const asio::any_io_executor& executor, std::shared_ptr<TlsContext> tls)
    : context_(std::move(tls)),
      socket_(std::in_place_type<Socket>, executor),
      buffer_(std::make_unique_for_overwrite<char[]>(read_bytes)) {
  if (context_) socket_.emplace<TlsSocket>(executor, *context_);
}

Stream::Socket& Stream::socket() {
  if (auto* plain = std::get_if<Socket>(&socket_)) return *plain;
  return std::get<TlsSocket>(socket_).next_layer();
}

void Stream::close() {
  closed_ = true;
  error_code ignored;
  socket().close(ignored);
}

asio::awaitable<error_code> Stream::connect(const Endpoint& endpoint) {
  if (const auto* local = std::get_if<UnixEndpoint>(&endpoint)) {
    if (local->path.size() >= sizeof(sockaddr_un::sun_path)) co_return asio::error::name_too_long;
    const asio::local::stream_protocol::endpoint address(local->path);
    co_return co_await connect_to(address);
  }
  const auto& over_tcp = std::get<TcpEndpoint>(endpoint);
  const error_code failed = co_await connect_tcp(over_tcp);
  if (failed) co_return failed;
  co_return co_await handshake(over_tcp.host);
}

asio::awaitable<error_code> Stream::connect_tcp(const TcpEndpoint& endpoint) {
  std::vector<tcp::endpoint> addresses;
  error_code failed;
  const auto literal = asio::ip::make_address(endpoint.host, failed);
  if (!failed) {
    addresses.emplace_back(literal, endpoint.port);
  } else {
    tcp::resolver resolver(socket().get_executor());
    const auto found =
        co_await resolver.async_resolve(endpoint.host, std::to_string(endpoint.port), into(failed));
    if (failed) co_return failed;
    for (const auto& entry : found) addresses.push_back(entry.endpoint());
  }
  for (const auto& address : addresses) {
    failed = co_await connect_to(address);
    if (!failed) break;
  }
  if (failed) co_return failed;
  error_code ignored;
  socket().set_option(tcp::no_delay(true), ignored);
  socket().set_option(asio::socket_base::keep_alive(true), ignored);
  co_return error_code{};
}

asio::awaitable<error_code> Stream::connect_to(asio::generic::stream_protocol::endpoint endpoint) {
  if (closed_) co_return asio::error::operation_aborted;
  error_code failed;
  socket().close(failed);
  co_await socket().async_connect(endpoint, into(failed));
  if (!failed && closed_) failed = asio::error::operation_aborted;
  co_return failed;
}

asio::awaitable<error_code> Stream::handshake(const std::string& host) {
  auto* tls = std::get_if<TlsSocket>(&socket_);
  if (!tls) co_return error_code{};
  error_code failed;
  // An address has no name to indicate; the call then says so, and that is all right.
  static_cast<void>(SSL_set_tlsext_host_name(tls->native_handle(), host.c_str()));
  tls->set_verify_callback(asio::ssl::host_name_verification(host), failed);
  if (!failed) co_await tls->async_handshake(asio::ssl::stream_base::client, into(failed));
  co_return failed;
}

asio::awaitable<Stream::Received> Stream::read() {
  const auto room = asio::buffer(buffer_.get(), read_bytes);
  Received received;
  std::size_t size = 0;
  if (auto* plain = std::get_if<Socket>(&socket_))
    size = co_await plain->async_read_some(room, into(received.failed));
  else
    size = co_await std::get<TlsSocket>(socket_).async_read_some(room, into(received.failed));
  received.bytes = std::string_view(buffer_.get(), size);
  co_return received;
}

void Stream::write(const std::vector<asio::const_buffer>& buffers,
                   std::function<void(error_code)> done) {
  auto written = [done = std::move(done)](error_code failed, std::size_t) { done(failed); };
  if (auto* plain = std::get_if<Socket>(&socket_))
    asio::async_write(*plain, buffers, std::move(written));
  else
    asio::async_write(std::get<TlsSocket>(socket_), buffers, std::move(written));
}

asio::awaitable<error_code> Stream::write(const std::vector<asio::const_buffer>& buffers) {
  error_code failed;
  if (auto* plain = std::get_if<Socket>(&socket_))
    co_await asio::async_write(*plain, buffers, into(failed));
  else
    co_await asio::async_write(std::get<TlsSocket>(socket_), buffers, into(failed));
  co_return failed;
}

}  // namespace ff::valkey
