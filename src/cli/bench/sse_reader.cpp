#include "cli/bench/sse_reader.hpp"

#include <fmt/format.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace ff::cli::bench {
namespace {

using asio::ip::tcp;
constexpr std::size_t event_bytes_max = 1024 * 1024;

}  // namespace

Async<void> read_events(SseTarget target, std::function<void()> connected,
                        std::function<void(std::string_view event)> each) {
  const auto executor = co_await asio::this_coro::executor;
  const auto unreachable = [](const boost::system::error_code& error) {
    return fail(Errc::unreachable, error.message());
  };
  boost::system::error_code failed;
  tcp::resolver resolver(executor);
  const auto found = co_await resolver.async_resolve(
      target.host, target.port, asio::redirect_error(asio::use_awaitable, failed));
  if (failed) co_return unreachable(failed);
  tcp::socket socket(executor);
  co_await asio::async_connect(socket, found, asio::redirect_error(asio::use_awaitable, failed));
  if (failed) co_return unreachable(failed);
  std::string text = fmt::format(
      "GET {} HTTP/1.1\r\nHost: {}:{}\r\nAccept: text/event-stream\r\n{}\r\n", target.path,
      target.host, target.port,
      target.token.empty() ? "" : fmt::format("Authorization: Bearer {}\r\n", target.token));
  co_await asio::async_write(socket, asio::buffer(text),
                             asio::redirect_error(asio::use_awaitable, failed));
  text.clear();
  text.shrink_to_fit();
  auto size = co_await asio::async_read_until(socket, asio::dynamic_buffer(text, event_bytes_max),
                                              "\r\n\r\n",
                                              asio::redirect_error(asio::use_awaitable, failed));
  if (failed) co_return unreachable(failed);
  if (!text.starts_with("HTTP/1.1 200 "))
    co_return fail(Errc::unreachable, "the server answers " + text.substr(0, text.find('\r')));
  text.erase(0, size);
  connected();
  while (true) {
    size =
        co_await asio::async_read_until(socket, asio::dynamic_buffer(text, event_bytes_max), "\n\n",
                                        asio::redirect_error(asio::use_awaitable, failed));
    if (failed) co_return Result<void>{};
    std::size_t begin = 0;
    for (auto end = text.find("\n\n"); end != std::string::npos; end = text.find("\n\n", begin)) {
      each(std::string_view(text).substr(begin, end - begin));
      begin = end + 2;
    }
    text.erase(0, begin);
  }
}

}  // namespace ff::cli::bench
