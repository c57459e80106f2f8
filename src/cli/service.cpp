#include "cli/service.hpp"

#include <csignal>
#include <ctime>

#include "base/clock.hpp"
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

}  // namespace

Result<Service> Service::start(const ServiceOption& option,
                               std::function<void(const Event&)> on_event) {
  const auto signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  // The port first: a wrong or taken one must not leave a data directory behind.
  auto listener = http::Listener::bind(option.listen);
  if (!listener) return std::unexpected(listener.error());
  auto store = store::open_store(option.store, std::make_shared<SystemClock>());
  if (!store) return std::unexpected(store.error());
  auto engine = std::make_unique<LocalEngine>(std::move(*store),
                                              LocalEngineOptions{.on_event = std::move(on_event)});
  auto server = std::make_unique<http::Server>(*engine, std::move(*listener));
  return Service(std::move(engine), std::move(server));
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
