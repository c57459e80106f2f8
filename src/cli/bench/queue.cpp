#include <fmt/format.h>

#include "cli/bench/bench.hpp"
#include "store/ready_queue.hpp"

namespace ff::cli::bench {
namespace {

using Steady = std::chrono::steady_clock;

Uuid numbered_uuid(std::uint32_t number) {
  Uuid::Bytes bytes{};
  for (std::size_t i = 0; i < 4; ++i) bytes[15 - i] = static_cast<std::uint8_t>(number >> 8 * i);
  return Uuid{bytes};
}

// What makes each waiting execution a group of its own.
struct Apart {
  const char* name;
  void (*part)(store::Ready& ready, std::uint32_t number);
};
constexpr std::array ways{
    Apart{"by_budget",
          [](store::Ready& ready, std::uint32_t number) {
            ready.needs.budgets = {BudgetId{numbered_uuid(number)}};
          }},
    Apart{"by_kind",
          [](store::Ready& ready, std::uint32_t number) {
            ready.kind = *Kind::parse(fmt::format("kind-{}", number));
          }},
    Apart{"by_fairness_key",
          [](store::Ready& ready, std::uint32_t number) {
            ready.needs.share =
                core::FairShare{.key = *FairnessKey::parse(fmt::format("key-{}", number))};
          }},
    Apart{"by_capabilities", [](store::Ready& ready, std::uint32_t number) {
            ready.needs.capabilities =
                *CapabilitySet::parse({fmt::format("token-{}", number % 100)});
            ready.needs.budgets = {BudgetId{numbered_uuid(number)}};
          }}};

store::Ready ready_number(std::uint32_t number, const Apart& way) {
  store::Ready ready{.id = ExecutionId{0, numbered_uuid(number)},
                     .ns = default_namespace(),
                     .lane = default_lane(),
                     .queued_at = TimePoint{Millis{number}}};
  way.part(ready, number);
  return ready;
}

// Microseconds for a take of `size`, with the queue as full before each; by a worker with half of the capabilities.
double microseconds_per_take(std::uint32_t groups, const Apart& way, std::size_t size) {
  store::ReadyQueue queue;
  for (std::uint32_t i = 0; i < groups; ++i) queue.add(ready_number(i, way));
  std::vector<std::string> tokens;
  for (int i = 0; i < 50; ++i) tokens.push_back(fmt::format("token-{}", i));
  const store::TakeReady query{.ns = default_namespace(),
                               .lanes = {default_lane()},
                               .capabilities = *CapabilitySet::parse(std::move(tokens)),
                               .max = size};
  constexpr int takes = 200;
  Steady::duration spent{};
  for (int i = 0; i < takes; ++i) {
    const auto start = Steady::now();
    const auto taken = queue.take(query);
    spent += Steady::now() - start;
    for (const auto& each : taken) {
      std::uint32_t number = 0;
      for (std::size_t at = 12; at < 16; ++at) number = number << 8 | each.id.uuid().bytes()[at];
      queue.add(ready_number(number, way));
    }
  }
  return std::chrono::duration<double, std::micro>(spent).count() / takes;
}

}  // namespace

Result<Figures> queue(const Settings& settings) {
  Figures all;
  for (const auto& way : ways)
    all[way.name] = Figures{{"take_1_us", microseconds_per_take(settings.tasks, way, 1)},
                            {"take_256_us", microseconds_per_take(settings.tasks, way, 256)}};
  return Figures{{"groups", std::move(all)}};
}

}  // namespace ff::cli::bench
