#include "http/server.hpp"

#include <set>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <spdlog/spdlog.h>

#include "base/coroutine_group.hpp"
#include "base/utf8.hpp"
#include "base/version.hpp"
#include "http/routes.hpp"

namespace ff::http {

using tcp = asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::uint32_t header_bytes_max = 16 * 1024;
constexpr std::uint64_t body_bytes_max = 2 * 1024 * 1024;  // a full payload, as base64, and its fields
constexpr std::chrono::seconds read_timeout{60};   // also how long an idle connection is kept
constexpr std::chrono::seconds write_timeout{30};
constexpr std::chrono::seconds stop_timeout{10};
constexpr std::chrono::milliseconds accept_pause{100};

using Parser = beast::http::request_parser<beast::http::string_body>;

// How to answer a request that could not be read; none if there is nobody to answer.
std::optional<Error> unreadable(const error_code& failed) {
  using beast::http::error;
  if (failed == error::body_limit)
    return Error{Errc::payload_too_large,
                 fmt::format("the request body is larger than {} bytes", body_bytes_max)};
  if (failed == error::header_limit || failed == error::buffer_overflow)
    return Error{Errc::headers_too_large,
                 fmt::format("the request headers are larger than {} bytes", header_bytes_max)};
  const bool hung_up = failed == error::end_of_stream || failed == error::partial_message;
  if (failed.category() == error_code(error::end_of_stream).category() && !hung_up)
    return Error{Errc::invalid_input, "this is not an HTTP/1.1 request: " + failed.message()};
  return std::nullopt;
}

// Ends when the other side has hung up.
asio::awaitable<void> peer_gone(tcp::socket& socket) {
  error_code failed;
  co_await socket.async_wait(tcp::socket::wait_read,
                             asio::redirect_error(asio::use_awaitable, failed));
  char byte;
  socket.non_blocking(true, failed);
  const auto size = socket.receive(asio::buffer(&byte, 1), tcp::socket::message_peek, failed);
  if (size == 0 && failed != asio::error::would_block) co_return;
  // It sent its next request already, so it is still there; from here on it is not watched.
  asio::steady_timer forever(socket.get_executor(), asio::steady_timer::time_point::max());
  co_await forever.async_wait(asio::redirect_error(asio::use_awaitable, failed));
}

}  // namespace

// One connection. Everything about it happens on its strand.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Engine& engine) : stream_(std::move(socket)), engine_(engine) {}

  asio::any_io_executor strand() { return stream_.get_executor(); }

  asio::awaitable<void> serve() {
    while (!closing_ && co_await serve_one()) {
    }
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
  }

  // From any thread: no further request, and no more waiting; with `now`, cuts even a running one.
  void close(bool now) {
    asio::post(stream_.get_executor(), [self = shared_from_this(), now] {
      self->closing_ = true;
      self->closing_signal_.cancel();
      if (now || self->idle_) self->stream_.cancel();
    });
  }

 private:
  // Reads and answers one request; false when the connection is done.
  asio::awaitable<bool> serve_one() {
    Parser parser;
    parser.header_limit(header_bytes_max);
    parser.body_limit(body_bytes_max);

    error_code failed;
    stream_.expires_after(read_timeout);
    idle_ = true;
    co_await beast::http::async_read(stream_, buffer_, parser,
                                     asio::redirect_error(asio::use_awaitable, failed));
    idle_ = false;
    if (failed) {
      if (const auto error = unreadable(failed)) co_await send(error_response(*error), false);
      co_return false;
    }
    const Request request = parser.release();
    auto response = co_await answer(request);
    if (!response) co_return false;
    co_return co_await send(std::move(*response), request.keep_alive());
  }

  // None if the client went away while it waited.
  asio::awaitable<std::optional<Response>> answer(const Request& request) {
    std::optional<Response> response;
    stream_.expires_never();
    try {
      auto matched = match(request);
      if (matched && matched->route->may_wait)
        response = co_await answer_or_give_up(std::move(*matched));
      else
        response = co_await respond(engine_, std::move(matched));
    } catch (const std::exception& bug) {
      spdlog::error("request {} {} failed: {}", std::string_view(request.method_string()),
                    printable(request.target()), bug.what());
      response = error_response({Errc::internal, "the server failed on this request; see its log"});
    }
    if (response)
      spdlog::debug("{} {} {}", std::string_view(request.method_string()),
                    printable(request.target()), response->result_int());
    co_return response;
  }

  asio::awaitable<std::optional<Response>> answer_or_give_up(Match matched) {
    using namespace asio::experimental::awaitable_operators;
    if (!closing_) {
      auto first = co_await (respond(engine_, std::move(matched)) || peer_gone(stream_.socket()) ||
                             asked_to_close());
      if (auto* answered = std::get_if<0>(&first)) co_return std::move(*answered);
      if (first.index() == 1) co_return std::nullopt;
    }
    co_return error_response(
        {Errc::shutting_down, "the server is shutting down; try again in a moment"});
  }

  asio::awaitable<void> asked_to_close() {
    error_code cancelled;
    co_await closing_signal_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  }

  asio::awaitable<bool> send(Response response, bool keep_alive) {
    keep_alive = keep_alive && !closing_;
    response.set(beast::http::field::server, std::string("FlowFabric/") + version);
    response.keep_alive(keep_alive);
    response.prepare_payload();
    error_code failed;
    stream_.expires_after(write_timeout);
    co_await beast::http::async_write(stream_, response,
                                      asio::redirect_error(asio::use_awaitable, failed));
    co_return keep_alive && !failed;
  }

  beast::tcp_stream stream_;
  Engine& engine_;
  beast::flat_buffer buffer_;
  bool idle_ = false;
  bool closing_ = false;
  asio::steady_timer closing_signal_{stream_.get_executor(), asio::steady_timer::time_point::max()};
};

