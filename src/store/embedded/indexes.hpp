// What a shard keeps in memory to find executions: who is ready, and whose lease runs out next.
#pragma once

#include <flowfabric/ids.hpp>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/execution.hpp"
#include "store/store.hpp"

namespace ff::embedded {

// Follows core::placement: every live execution is in exactly one index. Not thread-safe.
class Indexes {
 public:
  void add(const core::Execution& execution);
  void remove(const core::Execution& execution);

  std::vector<store::Candidate> ready_heads(const store::ReadyHeads& query) const;
  std::vector<store::LeaseDue> leases_due(TimePoint now, std::size_t max) const;

 private:
  using Queue = std::set<std::pair<std::int64_t, ExecutionId>>;  // by score

  std::map<std::pair<Namespace, LaneId>, Queue> ready_;
  std::set<store::LeaseDue> leased_;  // by expiry
};

// The first `max` of what several indexes answered, in their order.
std::vector<store::Candidate> first(std::vector<store::Candidate> candidates, std::size_t max);
std::vector<store::LeaseDue> first(std::vector<store::LeaseDue> due, std::size_t max);

}  // namespace ff::embedded
