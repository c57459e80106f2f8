#include <flowfabric/client.hpp>
#include <flowfabric/worker.hpp>

#include <algorithm>
#include <atomic>
#include <semaphore>
#include <thread>

#include <fmt/format.h>

#include "base/try.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/coroutines.hpp"
#include "cli/bench/valkey_meter.hpp"
#include "cli/output/progress.hpp"
#include "sdk/client/blocking.hpp"
#include "store/open_store.hpp"

namespace ff::cli::bench {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::uint32_t latency_rounds_max = 1'000;
constexpr std::uint32_t throughput_rounds_max = 50'000;
constexpr std::uint32_t handlers_per_worker = 16;
constexpr std::uint32_t suspenders = 64;  // calls at a time

const SignalName& go() {
  static const auto name = *SignalName::parse("go");
  return name;
}

Suspend to_suspend(const ClaimedExecution& claimed) {
  return {.id = claimed.id,
          .fence = claimed.fence,
          .condition = {OneSignal{.name = go()}},
          .timeout = std::chrono::days{7}};
}

// ---- One at a time --------------------------------------------------------------------------------

Result<void> wait_until_suspended(Client& client, const ExecutionId& id) {
  while (true) {
    const auto state = client.state(id);
    FF_TRY(state);
    if (*state == ExecutionState::suspended) return {};
    std::this_thread::yield();
  }
}

// From the signal to the start of the handler's second run, on an idle engine.
Result<std::vector<double>> resume_latencies(Engine& engine, const Settings& settings) {
  constexpr auto lane = "bench-signal";
  Steady::time_point resumed_at;
  std::binary_semaphore resumed(0);
  Worker worker(engine, {.id = "bench", .lanes = {lane}, .concurrency = settings.workers});
  worker.handle("bench", [&](Task& task) -> Outcome {
    if (!task.wake()) return Outcome::suspended({.condition = {OneSignal{.name = go()}}});
    resumed_at = Steady::now();
    resumed.release();
    return "done";
  });
  FF_TRY(worker.start());

  Client client(engine, {.submit_retry = Millis{0}});
  std::vector<double> milliseconds;
  for (std::uint32_t i = 0; i < std::min(settings.tasks, latency_rounds_max); ++i) {
    const auto submitted = client.submit({.kind = "bench", .lane = lane});
    FF_TRY(submitted);
    FF_TRY(wait_until_suspended(client, submitted->id));
    const auto start = Steady::now();
    FF_TRY(client.signal(submitted->id, go().str()));
    resumed.acquire();
    milliseconds.push_back(std::chrono::duration<double, std::milli>(resumed_at - start).count());
    FF_TRY(client.result(submitted->id, std::chrono::seconds{60}));
  }
  return milliseconds;
}

// ---- Many at once ---------------------------------------------------------------------------------

struct SignalLoad {
  SignalLoad(Engine& on, std::uint32_t count, const char* what)
      : engine(on), left(count), progress(what, count) {}

