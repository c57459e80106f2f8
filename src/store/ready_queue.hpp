// Executions that wait for a worker, in the order in which they are to be claimed.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <unordered_set>

#include "store/store.hpp"

namespace ff::store {

// A ready execution, with the attributes by which it is chosen.
struct Ready {
  ExecutionId id;
  Namespace ns;
  LaneId lane;
  Kind kind = {};
  std::int32_t priority = 0;
  TimePoint queued_at;
  core::Needs needs = {};
  bool operator==(const Ready&) const = default;
};

// One place knows the best of all partitions, and what one worker takes no other is offered. Executions
// of one kind with equal needs stand together, so those that a worker cannot run, or that a budget holds
// back, are passed over without a look. Thread-safe.
class ReadyQueue {
 public:
  // Both may be repeated.
  void add(const Ready& ready);
  void remove(const Ready& ready);

  // The best first; every so often (limits::oldest_first_every) the oldest. What is taken stays known
  // until it is removed or added again.
  std::vector<Candidate> take(const TakeReady& query);
  // Whether `take` would find anything.
  bool offers(const TakeReady& query) const;
  std::vector<ReadyGroup> peek(const PeekReady& query) const;

  // In its place, or taken.
  bool has(const Ready& ready) const;
  std::size_t size() const;

 private:
  using Age = std::pair<TimePoint, ExecutionId>;
  using ByPriority = std::map<std::int32_t, std::set<Age>, std::greater<>>;
  using QueueKey = std::pair<Namespace, LaneId>;
  struct GroupKey {
    Kind kind;
    core::Needs needs;
    auto operator<=>(const GroupKey&) const = default;
  };
  struct Group {  // executions of one lane and kind with equal needs
    ByPriority levels;
    // Of those who could take from here, how many took the best, since one of them took the oldest.
    // Each group counts for itself: what others take must not use up its turns.
    std::uint32_t since_oldest = 0;
  };
  using Queue = std::map<GroupKey, Group>;
  using Open = Queue::value_type;
  struct Spot {  // a head in one of the groups
    Open* open;
    ByPriority::iterator level;
  };

  template <class Queues, class Visit>
  static void visit_open(Queues& queues, const TakeReady& query, Visit visit);
  std::vector<Open*> open_to(const TakeReady& query);
  static std::optional<Spot> best_of(const std::vector<Open*>& open);
  static std::optional<Spot> oldest_of(const std::vector<Open*>& open);
  static ExecutionId take_head(const Spot& spot);
  void drop_empty(const TakeReady& query);

  mutable std::mutex mutex_;
  std::map<QueueKey, Queue> queues_;
  std::unordered_set<ExecutionId> taken_;
  std::size_t size_ = 0;
};

}  // namespace ff::store
