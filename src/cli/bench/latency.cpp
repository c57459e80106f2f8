#include <flowfabric/client.hpp>
#include <flowfabric/worker.hpp>

#include <semaphore>

#include "base/try.hpp"
#include "cli/bench/bench.hpp"
#include "sdk/client/blocking.hpp"

namespace ff::cli::bench {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::uint32_t delayed_tasks = 100;

}  // namespace

Result<Figures> latency(const Settings& settings) {
  const auto engine = ff::open(settings.store, settings.open);
  FF_TRY(engine);
  constexpr auto lane = "bench-latency";

  Steady::time_point handler_started;
  std::binary_semaphore started(0);
  Worker worker(**engine, {.id = "bench", .lanes = {lane}, .concurrency = settings.workers});
  worker.handle("bench", [&](Task&) {
    handler_started = Steady::now();
    started.release();
    return std::string("done");
  });
  FF_TRY(worker.start());

  Client client(**engine);
  Payloads payloads(settings.payload_bytes);
  std::vector<double> milliseconds;
  for (std::uint32_t i = 0; i < settings.tasks; ++i) {
    const auto start = Steady::now();
    const auto submitted =
        client.submit({.kind = "bench", .payload = payloads.next(), .lane = lane});
    FF_TRY(submitted);
    started.acquire();
    milliseconds.push_back(
        std::chrono::duration<double, std::milli>(handler_started - start).count());
    FF_TRY(client.result(submitted->id, std::chrono::seconds{60}));
  }
  Figures figures{{"latency_ms", percentiles(std::move(milliseconds))}};

  // How late a delayed execution begins.
  std::vector<double> late;
  for (std::uint32_t i = 0; i < std::min(settings.tasks, delayed_tasks); ++i) {
    constexpr Millis delay{20};
    const auto due = std::chrono::ceil<Millis>(std::chrono::system_clock::now() + delay);
    const auto due_steady = Steady::now() + (due - std::chrono::system_clock::now());
    Submit submit{.lane = *LaneId::parse(lane), .kind = *Kind::parse("bench"), .delay_until = due};
    const auto submitted = run_blocking(**engine, std::move(submit));
    FF_TRY(submitted);
    started.acquire();
    late.push_back(std::chrono::duration<double, std::milli>(handler_started - due_steady).count());
  }
  figures["timer_late_ms"] = percentiles(std::move(late));
  return figures;
}

}  // namespace ff::cli::bench