  Engine& engine;
  std::atomic<std::int64_t> left;
  Progress progress;
};
using SharedPtr = std::shared_ptr<SignalLoad>;

Claim to_claim(std::uint32_t worker, std::uint32_t max) {
  return {.worker = *WorkerId::parse(fmt::format("bench-{}", worker)),
          .lanes = {*LaneId::parse("bench")},
          .max = max,
          .wait = Millis{100}};
}

// Claims, suspends and signals, so that a worker can claim it again: one round.
Async<void> signaller(SharedPtr shared, std::uint32_t worker) {
  const auto claim = to_claim(worker, 1);
  while (shared->left.fetch_sub(1) > 0) {
    std::vector<ClaimedExecution> claimed;
    while (claimed.empty()) {
      auto reply = co_await shared->engine.run(claim);
      FF_CO_TRY(reply);
      claimed = std::move(reply->executions);
    }
    const auto suspended = co_await shared->engine.run(to_suspend(claimed[0]));
    FF_CO_TRY(suspended);
    SendSignal signal{.id = claimed[0].id, .name = go()};
    const auto signalled = co_await shared->engine.run(std::move(signal));
    FF_CO_TRY(signalled);
    shared->progress.add(1);
  }
  co_return Result<void>{};
}

Result<double> rounds_per_s(Engine& engine, const Settings& settings) {
  const auto handlers = handlers_per_worker * settings.workers;
  const auto executions = 2 * handlers;  // so that one is ready when a handler is free
  const auto rounds = std::min(settings.tasks, throughput_rounds_max);
  FF_TRY(submit_all(engine, settings, executions));
  const auto shared = std::make_shared<SignalLoad>(engine, rounds, "signalling");
  const auto start = Steady::now();
  FF_TRY(run_coroutines(engine, handlers, [&](std::uint32_t number) {
    return signaller(shared, number % settings.workers);
  }));
  const auto per_s = rounds / seconds_since(start);
  FF_TRY(drain(engine, settings, executions));
  return per_s;
}

// ---- Many that wait -------------------------------------------------------------------------------

Async<void> suspender(SharedPtr shared, std::uint32_t number) {
  const auto claim = to_claim(number, 16);
  while (shared->left > 0) {
    const auto claimed = co_await shared->engine.run(claim);
    FF_CO_TRY(claimed);
    for (const auto& each : claimed->executions) {
      const auto suspended = co_await shared->engine.run(to_suspend(each));
      FF_CO_TRY(suspended);
      shared->left -= 1;
      shared->progress.add(1);
    }
  }
  co_return Result<void>{};
}

// In the memory of the process that keeps them: Valkey, or the engine's own.
Result<double> memory_bytes(Engine& engine, ValkeyMeter* meter) {
  if (!meter) return metric(engine, "process_resident_memory_bytes");
  const auto use = meter->read();
  FF_TRY(use);
  return use->memory_bytes;
}

Result<void> add_suspended(Figures& figures, Engine& engine, const Settings& settings) {
  const auto meter = ValkeyMeter::open(settings.store);
  FF_TRY(meter);
  const auto before = memory_bytes(engine, meter->get());
  FF_TRY(before);
  FF_TRY(submit_all(engine, settings, settings.tasks));
  const auto shared = std::make_shared<SignalLoad>(engine, settings.tasks, "suspending");
  const auto start = Steady::now();
  FF_TRY(run_coroutines(engine, suspenders,
                        [&](std::uint32_t number) { return suspender(shared, number); }));
  figures["suspends_per_s"] = settings.tasks / seconds_since(start);
  const auto after = memory_bytes(engine, meter->get());
  FF_TRY(after);
  figures["bytes_per_suspended"] = (*after - *before) / settings.tasks;
  figures["resident_mib"] = *after / (1 << 20);
  return {};
}

}  // namespace

Result<Figures> signal(const Settings& settings) {
  auto engine = ff::open(settings.store, settings.open);
  FF_TRY(engine);
  Figures figures;
  auto latencies = resume_latencies(**engine, settings);
  FF_TRY(latencies);
  figures["resume_ms"] = percentiles(std::move(*latencies));
  const auto per_s = rounds_per_s(**engine, settings);
  FF_TRY(per_s);
  figures["signals_per_s"] = *per_s;
  FF_TRY(add_suspended(figures, **engine, settings));
  if (!store::parse_embedded(settings.store)) return figures;

  double restart_seconds = 0;
  engine = reopen(std::move(*engine), settings.store, restart_seconds);
  FF_TRY(engine);
  figures["restart_s"] = restart_seconds;
  const auto resident = metric(**engine, "process_resident_memory_bytes");
  FF_TRY(resident);
  figures["resident_mib_after_restart"] = *resident / (1 << 20);
  return figures;
}

}  // namespace ff::cli::bench
