// Executions that wait for a worker, in the order in which they are to be claimed.
#pragma once

#include <mutex>
#include <unordered_map>

#include "store/ready_lane.hpp"

namespace ff::store {

// One place knows the best of all partitions, and what one worker takes no other is offered. What a claim looks at does not
// grow with what waits, nor with the groups that budgets and quotas hold back. Thread-safe.
class ReadyQueue {
 public:
  // Both may be repeated.
  void add(const Ready& ready);
  void remove(const Ready& ready);

  // The best first; every so often (limits::oldest_first_every) the oldest. What is taken stays known until it is removed or
  // added again.
  std::vector<Candidate> take(const TakeReady& query);
  // Whether `take` would find anything.
  bool offers(const TakeReady& query) const;
  // Whether the oldest is due within the next `query.max` that such a claim takes.
  bool oldest_is_due(const TakeReady& query) const;
  std::vector<ReadyGroup> peek(const PeekReady& query) const;

  // In its place, or taken.
  bool has(const Ready& ready) const;
  std::size_t size() const;

  // How many heads of groups and orders claims have looked at: what they cost.
  std::uint64_t looks() const;

 private:
  using LaneKey = std::pair<Namespace, LaneId>;
  struct Found {
    ReadyLane* lane = nullptr;
    ReadyLane::Spot spot;
  };

  std::vector<ReadyLane*> lanes_of(const TakeReady& query) const;
  static std::optional<Found> best_of(const std::vector<ReadyLane*>& lanes, const TakeReady& query);
  static std::optional<Found> oldest_of(const std::vector<ReadyLane*>& lanes,
                                        const TakeReady& query);
  void erase_empty(const TakeReady& query);

  mutable std::mutex mutex_;
  mutable std::map<LaneKey, ReadyLane> lanes_;             // looking at them may put them in order
  std::unordered_map<ExecutionId, FairTurns::Tag> taken_;  // with what their keys paid
  // How many of the best were taken since the oldest. Claims for the same lanes, capabilities and kinds count together, and
  // no others: what others take must not use up their turns.
  std::unordered_map<std::uint64_t, std::uint32_t> since_oldest_;
  std::size_t size_ = 0;
};

}  // namespace ff::store
