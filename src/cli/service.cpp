#include "cli/service.hpp"

#include <csignal>
#include <ctime>

#include <spdlog/spdlog.h>

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

LocalEngineOptions engine_options(const Settings& settings) {
  return {
      .intervals = {.lease_expiry = settings.duration(Setting::lease_expiry_interval),
                    .delayed_promoter = settings.duration(Setting::delayed_promoter_interval),
                    .attempt_timeout = settings.duration(Setting::attempt_timeout_interval),
                    .execution_deadline = settings.duration(Setting::execution_deadline_interval),
                    .grant_expiry = settings.duration(Setting::grant_expiry_interval),
                    .retention_trimmer = settings.duration(Setting::retention_trimmer_interval),
                    .index_reconciler = settings.duration(Setting::index_reconciler_interval)},
      .retention_default = settings.duration(Setting::retention)};
}

// The store's URL says how durable it is, if the setting does not.
Result<std::string> store_url(const Settings& settings) {
  const auto& url = settings.text(Setting::store);
  const auto& durability = settings.value(Setting::durability);
  if (durability.source == SettingSource::default_value) return url;
  if (url.find('?') != std::string::npos)
    return fail(Errc::invalid_input,
                fmt::format("{} and the store's URL both say how durable it is; give one of them",
                            durability.where));
  return url + "?durability=" + durability.text;
}

}  // namespace

void add_service_settings(Arguments& arguments) {
  arguments.settings({Setting::store, Setting::listen, Setting::durability, Setting::retention,
                      Setting::log_level, Setting::lease_expiry_interval,
                      Setting::delayed_promoter_interval, Setting::attempt_timeout_interval,
                      Setting::execution_deadline_interval, Setting::grant_expiry_interval,
                      Setting::retention_trimmer_interval, Setting::index_reconciler_interval});
}

Result<Service> Service::start(const Settings& settings,
                               std::function<void(const Event&)> on_event) {
  set_log_level(settings);
  const auto signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  // The port first: a wrong or taken one must not leave a data directory behind.
  auto listener = http::Listener::bind(settings.text(Setting::listen));
  if (!listener) return std::unexpected(listener.error());
  const auto url = store_url(settings);
  if (!url) return std::unexpected(url.error());
  auto store = store::open_store(*url, std::make_shared<SystemClock>());
  if (!store) return std::unexpected(store.error());
  auto options = engine_options(settings);
  options.on_event = std::move(on_event);
  auto engine = std::make_unique<LocalEngine>(std::move(*store), std::move(options));
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

void set_log_level(const Settings& settings) {
  spdlog::set_level(spdlog::level::from_str(settings.text(Setting::log_level)));
}

}  // namespace ff::cli
