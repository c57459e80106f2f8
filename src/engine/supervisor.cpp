#include "engine/supervisor.hpp"

#include <spdlog/spdlog.h>
#include <boost/asio/strand.hpp>

namespace ff {
namespace {

constexpr Millis interval_min{100};
constexpr Millis pause_after_crash = std::chrono::seconds{5};

}  // namespace

void Supervisor::add(std::unique_ptr<Scanner> scanner, Millis interval) {
  const std::string name(scanner->name());
  supervised_.push_back(
      std::unique_ptr<Supervised>(new Supervised{.scanner = std::move(scanner),
                                                 .interval = std::max(interval, interval_min),
                                                 .stop_signal = Wakeup{executor_},
                                                 .status = {.name = name}}));
}

void Supervisor::start() {
  for (auto& each : supervised_)
    loops_.spawn(asio::make_strand(executor_), [this, &each = *each] { return loop(each); });
}

void Supervisor::stop() {
  stopping_ = true;
  for (auto& each : supervised_) each->stop_signal.wake();
  loops_.wait();
}

std::vector<ScannerStatus> Supervisor::status() const {
  const std::lock_guard lock(status_mutex_);
  std::vector<ScannerStatus> all;
  for (const auto& each : supervised_) all.push_back(each->status);
  return all;
}

Async<void> Supervisor::run_once() {
  for (auto& each : supervised_) {
    bool more = true;
    while (more) {
      const auto scan = co_await guarded_run(*each);
      if (!scan) co_return std::unexpected(scan.error());
      more = scan->more;
    }
  }
  co_return Result<void>{};
}

asio::awaitable<void> Supervisor::loop(Supervised& supervised) {
  while (!stopping_) {
    const auto crashes_before = supervised.status.crashes;
    const auto scan = co_await guarded_run(supervised);
    if (scan && scan->more) continue;
    const bool crashed = supervised.status.crashes > crashes_before;
    const auto pause = crashed ? pause_after_crash : supervised.interval;
    co_await supervised.stop_signal.wait_until(std::chrono::steady_clock::now() + pause);
  }
}

// One run, counted; an exception becomes an error.
Async<Scan> Supervisor::guarded_run(Supervised& supervised) {
  Result<Scan> scan = fail(Errc::internal, "");
  bool crashed = false;
  try {
    scan = co_await supervised.scanner->run_once();
  } catch (const std::exception& exception) {
    crashed = true;
    scan = fail(Errc::internal, exception.what());
  }

  const std::lock_guard lock(status_mutex_);
  auto& status = supervised.status;
  ++status.cycles;
  if (scan) {
    status.changed += scan->changed;
    if (scan->changed > 0) spdlog::info("scanner={} changed={}", status.name, scan->changed);
  } else if (crashed) {
    ++status.crashes;
    spdlog::error("scanner={} crashed, restarting in {} ms (restart {}): {}", status.name,
                  pause_after_crash.count(), status.crashes, scan.error().message);
  } else {
    ++status.errors;
    spdlog::warn("scanner={} failed: {}", status.name, scan.error().message);
  }
  co_return scan;
}

}  // namespace ff
