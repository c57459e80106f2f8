#include "base/try.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/valkey_meter.hpp"

namespace ff::cli::bench {
namespace {

// One phase after the other, so that each function's share is seen: all are submitted, claimed, completed.
Result<void> add_time_per_function(Figures& figures, Engine& engine, const Settings& settings,
                                   ValkeyMeter& meter) {
  constexpr std::uint32_t count = 5'000;
  auto before = meter.read();
  FF_TRY(before);
  const auto measure = [&](const char* name) -> Result<void> {
    auto after = meter.read();
    FF_TRY(after);
    figures[name] = (after->call_us - before->call_us) / (after->calls - before->calls);
    before = std::move(after);
    return {};
  };
  if (auto done = submit_all(engine, settings, count); !done) return done;
  if (auto done = measure("valkey_us_submit"); !done) return done;
  auto claimed = claim_all(engine, count);
  FF_TRY(claimed);
  if (auto done = measure("valkey_us_claim"); !done) return done;
  if (auto done = complete_all(engine, *claimed); !done) return done;
  return measure("valkey_us_complete");
}

}  // namespace

Result<Figures> lifecycle(const Settings& settings) {
  const auto engine = ff::open(settings.store, settings.open);
  FF_TRY(engine);
  const auto meter = ValkeyMeter::open(settings.store);
  FF_TRY(meter);
  Figures figures;

  const auto start = std::chrono::steady_clock::now();
  FF_TRY(submit_all(**engine, settings, settings.tasks));
  figures["submit_per_s"] = settings.tasks / seconds_since(start);

  const auto drained = drain(**engine, settings, settings.tasks);
  FF_TRY(drained);
  figures["drain_per_s"] = settings.tasks / drained->count();

  const auto before = *meter ? (*meter)->read() : ValkeyUse{};
  FF_TRY(before);
  const auto end_to_end = end_to_end_per_s(**engine, settings);
  FF_TRY(end_to_end);
  figures["end_to_end_per_s"] = *end_to_end;
  if (*meter) {
    FF_TRY(add_use(figures, **meter, *before, settings.tasks));
    FF_TRY(add_time_per_function(figures, **engine, settings, **meter));
  }
  return figures;
}

}  // namespace ff::cli::bench
