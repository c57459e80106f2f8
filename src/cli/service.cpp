#include "cli/service.hpp"

#include <charconv>
#include <csignal>
#include <ctime>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/utf8.hpp"
#include "sdk/blocking.hpp"
#include "store/open_store.hpp"

namespace ff::cli {
namespace {

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

Result<http::ServerOptions> parse_listen(std::string_view text) {
  const auto colon = text.rfind(':');
  const auto port_text = text.substr(colon == std::string_view::npos ? text.size() : colon + 1);
  std::uint16_t port = 0;
  const auto end = port_text.data() + port_text.size();
  const auto [rest, failed] = std::from_chars(port_text.data(), end, port);
  if (port_text.empty() || failed != std::errc{} || rest != end)
    return fail(Errc::invalid_input,
                fmt::format("'{}' is not ADDRESS:PORT; one looks like 127.0.0.1:9090",
                            printable(text)));
  auto address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']'))
    address = address.substr(1, address.size() - 2);
  return http::ServerOptions{.address = std::string(address), .port = port};
}

}  // namespace

Result<Service> Service::start(const ServerOption& option,
                               std::function<void(const core::Event&)> on_event) {
  const auto signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  auto listen = parse_listen(option.listen);
  if (!listen) return std::unexpected(listen.error());
  auto store = store::open_store(option.store, std::make_shared<SystemClock>());
  if (!store) return std::unexpected(store.error());
  auto engine = std::make_unique<LocalEngine>(std::move(*store),
                                              LocalEngineOptions{.on_event = std::move(on_event)});
  auto server = http::Server::listen(*engine, std::move(*listen));
  if (!server) return std::unexpected(server.error());
  return Service(std::move(engine), std::move(*server));
}

Result<ExitCode> Service::wait_for_stop() {
  const auto signals = stop_signals();
  constexpr timespec health_interval{.tv_sec = 0, .tv_nsec = 500'000'000};
  while (sigtimedwait(&signals, nullptr, &health_interval) < 0) {
    const auto health = run_blocking(*engine_, Health{});
    if (!health) return std::unexpected(health.error());
  }
  return ExitCode::ok;
}

}  // namespace ff::cli
