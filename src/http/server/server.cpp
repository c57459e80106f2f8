#include "http/server/server.hpp"

#include <set>

#include <netinet/tcp.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/coroutine_group.hpp"
#include "base/log.hpp"
#include "http/server/connection.hpp"

namespace ff::http {

using tcp = asio::ip::tcp;

namespace {

constexpr std::chrono::seconds stop_timeout{10};
constexpr std::chrono::milliseconds accept_pause{100};
constexpr std::size_t turned_away_max =
    64;  // that are told so at a time; beyond, they are just closed

// A client whose machine or network is gone is noticed, even while it owes us nothing.
void set_options(tcp::socket& socket, std::chrono::milliseconds unanswered_max) {
  using UserTimeout = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_USER_TIMEOUT>;
  using KeepAliveIdle = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>;
  using KeepAliveInterval = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPINTVL>;
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  socket.set_option(KeepAliveIdle(30), ignored);
  socket.set_option(KeepAliveInterval(10), ignored);
  socket.set_option(UserTimeout(static_cast<int>(unanswered_max.count())), ignored);
}

}  // namespace

// Everything about accepting happens on the acceptor's strand.
class Server::State {
 public:
  State(Engine& engine, Listener listener, ServerOptions options)
      : on_cut_(std::move(options.on_cut)),
        context_(engine, options.limits, std::move(options.credentials), std::move(options.cors),
                 listener.is_loopback()),
        acceptor_(listener.release_to(asio::make_strand(engine.executor()))) {
    context_.on_session_end = [this] { check_access(); };
    coroutines_.spawn(acceptor_.get_executor(), [this] { return accept(); });
  }

  ~State() {
    context_.is_stopping = true;
    close(false);
    if (coroutines_.wait_for(stop_timeout)) return;
    log::warn("cutting the requests that are still running");
    close(true);
    if (on_cut_) on_cut_();
    coroutines_.wait();
  }

  void exchange(Credentials credentials) {
    context_.exchange(std::move(credentials));
    check_access();
  }

  // Of everybody who follows something.
  void check_access() {
    coroutines_.spawn(acceptor_.get_executor(), [this]() -> asio::awaitable<void> {
      for (const auto& connection : connections_) connection->check_access();
      co_return;
    });
  }

 private:
  // The place of a connection, among those that are served or those that are turned away.
  struct Held {
    Allowance::Share place;
    Allowance::Share place_away;
  };

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
      tcp::socket socket =
          co_await acceptor_.async_accept(asio::make_strand(context_.engine.executor()),
                                          asio::redirect_error(asio::use_awaitable, failed));
      if (stopping_) co_return;
      if (failed) {  // out of file descriptors, most likely: let some go first
        log::warn("cannot accept a connection: {}", failed.message());
        accept_again_.expires_after(accept_pause);
        co_await accept_again_.async_wait(asio::redirect_error(asio::use_awaitable, failed));
        continue;
      }
      set_options(socket, context_.limits.write_timeout);
      start(std::make_shared<Connection>(std::move(socket), context_));
    }
  }

  void start(std::shared_ptr<Connection> connection) {
    auto place = context_.connections.take();
    auto place_away = place ? Allowance::Share{} : turned_away_.take();
    if (!place && !place_away) return;
    connections_.insert(connection);
    const auto strand = connection->strand();
    auto held = std::make_shared<Held>(Held{std::move(place), std::move(place_away)});
    // Both go with the coroutine: the function that makes it may outlive the server.
    coroutines_.spawn(strand, [this, connection, held]() mutable {
      return serve(std::move(connection), std::move(held));
    });
  }

  asio::awaitable<void> serve(std::shared_ptr<Connection> connection, std::shared_ptr<Held> held) {
    if (held->place)
      co_await connection->serve();
    else
      co_await connection->turn_away();
    co_await asio::post(asio::bind_executor(acceptor_.get_executor(), asio::use_awaitable));
    connections_.erase(connection);
  }

  std::function<void()> on_cut_;
  ServerContext context_;
  Allowance turned_away_{turned_away_max};
  tcp::acceptor acceptor_;
  asio::steady_timer accept_again_{acceptor_.get_executor()};
  bool stopping_ = false;
  std::set<std::shared_ptr<Connection>> connections_;
  CoroutineGroup coroutines_;
};

Server::Server(Engine& engine, Listener listener, ServerOptions options)
    : url_((options.credentials.tls ? "https://" : "http://") + listener.address()),
      state_(std::make_unique<State>(engine, std::move(listener), std::move(options))) {}

Server::~Server() = default;

void Server::exchange(Credentials credentials) { state_->exchange(std::move(credentials)); }

}  // namespace ff::http
