#include "tests/browser/page_server.hpp"

#include <thread>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

namespace ff::test {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr auto failures_as_values = asio::as_tuple(asio::use_awaitable);

}  // namespace

class PageServer::Impl {
 public:
  explicit Impl(std::string page) : page_(std::move(page)) {
    done_.expires_at(asio::steady_timer::time_point::max());
    asio::co_spawn(context_, accept(), asio::detached);
    thread_ = std::jthread([this] { context_.run(); });
  }
  ~Impl() { context_.stop(); }

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  asio::awaitable<void> accept() {
    while (true) {
      auto [failed, socket] = co_await acceptor_.async_accept(failures_as_values);
      if (failed) co_return;
      asio::co_spawn(context_, serve(std::move(socket)), asio::detached);
    }
  }

  asio::awaitable<void> serve(tcp::socket socket) {
    boost::beast::flat_buffer buffer;
    while (true) {
      http::request<http::string_body> request;
      const auto [failed, size] =
          co_await http::async_read(socket, buffer, request, failures_as_values);
      if (failed) co_return;
      if (request.target() == "/done") done_.cancel();
      if (request.target() == "/wait") co_await done_.async_wait(failures_as_values);
      http::response<http::string_body> response{http::status::ok, 11};
      response.set(http::field::content_type, "text/html");
      if (request.target() == "/") response.body() = page_;
      response.prepare_payload();
      co_await http::async_write(socket, response, failures_as_values);
    }
  }

  const std::string page_;
  asio::io_context context_;
  tcp::acceptor acceptor_{context_, {asio::ip::address_v4::loopback(), 0}};
  asio::steady_timer done_{context_};
  std::jthread thread_;
};

PageServer::PageServer(std::string page) : impl_(std::make_unique<Impl>(std::move(page))) {}
PageServer::~PageServer() = default;

std::uint16_t PageServer::port() const { return impl_->port(); }

}  // namespace ff::test
