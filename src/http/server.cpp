#include "http/server.hpp"

#include <set>

#include <spdlog/spdlog.h>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/coroutine_group.hpp"
#include "http/connection.hpp"

namespace ff::http {

using tcp = asio::ip::tcp;

namespace {

constexpr std::chrono::seconds stop_timeout{10};
constexpr std::chrono::milliseconds accept_pause{100};

}  // namespace

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
    co_await asio::post(asio::bind_executor(acceptor_.get_executor(), asio::use_awaitable));
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
