#include <algorithm>
#include <ctime>
#include <thread>

#include "base/clock.hpp"
#include "base/try.hpp"
#include "cli/bench/bench.hpp"
#include "engine/local_engine.hpp"
#include "sdk/client/blocking.hpp"
#include "store/open_store.hpp"

namespace ff::cli::bench {
namespace {

constexpr std::uint32_t parts = 10;
constexpr Millis pause_between_counts{20};

Result<std::unique_ptr<LocalEngine>> open_engine(const Settings& settings,
                                                 LocalEngineOptions options) {
  auto store = store::open_store(
      settings.store, {.clock = std::make_shared<SystemClock>(), .looks_after_all = options.scan});
  FF_TRY(store);
  return std::make_unique<LocalEngine>(std::move(*store), std::move(options));
}

Result<std::uint64_t> ended_executions(Engine& engine) {
  const auto counts = run_blocking(engine, CountExecutions{.lane = *LaneId::parse("bench")});
  FF_TRY(counts);
  std::uint64_t all = 0;
  for (const auto& each : counts->counts)
    if (each.state == ExecutionState::completed) all += each.count;
  return all;
}

double cpu_us_since(std::clock_t start) {
  return static_cast<double>(std::clock() - start) * 1e6 / CLOCKS_PER_SEC;
}

Result<void> wait_until_left(Engine& engine, std::uint64_t count) {
  while (true) {
    const auto left = ended_executions(engine);
    FF_TRY(left);
    if (*left <= count) return {};
    std::this_thread::sleep_for(pause_between_counts);
  }
}

// Removals of each tenth: if a look for executions to remove cost more with every removal, the last tenth
// would take longer than the first. The time of the processor is the same on a busy machine.
Result<Figures> removals(Engine& engine, std::uint32_t tasks) {
  const auto begin = std::chrono::steady_clock::now();
  const auto cpu_begin = std::clock();
  std::vector<double> rates, cpu_us;
  const double part_tasks = static_cast<double>(tasks) / parts;
  for (std::uint32_t part = 1; part <= parts; ++part) {
    const auto start = std::chrono::steady_clock::now();
    const auto cpu_start = std::clock();
    FF_TRY(wait_until_left(engine, tasks - std::uint64_t{tasks} * part / parts));
    rates.push_back(part_tasks / seconds_since(start));
    cpu_us.push_back(cpu_us_since(cpu_start) / part_tasks);
  }
  return Figures{{"removed_per_s", tasks / seconds_since(begin)},
                 {"removed_per_s_first_tenth", rates.front()},
                 {"removed_per_s_last_tenth", rates.back()},
                 {"cpu_us_per_removal", cpu_us_since(cpu_begin) / tasks},
                 {"cpu_us_per_removal_first_tenth", cpu_us.front()},
                 {"cpu_us_per_removal_last_tenth", cpu_us.back()}};
}

}  // namespace

Result<Figures> retention(const Settings& given) {
  auto settings = given;
  settings.policy.retention = Millis{0};
  {
    const auto filling = open_engine(settings, {.scan = false});
    FF_TRY(filling);
    FF_TRY(submit_all(**filling, settings, settings.tasks));
    FF_TRY(drain(**filling, settings, settings.tasks));
  }
  const auto engine = open_engine(settings, {.intervals = {.retention_trimmer = Millis{100}}});
  FF_TRY(engine);
  auto figures = removals(**engine, settings.tasks);
  FF_TRY(figures);

  settings.tasks = std::max(settings.tasks / parts, 1u);
  const auto rate = end_to_end_per_s(**engine, settings);
  FF_TRY(rate);
  const auto left = ended_executions(**engine);
  FF_TRY(left);
  (*figures)["ended_per_s_meanwhile"] = *rate;
  (*figures)["seconds_behind"] = static_cast<double>(*left) / *rate;
  return figures;
}

}  // namespace ff::cli::bench
