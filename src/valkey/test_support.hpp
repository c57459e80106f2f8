// Clients in tests, and servers that say what they like.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/async/runtime.hpp"
#include "tests/support/valkey_server.hpp"
#include "valkey/client.hpp"

namespace ff::valkey::test {

using namespace std::chrono_literals;

// The reply, or the error with its code.
inline std::string show(const Result<Reply>& result) {
  if (result) return to_text(*result);
  return fmt::format("{}: {}", result.error().name(), result.error().message);
}

using Future = std::future<Result<Reply>>;
inline Future start(Client& client, Request request) {
  auto promise = std::make_shared<std::promise<Result<Reply>>>();
  auto future = promise->get_future();
  client.send(std::move(request),
              [promise](Result<Reply> reply) { promise->set_value(std::move(reply)); });
  return future;
}
inline std::string run(Client& client, Request request) {
  return show(start(client, std::move(request)).get());
}
inline std::string run(Client& client, std::vector<std::string> command) {
  Request request{.command = std::move(command)};
  if (request.command.size() > 1) request.route = slot_of(request.command[1]);
  return run(client, std::move(request));
}

class ClientTest : public ::testing::Test {
 protected:
  std::unique_ptr<Client> connect(ClientOptions options) {
    return std::make_unique<Client>(runtime_.executor(), std::move(options));
  }

  Runtime runtime_{2};
};

// Accepts connections and lets `serve` talk on each; those who hang up end it.
class FakeServer {
 public:
  using Socket = asio::ip::tcp::socket;
  using Serve = std::function<asio::awaitable<void>(Socket&)>;

  explicit FakeServer(Serve serve)
      : serve_(std::move(serve)),
        acceptor_(runtime_.executor(), {asio::ip::address_v4::loopback(), 0}) {
    asio::co_spawn(runtime_.executor(), accept(), asio::detached);
  }
  ~FakeServer() { runtime_.stop(); }

  ClientOptions client_options() const {
    ClientOptions options;
    options.endpoints.push_back(TcpEndpoint{"127.0.0.1", acceptor_.local_endpoint().port()});
    options.request_timeout = 300ms;
    options.connect_timeout = 300ms;
    return options;
  }
  int connections() const { return connections_; }

  // Reads up to the end of something that ends in `text`; ends the connection's coroutine otherwise.
  static asio::awaitable<void> expect(Socket& socket, std::string text) {
    std::string bytes;
    co_await asio::async_read_until(socket, asio::dynamic_buffer(bytes), text, asio::use_awaitable);
  }
  static asio::awaitable<void> say(Socket& socket, std::string bytes) {
    co_await asio::async_write(socket, asio::buffer(bytes), asio::use_awaitable);
  }
  // Handshake of every client.
  static asio::awaitable<void> greet(Socket& socket) {
    co_await expect(socket, "flowfabric\r\n");
    co_await say(socket, "+OK\r\n");
  }
  static asio::awaitable<void> wait_for_end(Socket& socket) { return expect(socket, "never"); }

 private:
  asio::awaitable<void> accept() {
    while (true) {
      Socket socket = co_await acceptor_.async_accept(asio::use_awaitable);
      ++connections_;
      asio::co_spawn(runtime_.executor(), talk(std::move(socket)), asio::detached);
    }
  }
  asio::awaitable<void> talk(Socket socket) {
    try {
      co_await serve_(socket);
    } catch (const boost::system::system_error&) {
    }
  }

  Serve serve_;
  std::atomic<int> connections_ = 0;
  Runtime runtime_{1};
  asio::ip::tcp::acceptor acceptor_;
};

}  // namespace ff::valkey::test
