#include <flowfabric/limits.hpp>
#include <flowfabric/open.hpp>

#include <filesystem>
#include <fstream>

#include <malloc.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/try.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/valkey_meter.hpp"
#include "sdk/client/blocking.hpp"
#include "store/open_store.hpp"
#include "store/valkey/boot/url.hpp"

namespace ff::cli::bench {
namespace {

using Steady = std::chrono::steady_clock;

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
  Steady::duration total{};
  for (std::uint32_t i = 0; i < claims; ++i) {
    const auto start = Steady::now();
    const auto claimed = run_blocking(
        engine, Claim{.worker = *WorkerId::parse("bench"), .lanes = {*LaneId::parse("bench")}});
    total += Steady::now() - start;
    FF_TRY(claimed);
    for (const auto& each : claimed->executions)
      FF_TRY(run_blocking(engine, Complete{.id = each.id, .fence = each.fence}));
  }
  return std::chrono::duration<double, std::micro>(total).count() / claims;
}

Result<Figures> memory_of_valkey(const Settings& settings) {
  const auto engine = ff::open(settings.store, settings.open);
  FF_TRY(engine);
  const auto meter = ValkeyMeter::open(settings.store);
  FF_TRY(meter);
  Figures figures;

  FF_TRY(submit_all(**engine, settings, few_tasks));
  const auto claim_few = claim_microseconds(**engine, few_tasks / 2);
  FF_TRY(claim_few);
  figures["claim_us_with_1000"] = *claim_few;
  FF_TRY(drain(**engine, settings, few_tasks / 2));

  const auto bytes_since = [&](double before) -> Result<double> {
    const auto now = (*meter)->read();
    FF_TRY(now);
    return (now->memory_bytes - before) / settings.tasks;
  };
  const auto before = (*meter)->read();
  FF_TRY(before);
  FF_TRY(submit_all(**engine, settings, settings.tasks));
  const auto waiting = bytes_since(before->memory_bytes);
  FF_TRY(waiting);
  figures["bytes_per_waiting"] = *waiting;

  const auto claim_many = claim_microseconds(**engine, few_tasks / 2);
  FF_TRY(claim_many);
  figures["claim_us"] = *claim_many;
  FF_TRY(drain(**engine, settings, settings.tasks - few_tasks / 2));
  const auto completed = bytes_since(before->memory_bytes);
  FF_TRY(completed);
  figures["bytes_per_completed"] = *completed;
  return figures;
}

}  // namespace

Result<std::shared_ptr<Engine>> reopen(std::shared_ptr<Engine> engine, const std::string& url,
                                       double& seconds) {
  engine.reset();
  const auto start = std::chrono::steady_clock::now();
  auto opened = ff::open(url);
  if (!opened) return opened;
  // Serving: it answers with what is in the store.
  FF_TRY(run_blocking(**opened, CountExecutions{}));
  seconds = seconds_since(start);
  return opened;
}

Result<Figures> memory(const Settings& settings) {
  if (valkey_store::is_valkey_url(settings.store)) return memory_of_valkey(settings);
  const auto url = store::parse_embedded(settings.store);
  FF_TRY(url);
  auto engine = ff::open(settings.store, settings.open);
  FF_TRY(engine);
  Figures figures;
  const double tasks = settings.tasks;

  FF_TRY(submit_all(**engine, settings, few_tasks));
  const auto claim_few = claim_microseconds(**engine, few_tasks / 2);
  FF_TRY(claim_few);

  const auto resident_before = resident_bytes();
  FF_TRY(submit_all(**engine, settings, settings.tasks));
  const auto resident_waiting = resident_bytes();
  figures["bytes_per_waiting"] = (resident_waiting - resident_before) / tasks;
  figures["resident_mib"] = resident_waiting / (1 << 20);
  figures["disk_bytes_per_waiting"] = disk_bytes(url->directory) / tasks;

  const auto claim_many = claim_microseconds(**engine, few_tasks / 2);
  FF_TRY(claim_many);
  figures["claim_us_with_1000"] = *claim_few;
  figures["claim_us"] = *claim_many;

  double restart_seconds = 0;
  engine = reopen(std::move(*engine), settings.store, restart_seconds);
  FF_TRY(engine);
  figures["restart_s"] = restart_seconds;
  figures["resident_mib_after_restart"] = resident_bytes() / (1 << 20);

  FF_TRY(drain(**engine, settings, settings.tasks));
  figures["bytes_per_completed"] = (resident_bytes() - resident_before) / tasks;
  figures["disk_bytes_per_completed"] = disk_bytes(url->directory) / tasks;
  return figures;
}

}  // namespace ff::cli::bench
