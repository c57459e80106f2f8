#include "engine/supervisor.hpp"

#include <fmt/format.h>
#include <boost/asio/strand.hpp>

#include "base/log.hpp"
#include "base/try.hpp"

namespace ff {
namespace {

constexpr Millis interval_min{100};
// Between two runs that changed nothing, so that something wrong does not make a busy loop.
constexpr Millis idle_pause_min{5};

template <class Rep>
bool lower(std::atomic<Rep>& value, Rep to) {
  auto current = value.load();
  while (to < current)
    if (value.compare_exchange_weak(current, to)) return true;
  return false;
}

}  // namespace

Supervisor::Handle Supervisor::add(std::unique_ptr<Scanner> scanner, Millis interval) {
  const std::string name(scanner->name());
  supervised_.push_back(
      std::unique_ptr<Supervised>(new Supervised{.scanner = std::move(scanner),
                                                 .interval = std::max(interval, interval_min),
                                                 .signal = Wakeup{executor_},
                                                 .status = {.name = name}}));
  return supervised_.size() - 1;
}

void Supervisor::start() {
  std::vector<std::string> names;
  for (const auto& each : supervised_)
    names.push_back(fmt::format("{} {} ms", each->status.name, each->interval.count()));
  log::info("scanners={}: {}", names.size(), fmt::join(names, ", "));
  for (auto& each : supervised_) spawn_loop(*each);
  loops_.spawn(asio::make_strand(executor_), [this] { return watch(); });
}

void Supervisor::spawn_loop(Supervised& supervised) {
  loops_.spawn(asio::make_strand(executor_),
               [this, &supervised] { return loop(supervised, supervised.generation.load()); });
}

void Supervisor::due_in(Handle scanner, Millis wait) {
  auto& supervised = *supervised_[scanner];
  if (lower(supervised.due, (Steady::now() + wait).time_since_epoch().count()))
    supervised.signal.wake();
}

void Supervisor::begin_stop() {
  stopping_ = true;
  for (auto& each : supervised_) each->signal.wake();
  watch_signal_.wake();
}

void Supervisor::stop() {
  begin_stop();
  loops_.wait();
}

bool Supervisor::stop_within(Millis limit) {
  begin_stop();
  return loops_.wait_for(limit);
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
      FF_CO_TRY(scan);
      more = scan->more;
    }
  }
  co_return Result<void>{};
}

asio::awaitable<void> Supervisor::loop(Supervised& supervised, std::uint64_t generation) {
  while (!stopping_ && supervised.generation == generation) {
    // Work that comes due during the run lowers this again.
    supervised.due = never;
    const auto crashes_before = supervised.status.crashes;
    const auto scan = co_await guarded_run(supervised);
    if (supervised.generation != generation) co_return;
    if (scan && scan->more && scan->changed > 0) continue;
    if (scan && scan->next_in)
      lower(supervised.due,
            (Steady::now() + std::max(*scan->next_in, idle_pause_min)).time_since_epoch().count());
    const bool crashed = supervised.status.crashes > crashes_before;
    if (crashed) supervised.due = never;
    co_await pause(supervised, crashed ? options_.pause_after_crash : supervised.interval,
                   generation);
  }
}

asio::awaitable<void> Supervisor::pause(Supervised& supervised, Millis at_most,
                                        std::uint64_t generation) {
  const auto latest = Steady::now() + at_most;
  while (!stopping_ && supervised.generation == generation) {
    const Steady::time_point due{Steady::duration{supervised.due.load()}};
    const auto until = std::min(latest, due);
    if (Steady::now() >= until) co_return;
    co_await supervised.signal.wait_until(until);
  }
}

asio::awaitable<void> Supervisor::watch() {
  const auto interval = std::max(options_.stuck_after / 10, Millis{1});
  while (!stopping_) {
    for (auto& each : supervised_) replace_if_stuck(*each);
    co_await watch_signal_.wait_until(Steady::now() + interval);
  }
}

void Supervisor::replace_if_stuck(Supervised& supervised) {
  const auto since = supervised.running_since.load();
  const auto limit = std::chrono::duration_cast<Steady::duration>(options_.stuck_after).count();
  if (since == never || Steady::now().time_since_epoch().count() - since < limit) return;
  supervised.running_since = never;
  ++supervised.generation;
  {
    const std::lock_guard lock(status_mutex_);
    ++supervised.status.stuck;
    ++supervised.status.failures_in_a_row;
    log::error("scanner={} is stuck for {} ms, another loop takes its place (number {})",
               supervised.status.name, options_.stuck_after.count(), supervised.status.stuck);
  }
  spawn_loop(supervised);
}

// One run, counted; an exception becomes an error.
Async<Scan> Supervisor::guarded_run(Supervised& supervised) {
  const auto generation = supervised.generation.load();
  const auto began = Steady::now();
  supervised.running_since = began.time_since_epoch().count();
  Result<Scan> scan = fail(Errc::internal, "");
  bool crashed = false;
  try {
    scan = co_await supervised.scanner->run_once();
  } catch (const std::exception& exception) {
    crashed = true;
    scan = fail(Errc::internal, exception.what());
  }
  if (supervised.generation == generation) supervised.running_since = never;

  const std::lock_guard lock(status_mutex_);
  auto& status = supervised.status;
  if (options_.on_run) options_.on_run(status.name, Steady::now() - began);
  ++status.cycles;
  status.failures_in_a_row = scan ? 0 : status.failures_in_a_row + 1;
  if (scan) {
    status.changed += scan->changed;
    if (scan->changed > 0) log::debug("scanner={} changed={}", status.name, scan->changed);
  } else if (crashed) {
    ++status.crashes;
    log::error("scanner={} crashed, restarting in {} ms (restart {}): {}", status.name,
               options_.pause_after_crash.count(), status.crashes, scan.error().message);
  } else if (!stopping_) {  // otherwise it was broken off
    ++status.errors;
    log::warn("scanner={} failed: {}", status.name, scan.error().message);
  }
  co_return scan;
}

}  // namespace ff
