#include "engine/engine_metrics.hpp"

#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

#include "base/version.hpp"

namespace ff {
namespace {

using Seconds = std::chrono::duration<double>;

// How an attempt ended, in the words of the metric; none: it did not.
const char* outcome_of(EventType type) {
  switch (type) {
    case EventType::completed: return "ok";
    case EventType::failed: return "error";
    case EventType::expired: return "timeout";
    case EventType::cancelled: return "cancelled";
    case EventType::retry_scheduled: return "retry";
    default: return nullptr;
  }
}

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

auto& gauge(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

auto& counter(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

void add(prometheus::Registry& registry, const std::vector<ScannerStatus>& scanners) {
  auto& cycles = counter(registry, "ff_scanner_cycle_total", "Runs of a scanner");
  auto& changed = counter(registry, "ff_scanner_changed_total", "Executions a scanner changed");
  auto& failures = counter(registry, "ff_scanner_failures_total",
                           "Runs of a scanner that failed, crashed or got stuck");
  auto& alive = gauge(registry, "ff_scanner_alive", "Whether a scanner runs");
  for (const auto& scanner : scanners) {
    const prometheus::Labels label{{"scanner", scanner.name}};
    cycles.Add(label).Increment(static_cast<double>(scanner.cycles));
    changed.Add(label).Increment(static_cast<double>(scanner.changed));
    failures.Add(label).Increment(
        static_cast<double>(scanner.errors + scanner.crashes + scanner.stuck));
    alive.Add(label).Set(scanner.alive() ? 1 : 0);
  }
}

}  // namespace

EngineMetrics::EngineMetrics()
    : events_(counters(registry_, "ff_events_total", "What happened to executions", {"type"})),
      attempt_outcomes_(counters(registry_, "ff_attempt_outcome_total", "How attempts ended",
                                 {"lane", "outcome"})),
      renewals_(counters(registry_, "ff_lease_renewal_total", "Renewals of leases", {"outcome"})),
      claimed_(counters(registry_, "ff_claimed_total", "Executions that workers got", {"lane"})),
      budget_hits_(counters(registry_, "ff_budget_hit_total",
                            "Starts that a hard limit of a budget refused", {"dimension"})),
      quota_hits_(
          counters(registry_, "ff_quota_hit_total", "Starts that a quota refused", {"reason"})),
      claim_seconds_(histograms(registry_, "ff_claim_from_grant_duration_seconds",
                                "A worker's look for work, whether there was some or not",
                                {"lane"})),
      scan_seconds_(histograms(registry_, "ff_scanner_cycle_duration_seconds", "A scanner's run",
                               {"scanner"})) {}

void EngineMetrics::happened(const Event& event) {
  events_.at({std::string(to_string(event.type))}).Increment();
  if (const char* outcome = outcome_of(event.type))
    attempt_outcomes_.at({event.lane.str(), outcome}).Increment();
}

void EngineMetrics::looked_for_work(const std::vector<LaneId>& lanes,
                                    std::chrono::steady_clock::duration took, std::size_t claimed) {
  const std::string lane = lanes.size() == 1 ? lanes.front().str() : "several";
  claim_seconds_.at({lane}, latency_buckets()).Observe(Seconds(took).count());
  if (claimed > 0) claimed_.at({lane}).Increment(static_cast<double>(claimed));
}

void EngineMetrics::renewed(bool ok) { renewals_.at({ok ? "ok" : "error"}).Increment(); }

void EngineMetrics::budget_hit(const std::string& dimension) {
  budget_hits_.at({dimension}).Increment();
}

void EngineMetrics::quota_hit(std::string_view reason) {
  quota_hits_.at({std::string(reason)}).Increment();
}

void EngineMetrics::scanned(std::string_view scanner, std::chrono::steady_clock::duration took) {
  scan_seconds_.at({std::string(scanner)}, latency_buckets()).Observe(Seconds(took).count());
}

std::string EngineMetrics::text(const Now& now) const {
  prometheus::Registry moment;
  add(moment, now.scanners);
  auto& executions = gauge(moment, "ff_executions", "Executions by lane and state");
  auto& reclaimable = gauge(moment, "ff_executions_reclaimable",
                            "Active executions without a worker: the lease expired or was revoked");
  for (const auto& each : now.executions) {
    executions.Add({{"lane", each.lane.str()}, {"state", std::string(to_string(each.state))}})
        .Set(static_cast<double>(each.count));
    if (each.state == ExecutionState::active)
      reclaimable.Add({{"lane", each.lane.str()}}).Set(static_cast<double>(each.reclaimable));
  }
  auto& blocked =
      gauge(moment, "ff_blocked", "Executions that cannot start, by what they wait for");
  for (const auto& [reason, count] : now.blocked)
    blocked.Add({{"reason", std::string(to_string(reason))}}).Set(static_cast<double>(count));
  gauge(moment, "ff_claims_open", "Claims under way, those that wait included")
      .Add({})
      .Set(static_cast<double>(now.claims_open));
  gauge(moment, "ff_claims_waiting", "Claims that wait for work")
      .Add({})
      .Set(static_cast<double>(now.claims_waiting));
  gauge(moment, "ff_paused_lanes", "Lanes whose work does not start, because they are paused")
      .Add({})
      .Set(static_cast<double>(now.paused_lanes));
  gauge(moment, "ff_cancel_backlog_depth",
        "Cancelled flows of other programs whose members are still to be cancelled")
      .Add({})
      .Set(static_cast<double>(now.cancel_backlog));
  gauge(moment, "process_resident_memory_bytes", "Memory in use").Add({}).Set(resident_bytes());
  counter(moment, "process_cpu_seconds_total", "CPU time").Add({}).Increment(cpu_seconds());
  gauge(moment, "ff_build_info", "Which FlowFabric this is").Add({{"version", version}}).Set(1);
  return to_text(registry_) + to_text(moment);
}

}  // namespace ff
