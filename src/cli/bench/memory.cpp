#include <flowfabric/limits.hpp>
#include <flowfabric/open.hpp>

#include <filesystem>
#include <fstream>

#include <malloc.h>
#include <unistd.h>

#include <fmt/format.h>

#include "cli/bench/bench.hpp"
#include "cli/bench/valkey_meter.hpp"
#include "sdk/client/blocking.hpp"
#include "store/open_store.hpp"
#include "store/valkey/boot/url.hpp"

namespace ff::cli::bench {
namespace {

constexpr std::uint32_t few_tasks = 1'000;

double resident_bytes() {
  ::malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  double pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double disk_bytes(const std::filesystem::path& directory) {
  double bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
    if (entry.is_regular_file()) bytes += static_cast<double>(entry.file_size());
  return bytes;
}

// The mean time of a claim of one execution, which is completed behind it.
Result<double> claim_microseconds(Engine& engine, std::uint32_t claims) {
  using Steady = std::chrono::steady_clock;
  Steady::duration total{};
  for (std::uint32_t i = 0; i < claims; ++i) {
    const auto start = Steady::now();
    const auto claimed = run_blocking(
        engine, Claim{.worker = *WorkerId::parse("bench"), .lanes = {*LaneId::parse("bench")}});
    total += Steady::now() - start;
    if (!claimed) return std::unexpected(claimed.error());
    for (const auto& each : claimed->executions)
      if (auto done = run_blocking(engine, Complete{.id = each.id, .fence = each.fence}); !done)
        return std::unexpected(done.error());
  }
  return std::chrono::duration<double, std::micro>(total).count() / claims;
}

Result<std::shared_ptr<Engine>> reopen(std::shared_ptr<Engine> engine, const std::string& url,
                                       double& seconds) {
  engine.reset();
  const auto start = std::chrono::steady_clock::now();
  auto opened = ff::open(url);
  if (!opened) return opened;
  // Serving: it answers with what is in the store.
  if (auto counted = run_blocking(**opened, CountExecutions{}); !counted)
    return std::unexpected(counted.error());
  seconds = seconds_since(start);
  return opened;
}

Result<Figures> memory_of_valkey(const Settings& settings) {
  const auto engine = ff::open(settings.store, settings.open);
  if (!engine) return std::unexpected(engine.error());
  const auto meter = ValkeyMeter::open(settings.store);
  if (!meter) return std::unexpected(meter.error());
  Figures figures;

  if (auto done = submit_all(**engine, settings, few_tasks); !done)
    return std::unexpected(done.error());
  const auto claim_few = claim_microseconds(**engine, few_tasks / 2);
  if (!claim_few) return std::unexpected(claim_few.error());
  figures["claim_us_with_1000"] = *claim_few;
  if (auto done = drain(**engine, settings, few_tasks / 2); !done)
    return std::unexpected(done.error());

  const auto bytes_since = [&](double before) -> Result<double> {
    const auto now = (*meter)->read();
    if (!now) return std::unexpected(now.error());
    return (now->memory_bytes - before) / settings.tasks;
  };
  const auto before = (*meter)->read();
  if (!before) return std::unexpected(before.error());
  if (auto done = submit_all(**engine, settings, settings.tasks); !done)
    return std::unexpected(done.error());
  const auto waiting = bytes_since(before->memory_bytes);
  if (!waiting) return std::unexpected(waiting.error());
  figures["bytes_per_waiting"] = *waiting;

  const auto claim_many = claim_microseconds(**engine, few_tasks / 2);
  if (!claim_many) return std::unexpected(claim_many.error());
  figures["claim_us"] = *claim_many;
  if (auto done = drain(**engine, settings, settings.tasks - few_tasks / 2); !done)
    return std::unexpected(done.error());
  const auto completed = bytes_since(before->memory_bytes);
  if (!completed) return std::unexpected(completed.error());
  figures["bytes_per_completed"] = *completed;
  return figures;
}

}  // namespace

Result<Figures> memory(const Settings& settings) {
  if (valkey::is_valkey_url(settings.store)) return memory_of_valkey(settings);
  const auto url = store::parse_embedded(settings.store);
  if (!url) return std::unexpected(url.error());
  auto engine = ff::open(settings.store, settings.open);
  if (!engine) return std::unexpected(engine.error());
  Figures figures;
  const double tasks = settings.tasks;

  if (auto done = submit_all(**engine, settings, few_tasks); !done)
    return std::unexpected(done.error());
  const auto claim_few = claim_microseconds(**engine, few_tasks / 2);
  if (!claim_few) return std::unexpected(claim_few.error());

  const auto resident_before = resident_bytes();
  if (auto done = submit_all(**engine, settings, settings.tasks); !done)
    return std::unexpected(done.error());
  const auto resident_waiting = resident_bytes();
  figures["bytes_per_waiting"] = (resident_waiting - resident_before) / tasks;
  figures["resident_mib"] = resident_waiting / (1 << 20);
  figures["disk_bytes_per_waiting"] = disk_bytes(url->directory) / tasks;

  const auto claim_many = claim_microseconds(**engine, few_tasks / 2);
  if (!claim_many) return std::unexpected(claim_many.error());
  figures["claim_us_with_1000"] = *claim_few;
  figures["claim_us"] = *claim_many;

  double restart_seconds = 0;
  engine = reopen(std::move(*engine), settings.store, restart_seconds);
  if (!engine) return std::unexpected(engine.error());
  figures["restart_s"] = restart_seconds;
  figures["resident_mib_after_restart"] = resident_bytes() / (1 << 20);

  if (auto done = drain(**engine, settings, settings.tasks); !done)
    return std::unexpected(done.error());
  figures["bytes_per_completed"] = (resident_bytes() - resident_before) / tasks;
  figures["disk_bytes_per_completed"] = disk_bytes(url->directory) / tasks;
  return figures;
}

}  // namespace ff::cli::bench
