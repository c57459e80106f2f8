#include "tests/valkey_faults/proxy.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace ff::faults {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

// Whatever is being read, it is not this.
constexpr std::string_view garbage = "\x80\xff garbage \r\n\x01 more of it";

}  // namespace

Proxy::Proxy(std::uint16_t to)
    : to_(to), acceptor_(runtime_.executor(), {asio::ip::address_v4::loopback(), 0}) {
  asio::co_spawn(runtime_.executor(), accept(), asio::detached);
}

Proxy::~Proxy() { runtime_.stop(); }

valkey::ClientOptions Proxy::client_options() const {
  valkey::ClientOptions options;
  options.endpoints.push_back(valkey::TcpEndpoint{"127.0.0.1", acceptor_.local_endpoint().port()});
  return options;
}

void Proxy::corrupt() {
  const std::lock_guard lock(mutex_);
  for (const auto& pair : pairs_) pair->corrupt = true;
}

asio::awaitable<void> Proxy::accept() {
  while (true) {
    auto pair = std::make_shared<Pair>(co_await acceptor_.async_accept(asio::use_awaitable),
                                       Socket(runtime_.executor()));
    asio::co_spawn(runtime_.executor(), serve(std::move(pair)), asio::detached);
  }
}

asio::awaitable<void> Proxy::serve(std::shared_ptr<Pair> pair) {
  try {
    const tcp::endpoint server{asio::ip::address_v4::loopback(), to_};
    co_await pair->server.async_connect(server, asio::use_awaitable);
  } catch (const boost::system::system_error&) {
    co_return;
  }
  pair->client.set_option(tcp::no_delay(true));
  pair->server.set_option(tcp::no_delay(true));
  {
    const std::lock_guard lock(mutex_);
    pairs_.insert(pair);
  }
  for (const bool to_client : {true, false})
    asio::co_spawn(runtime_.executor(), copy(pair, to_client), asio::detached);
}

asio::awaitable<void> Proxy::copy(std::shared_ptr<Pair> pair, bool to_client) {
  auto& from = to_client ? pair->server : pair->client;
  auto& to = to_client ? pair->client : pair->server;
  std::vector<char> buffer(64 * 1024);
  try {
    while (true) {
      const auto size = co_await from.async_read_some(asio::buffer(buffer), asio::use_awaitable);
      if (swallowing_) {
        swallowed_ += to_client ? 0 : 1;
        continue;
      }
      const std::string_view said(buffer.data(), size);
      if (to_client && said.find("smessage") == said.npos && losing_.exchange(false)) break;
      if (to_client && pair->corrupt.exchange(false))
        co_await asio::async_write(to, asio::buffer(garbage), asio::use_awaitable);
      co_await asio::async_write(to, asio::buffer(buffer.data(), size), asio::use_awaitable);
    }
  } catch (const boost::system::system_error&) {
  }
  if (!swallowing_) {
    boost::system::error_code ignored;
    pair->client.close(ignored);
    pair->server.close(ignored);
  }
  const std::lock_guard lock(mutex_);
  pairs_.erase(pair);
}

}  // namespace ff::faults
