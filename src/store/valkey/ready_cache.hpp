// The executions that wait for a worker, as far as this process knows them. Valkey's own indexes are the
// truth: whoever is chosen here is claimed there, or turns out to be gone.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "store/ready_queue.hpp"

namespace ff::valkey {

// Knows the best of each lane in each partition. Where there are more than that, the rest is asked for
// when those are used up, so a long backlog costs neither memory nor time. Thread-safe.
class ReadyCache {
 public:
  explicit ReadyCache(std::size_t share_max = 1'024) : share_max_(share_max) {}

  // It waits for a worker.
  void put(const store::Ready& ready);
  // It does not, or not any more.
  void erase(const ExecutionId& id);

  // While Valkey is asked what waits: what is heard meanwhile is newer than the answer.
  class Look {
   public:
    explicit Look(ReadyCache& cache);
    ~Look();
    Look(const Look&) = delete;
    Look& operator=(const Look&) = delete;

    // Found waiting. True if that is news.
    bool put(const store::Ready& ready);

   private:
    ReadyCache& cache_;
  };

  // As ReadyQueue::take.
  std::vector<store::Candidate> take(const store::TakeReady& query);
  std::vector<store::ReadyGroup> peek(const store::PeekReady& query) const {
    return queue_.peek(query);
  }
  // Offers again what was taken.
  void put_back(const ExecutionId& id);

  // Partitions which have more of these lanes than is known here, and nothing known for this worker;
  // with how many to ask for.
  struct Dry {
    PartitionIndex partition;
    std::size_t ask_for;
  };
  std::vector<Dry> dry(const store::TakeReady& query);

  // A partition gave only so many of this lane: the worst of them has this score.
  void note_more(PartitionIndex partition, const Namespace& ns, const LaneId& lane,
                 std::int64_t worst_score);
  void note_all(PartitionIndex partition, const Namespace& ns, const LaneId& lane);

  static constexpr std::size_t ask_for_min = 64;

 private:
  using Place = std::pair<std::int64_t, ExecutionId>;  // score first
  using ShareKey = std::tuple<Namespace, LaneId, PartitionIndex>;
  struct Share {  // of one lane in one partition
    std::set<Place> places;
    bool more = false;  // there are others, worse than `worst`
    std::int64_t worst = 0;
    std::size_t asked_for = ask_for_min / 2;
  };

  static std::int64_t score_of(const store::Ready& ready);
  static ShareKey share_of(const store::Ready& ready);
  void remember(const store::Ready& ready);
  void forget(const ExecutionId& id);
  void shorten(Share& share);

  std::size_t share_max_;
  mutable std::mutex mutex_;
  store::ReadyQueue queue_;
  std::unordered_map<ExecutionId, store::Ready> known_;
  std::map<ShareKey, Share> shares_;
  std::size_t looks_ = 0;
  std::unordered_set<ExecutionId> heard_meanwhile_;
};

}  // namespace ff::valkey
