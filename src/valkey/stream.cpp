#include "valkey/stream.hpp"

#include <utility>

#include <fmt/format.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "valkey/refusal.hpp"

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

asio::awaitable<error_code> Stream::write(std::string_view bytes) {
  error_code failed;
  if (auto* plain = std::get_if<Socket>(&socket_))
    co_await asio::async_write(*plain, asio::buffer(bytes), into(failed));
  else
    co_await asio::async_write(std::get<TlsSocket>(socket_), asio::buffer(bytes), into(failed));
  co_return failed;
}

void append_command(std::string& to, std::span<const std::string> command) {
  fmt::format_to(std::back_inserter(to), "*{}\r\n", command.size());
  for (const auto& argument : command) {
    fmt::format_to(std::back_inserter(to), "${}\r\n", argument.size());
    to += argument;
    to += "\r\n";
  }
}

Async<Reply> read_reply(Stream& stream, ReplyReader& reader) {
  while (true) {
    auto reply = reader.next();
    if (!reply) co_return std::unexpected(std::move(reply.error()));
    if (*reply) co_return std::move(**reply);
    const Stream::Received received = co_await stream.read();
    if (received.failed) co_return fail(Errc::store_unavailable, received.failed.message());
    reader.feed(received.bytes);
  }
}

namespace {

using Command = std::vector<std::string>;

// AUTH, if there is a password, and a name for the server's own lists.
std::vector<Command> greeting(const ClientOptions& options) {
  std::vector<Command> commands;
  if (!options.password.empty()) {
    commands.push_back({"AUTH"});
    if (!options.user.empty()) commands.back().push_back(options.user);
    commands.back().push_back(options.password);
  }
  commands.push_back({"CLIENT", "SETNAME", "flowfabric"});
  return commands;
}

// What an error in answer to one of those means. Being without a name is no harm.
Result<void> judge(const std::string& command, const std::string& error) {
  const auto kind = refusal_of(error).kind;
  const bool is_turned_away =
      error.starts_with("ERR max number of clients") || error.starts_with("DENIED");
  if (is_turned_away || (command == "AUTH" && kind == Refusal::Kind::not_now))
    return fail(Errc::store_unavailable, "it said " + error);
  if (command == "AUTH" || kind == Refusal::Kind::unauthenticated)
    return fail(Errc::unauthenticated, error);
  return {};
}

Async<void> introduce(Stream& stream, const ClientOptions& options) {
  const std::vector<Command> commands = greeting(options);
  std::string bytes;
  for (const auto& command : commands) append_command(bytes, command);
  const error_code failed = co_await stream.write(bytes);
  if (failed) co_return fail(Errc::store_unavailable, failed.message());
  ReplyReader reader;
  for (const auto& command : commands) {
    const Result<Reply> reply = co_await read_reply(stream, reader);
    if (!reply) co_return std::unexpected(reply.error());
    const ReplyError* error = reply->as_error();
    if (!error) continue;
    const Result<void> judged = judge(command[0], error->text);
    if (!judged) co_return judged;
  }
  if (!reader.is_empty()) co_return fail(Errc::malformed_response, "bytes that nobody asked for");
  co_return Result<void>{};
}

std::unexpected<Error> too_slow(const ClientOptions& options) {
  return fail(Errc::store_unavailable,
              fmt::format("it did not answer within {} ms{}", options.connect_timeout.count(),
                          options.tls ? "; does it speak TLS?" : ""));
}

std::string why_not_connected(const error_code& failed) {
  const bool is_tls = failed.category() == asio::error::get_ssl_category() ||
                      failed.category() == asio::ssl::error::get_stream_category();
  if (!is_tls) return failed.message();
  return fmt::format(
      "{}; does it speak TLS, and is its certificate for this name and signed by someone you "
      "trust?",
      failed.message());
}

}  // namespace

Async<void> open_stream(Stream& stream, const Endpoint& endpoint, const ClientOptions& options) {
  // The timer's handler may come after this coroutine's end, but not after its cancellation.
  struct Limit {
    asio::steady_timer timer;
    bool is_over = false;
  };
  auto limit = std::make_shared<Limit>(
      asio::steady_timer(co_await asio::this_coro::executor, options.connect_timeout));
  std::weak_ptr<Limit> watched = limit;
  limit->timer.async_wait([watched, &stream](error_code cancelled) {
    const auto running = watched.lock();
    if (cancelled || !running) return;
    running->is_over = true;
    stream.close();
  });

  const error_code failed = co_await stream.connect(endpoint);
  if (limit->is_over) co_return too_slow(options);
  if (failed) co_return fail(Errc::store_unavailable, why_not_connected(failed));
  Result<void> introduced = co_await introduce(stream, options);
  if (limit->is_over) co_return too_slow(options);
  if (introduced) co_return introduced;
  if (introduced.error().code == Errc::unauthenticated)
    co_return fail(Errc::unauthenticated, to_advice(options, endpoint));
  if (introduced.error().code == Errc::malformed_response)
    co_return fail(Errc::store_unavailable, "it sent " + introduced.error().message);
  co_return introduced;
}

}  // namespace ff::valkey