// Everything about accepting happens on the acceptor's strand.
class Server::State {
 public:
  State(Engine& engine, tcp::acceptor acceptor)
      : engine_(engine), acceptor_(std::move(acceptor)), endpoint_(acceptor_.local_endpoint()) {
    coroutines_.spawn(acceptor_.get_executor(), [this] { return accept(); });
  }

  ~State() {
    close(false);
    if (coroutines_.wait_for(stop_timeout)) return;
    spdlog::warn("cutting the requests that are still running");
    close(true);
    coroutines_.wait();
  }

  const tcp::endpoint& endpoint() const { return endpoint_; }

 private:
  void close(bool now) {
    coroutines_.spawn(acceptor_.get_executor(), [this, now]() -> asio::awaitable<void> {
      error_code ignored;
      stopping_ = true;
      acceptor_.close(ignored);
      accept_again_.cancel();
      for (const auto& connection : connections_) connection->close(now);
      co_return;
    });
  }

  asio::awaitable<void> accept() {
    while (!stopping_) {
      error_code failed;
      auto socket = co_await acceptor_.async_accept(
          asio::make_strand(engine_.executor()), asio::redirect_error(asio::use_awaitable, failed));
      if (stopping_) co_return;
      if (failed) {  // out of file descriptors, most likely: let some go first
        spdlog::warn("cannot accept a connection: {}", failed.message());
        accept_again_.expires_after(accept_pause);
        co_await accept_again_.async_wait(asio::redirect_error(asio::use_awaitable, failed));
        continue;
      }
      socket.set_option(tcp::no_delay(true), failed);
      const auto connection = std::make_shared<Connection>(std::move(socket), engine_);
      connections_.insert(connection);
      coroutines_.spawn(connection->strand(), [this, connection] { return serve(connection); });
    }
  }

  asio::awaitable<void> serve(std::shared_ptr<Connection> connection) {
    co_await connection->serve();
    co_await asio::post(acceptor_.get_executor(),
                        asio::bind_executor(acceptor_.get_executor(), asio::use_awaitable));
    connections_.erase(connection);
  }

  Engine& engine_;
  tcp::acceptor acceptor_;
  asio::steady_timer accept_again_{acceptor_.get_executor()};
  bool stopping_ = false;
  tcp::endpoint endpoint_;
  std::set<std::shared_ptr<Connection>> connections_;
  CoroutineGroup coroutines_;
};

Result<std::unique_ptr<Server>> Server::listen(Engine& engine, ServerOptions options) {
  error_code failed;
  const auto address = asio::ip::make_address(options.address, failed);
  if (failed || !address.is_loopback())
    return fail(Errc::invalid_input,
                fmt::format("cannot listen on '{}': the API has no authentication, so only loopback "
                            "addresses such as 127.0.0.1 are allowed",
                            options.address));

  const tcp::endpoint endpoint(address, options.port);
  tcp::acceptor acceptor(asio::make_strand(engine.executor()));
  acceptor.open(endpoint.protocol(), failed);
  if (!failed) acceptor.set_option(asio::socket_base::reuse_address(true), failed);
  if (!failed) acceptor.bind(endpoint, failed);
  if (!failed) acceptor.listen(asio::socket_base::max_listen_connections, failed);
  if (failed == asio::error::address_in_use)
    return fail(Errc::address_in_use,
                fmt::format("port {} on {} is in use; stop the program that has it, or choose another "
                            "with --listen",
                            options.port, options.address));
  if (failed)
    return fail(Errc::internal, fmt::format("cannot listen on {}:{}: {}", options.address,
                                            options.port, failed.message()));

  return std::unique_ptr<Server>(
      new Server(std::make_unique<State>(engine, std::move(acceptor))));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() = default;

std::uint16_t Server::port() const { return state_->endpoint().port(); }

std::string Server::url() const {
  const auto& endpoint = state_->endpoint();
  const bool v6 = endpoint.address().is_v6();
  return fmt::format("http://{}{}{}:{}", v6 ? "[" : "", endpoint.address().to_string(), v6 ? "]" : "",
                     endpoint.port());
}

}  // namespace ff::http
