#include "http/server/listener.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "base/try.hpp"

namespace ff::http {

using tcp = boost::asio::ip::tcp;
using boost::system::error_code;

namespace {

Result<tcp::endpoint> parse(std::string_view text, Reach reach) {
  const auto refuse = [&](std::string_view why) {
    return fail(Errc::invalid_input,
                fmt::format("cannot listen on '{}': {}", printable(text), why));
  };
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return refuse("write it as IP:PORT, like 127.0.0.1:9090");
  const auto digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [rest, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || wrong != std::errc{} || rest != digits.data() + digits.size())
    return refuse("the port must be a number from 0 to 65535");

  auto host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  error_code failed;
  const auto address = boost::asio::ip::make_address(host, failed);
  if (failed) return refuse("the address must be an IP address, like 127.0.0.1");
  if (reach == Reach::loopback && !address.is_loopback())
    return refuse(
        "without tokens, only loopback addresses are allowed; set FF_API_TOKEN or a tokens file, "
        "or "
        "say that you want it open to everybody with --insecure-listen");
  return tcp::endpoint(address, port);
}

}  // namespace

Result<Listener> Listener::bind(std::string_view address, Reach reach) {
  const auto endpoint = parse(address, reach);
  FF_TRY(endpoint);

  Listener listener(*endpoint);
  auto& acceptor = listener.acceptor_;
  error_code failed;
  acceptor.open(endpoint->protocol(), failed);
  if (!failed) acceptor.set_option(tcp::acceptor::reuse_address(true), failed);
  if (!failed) acceptor.bind(*endpoint, failed);
  if (!failed) acceptor.listen(tcp::acceptor::max_listen_connections, failed);
  if (failed == boost::asio::error::address_in_use)
    return fail(
        Errc::address_in_use,
        fmt::format("{} is in use; stop the program that has it, or choose another port", address));
  if (failed)
    return fail(Errc::internal, fmt::format("cannot listen on {}: {}", address, failed.message()));
  listener.endpoint_ = acceptor.local_endpoint();
  return listener;
}

std::string Listener::address() const {
  const bool v6 = endpoint_.address().is_v6();
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", endpoint_.address().to_string(), v6 ? "]" : "",
                     endpoint_.port());
}

tcp::acceptor Listener::release_to(const boost::asio::any_io_executor& executor) {
  return tcp::acceptor(executor, endpoint_.protocol(), acceptor_.release());
}

}  // namespace ff::http
