#include "http/server.hpp"

#include <flowfabric/limits.hpp>

#include <array>
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

#include "base/base64.hpp"
#include "base/coroutine_group.hpp"
#include "base/utf8.hpp"
#include "base/version.hpp"
#include "http/routes.hpp"

namespace ff::http {

using tcp = asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::uint32_t header_bytes_max = 16 * 1024;
constexpr std::uint64_t other_fields_bytes_max = 64 * 1024;
constexpr std::uint64_t body_bytes_max =
    base64_encoded_size(std::max(limits::payload_bytes_max, limits::result_bytes_max)) +
    other_fields_bytes_max;
constexpr std::chrono::seconds read_timeout{60};   // also how long an idle connection is kept
constexpr std::chrono::seconds write_timeout{30};
constexpr std::chrono::seconds stop_timeout{10};
constexpr std::chrono::seconds drain_timeout{5};
constexpr std::uint64_t drain_bytes_max = 64 * 1024 * 1024;
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
  // It sent its next request already, so it is still there, and from here on it is not watched.
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

  // From any thread: no further request and no more waiting; with `now`, cuts even a running one.
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
    const auto failed = co_await read(parser);
    if (failed) {
      co_await refuse(failed);
      co_return false;
    }
    const Request request = parser.release();
    auto response = co_await answer(request);
    // Nobody reads the body of an answer to HEAD; a client would take it for the next answer.
    const bool head = request.method() == beast::http::verb::head;
    if (head) response.body().clear();
    const bool keep = request.keep_alive() && !closing_ && !head;
    const bool sent = co_await send(std::move(response), keep ? Keep::open : Keep::close);
    co_return sent && keep;
  }

  asio::awaitable<error_code> read(Parser& parser) {
    error_code failed;
    const auto token = [&failed] { return asio::redirect_error(asio::use_awaitable, failed); };
    stream_.expires_after(read_timeout);
    idle_ = true;
    co_await beast::http::async_read_header(stream_, buffer_, parser, token());
    idle_ = false;
    if (!failed && beast::iequals(parser.get()[beast::http::field::expect], "100-continue")) {
      Response go_on{beast::http::status::continue_, 11};
      co_await beast::http::async_write(stream_, go_on, token());
    }
    if (!failed) co_await beast::http::async_read(stream_, buffer_, parser, token());
    co_return failed;
  }

  asio::awaitable<void> refuse(error_code failed) {
    const auto error = unreadable(failed);
    if (!error) co_return;
    const bool sent = co_await send(error_response(*error), Keep::close);
    if (sent) co_await drain();
  }

  // Takes what the client is still sending: closed with unread bytes, the connection would be reset and
  // the answer lost.
  asio::awaitable<void> drain() {
    error_code failed;
    stream_.socket().shutdown(tcp::socket::shutdown_send, failed);
    stream_.expires_after(drain_timeout);
    std::array<char, 64 * 1024> bytes;
    for (std::uint64_t taken = 0; !failed && taken < drain_bytes_max;)
      taken += co_await stream_.async_read_some(asio::buffer(bytes),
                                                asio::redirect_error(asio::use_awaitable, failed));
  }

  asio::awaitable<Response> answer(const Request& request) {
    stream_.expires_never();
    auto matched = match(request);
    Response response;
    if (matched && matched->route->may_wait)
      response = co_await respond_unless_in_vain(std::move(matched));
    else
      response = co_await respond_or_apologise(std::move(matched));
    spdlog::debug("{} {} {}", printable(request.method_string()), printable(request.target()),
                  response.result_int());
    co_return response;
  }

  asio::awaitable<Response> respond_or_apologise(Result<Match> matched) {
    try {
      co_return co_await respond(engine_, std::move(matched));
    } catch (const std::exception& bug) {
      spdlog::error("a request failed: {}", bug.what());
    }
    co_return error_response({Errc::internal, "the server failed on this request; see its log"});
  }

  // A long poll ends early when its client has gone or the server stops. Whatever the engine answers
  // then is sent: it may be work that was claimed at the last moment.
  asio::awaitable<Response> respond_unless_in_vain(Result<Match> matched) {
    using namespace asio::experimental::awaitable_operators;
    Response response;
    auto responding = [&]() -> asio::awaitable<void> {
      response = co_await respond_or_apologise(std::move(matched));
    };
    co_await (responding() || peer_gone(stream_.socket()) || asked_to_close());
    co_return response;
  }

  asio::awaitable<void> asked_to_close() {
    error_code cancelled;
    if (closing_) co_return;
    co_await closing_signal_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  }

  enum class Keep { open, close };

  // False if it could not be sent.
  asio::awaitable<bool> send(Response response, Keep keep) {
    response.set(beast::http::field::server, std::string("FlowFabric/") + version);
    response.keep_alive(keep == Keep::open);
    response.prepare_payload();
    error_code failed;
    stream_.expires_after(write_timeout);
    co_await beast::http::async_write(stream_, response,
                                      asio::redirect_error(asio::use_awaitable, failed));
    co_return !failed;
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
  State(Engine& engine, Listener listener)
      : engine_(engine), acceptor_(listener.release_to(asio::make_strand(engine.executor()))) {
    coroutines_.spawn(acceptor_.get_executor(), [this] { return accept(); });
  }

  ~State() {
    close(false);
    if (coroutines_.wait_for(stop_timeout)) return;
    spdlog::warn("cutting the requests that are still running");
    close(true);
    coroutines_.wait();
  }

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
  std::set<std::shared_ptr<Connection>> connections_;
  CoroutineGroup coroutines_;
};

Server::Server(Engine& engine, Listener listener)
    : url_(listener.url()), state_(std::make_unique<State>(engine, std::move(listener))) {}

Server::~Server() = default;

}  // namespace ff::http
