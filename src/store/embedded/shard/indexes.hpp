// In-memory indexes by which a shard finds executions: the ready queue, the timers by time, the executions
// that each worker holds, and the number of executions in each state.
#pragma once

#include <flowfabric/ids.hpp>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/execution/execution.hpp"
#include "store/embedded/disk/records.hpp"
#include "store/ready_queue.hpp"
#include "store/store.hpp"

namespace ff::embedded {

// Entry of the ready queue for an execution.
store::Ready ready_of(const core::Execution& execution);
bool is_ready(const core::Execution& execution);

struct LaneCount {
  LaneId lane;
  CountByState counts;
  std::uint64_t reclaimable = 0;
};
// Over the shares of all shards; zeros are left out.
StateCounts sum(const std::vector<std::vector<LaneCount>>& shares);

// Over the shares of all shards.
std::vector<store::WaitingCount> sum_waiting(
    const std::vector<std::vector<store::WaitingCount>>& shares);

// Follows what core says of an execution before and after each change; nobody moves entries by hand.
// Not thread-safe, but for the ready queue that it shares.
class Indexes {
 public:
  using QueueKey = std::pair<Namespace, LaneId>;

  explicit Indexes(store::ReadyQueue& ready) : ready_(ready) {}

  void add(const core::Execution& execution);
  void remove(const core::Execution& execution);

  // How many ended in a lane was counted before.
  void add_ended(const QueueKey& lane, const CountByState& counts);

  store::DueReply due(const store::TimersDue& query, TimePoint now) const;
  std::vector<LaneCount> counts(const std::optional<Namespace>& ns,
                                const std::optional<LaneId>& lane) const;
  CountByState counts_of(const QueueKey& lane) const;

  std::vector<store::WaitingCount> waiting(const std::optional<Namespace>& ns) const;
  std::vector<store::HeldExecution> held(const store::FindHeld& query) const;

  // Puts right what is wrong about the live executions of a partition, which are `executions`.
  // Returns how much that was.
  std::size_t mend(PartitionIndex partition, const std::vector<core::Execution>& executions);

  void add_timer(const core::Timer& timer, const ExecutionId& id);
  void remove_timer(const core::Timer& timer, const ExecutionId& id);

 private:
  using Timers = std::set<std::pair<TimePoint, ExecutionId>>;

  bool has(const core::Execution& execution) const;
  bool has_timer(const core::Execution& execution) const;
  void place(const core::Execution& execution);
  void remove_waiting(const core::Execution& execution);
  std::uint64_t reclaimable_in(const QueueKey& queue) const;
  void add_holder(const core::Execution& execution);
  void remove_holder(const core::Execution& execution);

  store::ReadyQueue& ready_;
  std::map<core::TimerKind, Timers> timers_;
  std::map<PartitionIndex, std::size_t> timer_counts_;
  std::map<QueueKey, std::map<core::Needs, std::uint64_t>> waiting_;  // that need anything
  std::map<QueueKey, CountByState> counts_;
  std::map<QueueKey, std::uint64_t> reclaimable_;
  std::map<std::pair<Namespace, WorkerId>, std::set<ExecutionId>> held_;
};

}  // namespace ff::embedded
