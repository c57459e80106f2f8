// The metrics of an engine.
#pragma once

#include <flowfabric/events.hpp>
#include <flowfabric/operations.hpp>

#include <string>
#include <vector>

#include "base/metrics.hpp"
#include "engine/supervisor.hpp"
#include "store/store.hpp"

namespace ff {

// Thread-safe.
class EngineMetrics {
 public:
  EngineMetrics();

  void happened(const Event& event);
  // A look for work in these lanes, by a claim or for a grant; a claim got so many executions.
  void looked_for_work(const std::vector<LaneId>& lanes, std::chrono::steady_clock::duration took,
                       std::size_t claimed);
  void renewed(bool ok);
  // A candidate was refused: by a budget's limit in this dimension, by a quota's rate or cap.
  void budget_hit(const std::string& dimension);
  void quota_hit(std::string_view reason);
  void scanned(std::string_view scanner, std::chrono::steady_clock::duration took);

  // Everything as Prometheus reads it, with what only counts at this moment.
  struct Now {
    std::vector<StateCount> executions;  // of all namespaces
    std::map<BlockingReason, std::uint64_t> blocked;
    std::vector<ScannerStatus> scanners;
    std::size_t claims_open = 0;
    std::size_t claims_waiting = 0;  // of these, asleep
    std::size_t paused_lanes = 0;
    std::size_t cancel_backlog = 0;
  };
  std::string text(const Now& now) const;

 private:
  using Counters = Members<prometheus::Counter>;
  using Histograms = Members<prometheus::Histogram>;

  prometheus::Registry registry_;
  Counters events_;
  Counters attempt_outcomes_;
  Counters renewals_;
  Counters claimed_;
  Counters budget_hits_;
  Counters quota_hits_;
  Histograms claim_seconds_;
  Histograms scan_seconds_;
};

}  // namespace ff
