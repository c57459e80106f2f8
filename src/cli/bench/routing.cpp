#include <future>
#include <mutex>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include "base/try.hpp"
#include "cli/bench/bench.hpp"

namespace ff::cli::bench {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::uint32_t sets = 10;
constexpr std::uint32_t few_sets = sets / 2;  // sets with one worker, or with late ones
constexpr std::chrono::milliseconds work_time{5};
constexpr std::chrono::milliseconds late_by{500};

// Which capability set the workers have, and when they come.
struct Mix {
  const char* name;
  std::uint32_t (*set_of)(std::uint32_t worker);
  bool (*is_late)(std::uint32_t set);
};
constexpr std::array mixes{
    // As many for each set.
    Mix{"happy", [](std::uint32_t worker) { return worker % sets; },
        [](std::uint32_t) { return false; }},
    // One worker for each of the first half, all others for the second half.
    Mix{"partial",
        [](std::uint32_t worker) {
          return worker < few_sets ? worker : few_sets + worker % (sets - few_sets);
        },
        [](std::uint32_t) { return false; }},
    // The workers of the first three sets arrive when their work already waits.
    Mix{"scarce", [](std::uint32_t worker) { return worker % sets; },
        [](std::uint32_t set) { return set < 3; }},
};

CapabilitySet set_number(std::uint32_t set) {
  return *CapabilitySet::parse({fmt::format("model-{}", set), "bench"});
}

struct RoutingShared {
  Engine& engine;
  LaneId lane;
  std::atomic<std::int64_t> left;
  std::atomic<std::uint32_t> correct = 0;
  Steady::time_point begin = Steady::now();
  std::mutex mutex = {};
  std::vector<double> waited_ms = {};
};

asio::awaitable<void> pause(Steady::duration time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(asio::use_awaitable);
}

Async<void> worker(std::shared_ptr<RoutingShared> shared, const Mix& mix, std::uint32_t number) {
  const auto set = mix.set_of(number);
  if (mix.is_late(set)) co_await pause(late_by);
  Claim claim{.worker = *WorkerId::parse(fmt::format("bench-{}-{}", mix.name, number)),
              .lanes = {shared->lane},
              .capabilities = set_number(set),
              .wait = Millis{200}};
  while (shared->left > 0) {
    const auto claimed = co_await shared->engine.run(claim);
    FF_CO_TRY(claimed);
    for (const auto& execution : claimed->executions) {
      const std::chrono::duration<double, std::milli> waited = Steady::now() - shared->begin;
      {
        const std::lock_guard lock(shared->mutex);
        shared->waited_ms.push_back(waited.count());
      }
      if (execution.payload == std::to_string(set)) ++shared->correct;
      co_await pause(work_time);
      Complete complete{.id = execution.id, .fence = execution.fence};
      const auto completed = co_await shared->engine.run(std::move(complete));
      FF_CO_TRY(completed);
      --shared->left;
    }
  }
  co_return Result<void>{};
}

Async<void> submit(std::shared_ptr<RoutingShared> shared, std::uint32_t count) {
  constexpr std::uint32_t batch_max = 100;
  for (std::uint32_t i = 0; i < count;) {
    SubmitMany batch;
    for (; i < count && batch.executions.size() < batch_max; ++i)
      batch.executions.push_back({.lane = shared->lane,
                                  .kind = *Kind::parse("bench"),
                                  .payload = std::to_string(i % sets),
                                  .policy = {.required_capabilities = set_number(i % sets)}});
    const auto reply = co_await shared->engine.run(std::move(batch));
    FF_CO_TRY(reply);
    for (const auto& each : reply->results) FF_CO_TRY(each);
  }
  co_return Result<void>{};
}

Result<Figures> measure(Engine& engine, const Settings& settings, const Mix& mix) {
  const std::shared_ptr<RoutingShared> shared(
      new RoutingShared{.engine = engine,
                        .lane = *LaneId::parse(fmt::format("bench-{}", mix.name)),
                        .left = settings.tasks});
  std::vector<std::future<Result<void>>> running;
  const auto run = [&](Async<void> coroutine) {
    running.push_back(asio::co_spawn(asio::make_strand(engine.executor()), std::move(coroutine),
                                     asio::use_future));
  };
  for (std::uint32_t i = 0; i < settings.workers; ++i) run(worker(shared, mix, i));
  run(submit(shared, settings.tasks));
  for (auto& each : running) FF_TRY(each.get());
  return Figures{{"correct_rate", static_cast<double>(shared->correct) / settings.tasks},
                 {"end_to_end_per_s", settings.tasks / seconds_since(shared->begin)},
                 {"wait_ms", percentiles(std::move(shared->waited_ms))}};
}

}  // namespace

Result<Figures> routing(const Settings& settings) {
  const auto engine = ff::open(settings.store, settings.open);
  FF_TRY(engine);
  Figures all;
  for (const auto& mix : mixes) {
    auto figures = measure(**engine, settings, mix);
    FF_TRY(figures);
    all[mix.name] = std::move(*figures);
  }
  return Figures{{"mixes", std::move(all)}};
}

}  // namespace ff::cli::bench
