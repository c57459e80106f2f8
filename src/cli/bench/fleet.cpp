#include <atomic>
#include <future>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include "base/try.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/valkey_meter.hpp"
#include "sdk/client/blocking.hpp"

namespace ff::cli::bench {
namespace {

using Steady = std::chrono::steady_clock;

// The servers know each other, and have done what they do at the start.
constexpr std::chrono::seconds settling{4};
constexpr std::chrono::seconds idle_time{60};  // the longest interval of a scanner
constexpr std::uint32_t idle_executions = 200;
constexpr std::chrono::milliseconds between_them{20};
constexpr Millis long_call{5};

LaneId idle_lane() { return *LaneId::parse("bench-idle"); }

// How often the servers asked for a lease, and how often they got one.
struct Leases {
  double asked = 0;
  double got = 0;
};

Result<Leases> leases_of(const Engines& engines) {
  Leases sum;
  for (const auto& engine : engines) {
    const auto asked = metric(*engine, "ff_lease_attempts_total");
    FF_TRY(asked);
    const auto got = metric(*engine, "ff_leases_total");
    FF_TRY(got);
    sum.asked += *asked;
    sum.got += *got;
  }
  return sum;
}

Result<void> add_backlog(Figures& figures, const Engines& engines, const Settings& settings) {
  FF_TRY(submit_all(*engines.front(), settings, settings.tasks));
  // Of a backlog all servers know, as if it stood there for long.
  std::this_thread::sleep_for(settling);
  const auto before = leases_of(engines);
  FF_TRY(before);
  const auto drained = drain(engines, settings, settings.tasks);
  FF_TRY(drained);
  const auto after = leases_of(engines);
  FF_TRY(after);
  figures["drain_per_s"] = settings.tasks / drained->count();
  figures["drain_calls_per_lease"] = (after->asked - before->asked) / (after->got - before->got);
  return {};
}

Result<void> add_both_at_once(Figures& figures, const Engines& engines, const Settings& settings,
                              ValkeyMeter& meter) {
  const auto leases_before = leases_of(engines);
  FF_TRY(leases_before);
  const auto before = meter.read();
  FF_TRY(before);
  auto submitting = std::async(
      std::launch::async, [&] { return submit_all(*engines.back(), settings, settings.tasks); });
  const auto drained = drain(engines, settings, settings.tasks);
  const auto submitted = submitting.get();
  FF_TRY(submitted);
  FF_TRY(drained);
  FF_TRY(add_use(figures, meter, *before, settings.tasks));
  const auto leases_after = leases_of(engines);
  FF_TRY(leases_after);
  figures["end_to_end_per_s"] = settings.tasks / drained->count();
  figures["end_to_end_calls_per_lease"] =
      (leases_after->asked - leases_before->asked) / (leases_after->got - leases_before->got);
  return {};
}

// Workers that wait for work of their lane, until they are stopped.
class IdleWorkers {
 public:
  IdleWorkers(const Engines& engines, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      auto& engine = *engines[i % engines.size()];
      running_.push_back(
          asio::co_spawn(asio::make_strand(engine.executor()), work(engine, i), asio::use_future));
    }
  }
  // A claim that waits ends with its time.
  Result<void> stop() {
    stopping_ = true;
    Result<void> all;
    for (auto& each : running_)
      if (auto result = each.get(); !result && all) all = result;
    return all;
  }

 private:
  Async<void> work(Engine& engine, std::uint32_t number) {
    const Claim claim{.worker = *WorkerId::parse(fmt::format("idle-{}", number)),
                      .lanes = {idle_lane()},
                      .wait = std::chrono::seconds{20}};
    while (!stopping_) {
      const auto claimed = co_await engine.run(claim);
      FF_CO_TRY(claimed);
      for (const auto& execution : claimed->executions) {
        Complete complete{.id = execution.id, .fence = execution.fence, .result = "done"};
        FF_CO_TRY(co_await engine.run(std::move(complete)));
      }
    }
    co_return Result<void>{};
  }

