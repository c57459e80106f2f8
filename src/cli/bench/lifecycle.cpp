
#include <future>

#include "cli/bench/bench.hpp"
#include "cli/bench/valkey_meter.hpp"

namespace ff::cli::bench {
namespace {

// One phase after the other, so that each function's share is seen: all are submitted, claimed, completed.
Result<void> add_time_per_function(Figures& figures, Engine& engine, const Settings& settings,
                                   ValkeyMeter& meter) {
  constexpr std::uint32_t count = 5'000;
  auto before = meter.read();
  if (!before) return std::unexpected(before.error());
  const auto measure = [&](const char* name) -> Result<void> {
    auto after = meter.read();
    if (!after) return std::unexpected(after.error());
    figures[name] = (after->call_us - before->call_us) / (after->calls - before->calls);
    before = std::move(after);
    return {};
  };
  if (auto done = submit_all(engine, settings, count); !done) return done;
  if (auto done = measure("valkey_us_submit"); !done) return done;
  auto claimed = claim_all(engine, count);
  if (!claimed) return std::unexpected(claimed.error());
  if (auto done = measure("valkey_us_claim"); !done) return done;
  if (auto done = complete_all(engine, *claimed); !done) return done;
  return measure("valkey_us_complete");
}

}  // namespace

Result<Figures> lifecycle(const Settings& settings) {
  const auto engine = ff::open(settings.store, settings.open);
  if (!engine) return std::unexpected(engine.error());
  const auto meter = ValkeyMeter::open(settings.store);
  if (!meter) return std::unexpected(meter.error());
  Figures figures;

  auto start = std::chrono::steady_clock::now();
  if (auto done = submit_all(**engine, settings, settings.tasks); !done)
    return std::unexpected(done.error());
  figures["submit_per_s"] = settings.tasks / seconds_since(start);

  start = std::chrono::steady_clock::now();
  if (auto done = drain(**engine, settings, settings.tasks); !done)
    return std::unexpected(done.error());
  figures["drain_per_s"] = settings.tasks / seconds_since(start);

  const auto before = *meter ? (*meter)->read() : ValkeyUse{};
  if (!before) return std::unexpected(before.error());
  start = std::chrono::steady_clock::now();
  auto submitting = std::async(std::launch::async,
                               [&] { return submit_all(**engine, settings, settings.tasks); });
  const auto drained = drain(**engine, settings, settings.tasks);
  const auto submitted = submitting.get();
  if (!submitted) return std::unexpected(submitted.error());
  if (!drained) return std::unexpected(drained.error());
  figures["end_to_end_per_s"] = settings.tasks / seconds_since(start);
  if (*meter) {
    if (auto added = add_use(figures, **meter, *before, settings.tasks); !added)
      return std::unexpected(added.error());
    if (auto added = add_time_per_function(figures, **engine, settings, **meter); !added)
      return std::unexpected(added.error());
  }
  return figures;
}

}  // namespace ff::cli::bench
