// The policy of an execution: retries, time limits, capabilities, budgets, quota, fairness and retention.
#pragma once

#include <flowfabric/capabilities.hpp>
#include <flowfabric/ids.hpp>
#include <flowfabric/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ff {

struct FixedBackoff {
  Millis delay{1000};
  bool operator==(const FixedBackoff&) const = default;
};

// initial_delay × multiplier^n before retry n (from 0), at most max_delay.
struct ExponentialBackoff {
  Millis initial_delay{1000};
  Millis max_delay{60'000};
  double multiplier = 2.0;
  bool jitter =
      false;  // spread each delay over its second half, so that retries do not come in step
  bool operator==(const ExponentialBackoff&) const = default;
};

using Backoff = std::variant<ExponentialBackoff, FixedBackoff>;

struct RetryPolicy {
  std::uint32_t max_retries = 3;
  Backoff backoff = ExponentialBackoff{};
  // Only failures of these categories are retried; empty: all but `permanent` and `cancelled`.
  std::vector<std::string> retryable_categories = {};
  bool operator==(const RetryPolicy&) const = default;
};

struct Policy {
  std::optional<RetryPolicy> retry = {};          // absent: a failure is final
  std::optional<Millis> attempt_timeout = {};     // of one attempt; running out counts as a failure
  std::optional<Millis> execution_deadline = {};  // from submit to the end, all attempts together
  std::uint32_t max_reclaim_count = 100;          // how often a vanished worker is replaced
  std::uint32_t max_replay_count = 10;
  std::uint32_t max_signals = 10'000;  // that it accepts before its end; see limits::signals_max
  CapabilitySet required_capabilities = {};      // a worker must have all of them
  std::vector<BudgetId> budgets = {};            // it starts only while each of them has room
  std::optional<QuotaId> quota = {};             // it starts only when this one lets it
  // Within a lane and a priority, keys share the starts by weight; work without a key shares as one key.
  std::optional<FairnessKey> fairness_key = {};
  std::optional<std::uint32_t> fairness_weight = {};  // of the key; absent: 1. See limits::fairness_weight_max
  // It starts only while fewer executions with such a limit run of its key and lane; takes the place of a quota.
  std::optional<std::uint64_t> max_running = {};
  Millis dedup_window = std::chrono::hours{24};  // how long an idempotency key is remembered
  std::optional<Millis> retention = {};          // after its end; absent: as the engine is set
  bool operator==(const Policy&) const = default;
};

}  // namespace ff