  std::atomic<bool> stopping_ = false;
  std::vector<std::future<Result<void>>> running_;
};

struct IdleUse {
  double seconds;
  ValkeyUse from;
  ValkeyUse to;
  double calls_per_s() const { return (to.calls - from.calls) / seconds; }
};

Result<IdleUse> add_idle(Figures& figures, ValkeyMeter& meter) {
  std::this_thread::sleep_for(settling);
  const auto before = meter.read();
  FF_TRY(before);
  const auto start = Steady::now();
  std::this_thread::sleep_for(idle_time);
  const auto after = meter.read();
  FF_TRY(after);
  const IdleUse use{.seconds = seconds_since(start), .from = *before, .to = *after};
  figures["idle_commands_per_s"] = (after->commands - before->commands) / use.seconds;
  figures["idle_calls_per_s"] = use.calls_per_s();
  figures["idle_valkey_cpu_ms_per_s"] = (after->cpu_us - before->cpu_us) / 1'000 / use.seconds;
  return use;
}

// One execution at a time, each through another server than the one before.
Result<void> add_one_at_a_time(Figures& figures, const Engines& engines, ValkeyMeter& meter,
                               const IdleUse& idle) {
  const auto before = meter.read();
  FF_TRY(before);
  const auto start = Steady::now();
  std::vector<double> took;
  for (std::uint32_t i = 0; i < idle_executions; ++i) {
    auto& engine = *engines[i % engines.size()];
    const auto began = Steady::now();
    const auto submitted =
        run_blocking(engine, Submit{.lane = idle_lane(), .kind = *Kind::parse("bench")});
    FF_TRY(submitted);
    FF_TRY(run_blocking(engine, GetResult{.id = submitted->id, .wait = std::chrono::seconds{10}}));
    took.push_back(seconds_since(began) * 1'000);
    std::this_thread::sleep_for(between_them);
  }
  const auto after = meter.read();
  FF_TRY(after);
  // Two reads of a result belong to the measurement: one that finds none, and one when it is there.
  constexpr double reads = 2;
  const auto calls = after->calls - before->calls - idle.calls_per_s() * seconds_since(start);
  figures["idle_calls_per_execution"] = calls / idle_executions - reads;
  figures["idle_submit_to_result_ms"] = percentiles(std::move(took));
  return {};
}

}  // namespace

Result<Figures> fleet(const Settings& settings) {
  const auto meter = ValkeyMeter::open(settings.store);
  FF_TRY(meter);
  if (!*meter)
    return fail(Errc::invalid_input, "ff bench fleet measures servers on one Valkey (--store)");
  Engines engines;
  for (std::uint32_t i = 0; i < settings.servers; ++i) {
    auto engine = ff::open(settings.store, settings.open);
    FF_TRY(engine);
    engines.push_back(std::move(*engine));
  }
  std::this_thread::sleep_for(settling);
  FF_TRY((*meter)->read());  // so that its nodes are known
  const bool is_watched = (*meter)->watch_long_calls();

  Figures figures{{"servers", settings.servers}};
  IdleWorkers workers(engines, settings.workers);
  auto measured = [&]() -> Result<void> {
    const auto idle = add_idle(figures, **meter);
    FF_TRY(idle);
    return add_one_at_a_time(figures, engines, **meter, *idle);
  }();
  const auto stopped = workers.stop();
  FF_TRY(measured);
  FF_TRY(stopped);
  FF_TRY(add_backlog(figures, engines, settings));
  FF_TRY(add_both_at_once(figures, engines, settings, **meter));
  if (!is_watched) return figures;
  const auto calls = (*meter)->long_calls(long_call);
  FF_TRY(calls);
  figures["longest_call_ms"] = calls->longest.ms;
  figures["longest_call"] = calls->longest.what;
  figures["calls_over_5_ms"] = calls->over;
  return figures;
}

}  // namespace ff::cli::bench
