#include "http/client/client.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>

#include "base/async/cancellation.hpp"
#include "base/try.hpp"
#include "base/version.hpp"
#include "http/transport/stream.hpp"

namespace ff::http {

using tcp = asio::ip::tcp;

namespace {

constexpr std::chrono::seconds connect_timeout{10};
constexpr std::uint64_t response_bytes_max = 1024ull * 1024 * 1024;
constexpr std::size_t idle_connections_max = 64;

}  // namespace

struct Client::Connection {
  Connection(const asio::any_io_executor& executor, std::shared_ptr<TlsContext> tls)
      : stream(tcp::socket(asio::make_strand(executor)), std::move(tls)) {}

  // Nothing came in while it lay idle, and the server has not closed it.
  bool usable() {
    auto& socket = stream.tcp().socket();
    error_code failed;
    char byte;
    socket.non_blocking(true, failed);
    socket.receive(asio::buffer(&byte, 1), tcp::socket::message_peek, failed);
    return failed == asio::error::would_block;
  }

  Stream stream;
};

Client::Client(asio::any_io_executor executor, std::string host, std::string port,
               std::string token, std::shared_ptr<TlsContext> tls)
    : executor_(std::move(executor)),
      host_(std::move(host)),
      port_(std::move(port)),
      authorization_(token.empty() ? "" : "Bearer " + token),
      tls_(std::move(tls)) {}

Client::~Client() = default;

Async<Response> Client::send(Request request, std::chrono::milliseconds timeout) {
  auto connection = take_idle();
  const bool fresh = !connection;
  if (fresh) connection = std::make_unique<Connection>(executor_, tls_);
  const auto strand = connection->stream.tcp().get_executor();

  // On the connection's own strand, whatever executor the caller is on.
  auto call = [&]() -> Async<Response> {
    co_await asio::this_coro::throw_if_cancelled(false);
    if (fresh) FF_CO_TRY(co_await connect(*connection));
    co_return co_await exchange(connection, std::move(request), timeout);
  };
  // Cancellation crosses from the caller's executor to the strand. What carries it is shared: it may
  // be on its way when the call is already over.
  auto cancel = std::make_shared<asio::cancellation_signal>();
  auto from_caller = (co_await asio::this_coro::cancellation_state).slot();
  if (from_caller.is_connected())
    from_caller.assign([cancel, strand](asio::cancellation_type type) {
      asio::post(strand, [cancel, type] { cancel->emit(type); });
    });
  auto response = co_await asio::co_spawn(
      strand, call(), asio::bind_cancellation_slot(cancel->slot(), asio::use_awaitable));
  if (from_caller.is_connected()) from_caller.clear();
  if (connection && response && response->keep_alive()) put_back(std::move(connection));
  co_return response;
}

Async<void> Client::connect(Connection& connection) {
  error_code failed;
  auto& socket = connection.stream.tcp();
  tcp::resolver resolver(socket.get_executor());
  const auto addresses = co_await resolver.async_resolve(
      host_, port_, asio::redirect_error(asio::use_awaitable, failed));
  if (co_await is_cancelled()) failed = asio::error::operation_aborted;
  if (!failed) {
    socket.expires_after(connect_timeout);
    co_await socket.async_connect(addresses, asio::redirect_error(asio::use_awaitable, failed));
  }
  if (failed)
    co_return fail(Errc::unreachable,
                   fmt::format("cannot reach a FlowFabric server at {}:{} ({}); is it running, and "
                               "is this its address?",
                               host_, port_, failed.message()));
  socket.socket().set_option(tcp::no_delay(true), failed);
  failed = co_await connection.stream.connect_handshake(host_);
  if (failed)
    co_return fail(Errc::unreachable,
                   fmt::format("no TLS with the server at {}:{}: {}; is its certificate for this "
                               "name, and signed by someone you trust?",
                               host_, port_, failed.message()));
  co_return Result<void>{};
}

Async<Response> Client::exchange(std::unique_ptr<Connection>& connection, Request request,
                                 std::chrono::milliseconds timeout) {
  const bool v6 = host_.find(':') != std::string::npos;
  request.set(beast::http::field::host, (v6 ? "[" + host_ + "]" : host_) + ":" + port_);
  request.set(beast::http::field::user_agent, std::string("FlowFabric/") + version);
  if (!authorization_.empty() && request.count(beast::http::field::authorization) == 0)
    request.set(beast::http::field::authorization, authorization_);
  request.keep_alive(true);
  request.prepare_payload();

  auto& stream = connection->stream;
  auto& socket = stream.tcp();
  socket.expires_after(timeout);
  auto failed = co_await stream.write(request);
  ResponseParser parser;
  parser.body_limit(response_bytes_max);
  if (co_await is_cancelled())
    failed = asio::error::operation_aborted;
  else if (failed != beast::error::timeout)
    // Even if not all could be written: a server that refuses a request says so before it hangs up.
    failed = co_await stream.read(parser);
  socket.expires_never();
  if (!failed) co_return parser.release();

  connection.reset();
  if (failed == beast::error::timeout)
    co_return fail(Errc::timed_out, fmt::format("the server at {}:{} did not answer within {} ms",
                                                host_, port_, timeout.count()));
  co_return fail(Errc::unreachable, fmt::format("the connection to the server at {}:{} broke: {}",
                                                host_, port_, failed.message()));
}

std::unique_ptr<Client::Connection> Client::take_idle() {
  const std::lock_guard lock(mutex_);
  while (!idle_.empty()) {
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    if (connection->usable()) return connection;
  }
  return nullptr;
}

void Client::put_back(std::unique_ptr<Connection> connection) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < idle_connections_max) idle_.push_back(std::move(connection));
}

}  // namespace ff::http
