
#include <future>

#include "cli/bench/bench.hpp"

namespace ff::cli::bench {

Result<Figures> lifecycle(const Settings& settings) {
  const auto engine = ff::open(settings.store, settings.open);
  if (!engine) return std::unexpected(engine.error());
  Figures figures;

  auto start = std::chrono::steady_clock::now();
  if (auto done = submit_all(**engine, settings, settings.tasks); !done)
    return std::unexpected(done.error());
  figures["submit_per_s"] = settings.tasks / seconds_since(start);

  start = std::chrono::steady_clock::now();
  if (auto done = drain(**engine, settings, settings.tasks); !done)
    return std::unexpected(done.error());
  figures["drain_per_s"] = settings.tasks / seconds_since(start);

  start = std::chrono::steady_clock::now();
  auto submitting = std::async(std::launch::async,
                               [&] { return submit_all(**engine, settings, settings.tasks); });
  const auto drained = drain(**engine, settings, settings.tasks);
  const auto submitted = submitting.get();
  if (!submitted) return std::unexpected(submitted.error());
  if (!drained) return std::unexpected(drained.error());
  figures["end_to_end_per_s"] = settings.tasks / seconds_since(start);
  return figures;
}

}  // namespace ff::cli::bench
