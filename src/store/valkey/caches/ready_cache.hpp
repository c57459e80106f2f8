// The executions that wait for a worker, as far as this process knows them. Valkey's own indexes are the
// truth: whoever is chosen here is claimed there, or turns out to be gone.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "store/ready_queue.hpp"
#include "store/valkey/fleet/division.hpp"

namespace ff::valkey_store {

// The indexes of a queue that hold claimable executions: those that wait, and those that lost their worker.
enum class ReadyIndex : std::uint8_t { eligible, reclaimable };

// An index of a queue in a partition; a queue is named as in Valkey.
struct IndexName {
  std::string queue;
  PartitionIndex partition = 0;
  ReadyIndex index = ReadyIndex::eligible;
  auto operator<=>(const IndexName&) const = default;
};

// Counts the changes of an execution.
using Version = std::uint64_t;

struct IndexedReady {
  store::Ready ready;
  IndexName index;
  std::int64_t score = 0;  // in the index
  bool operator==(const IndexedReady&) const = default;
};

// An entry of an index. Valkey sorts them so: the best first, of equal scores by id.
using IndexEntry = std::pair<std::int64_t, ExecutionId>;

// Result of reading a part of an index.
struct IndexLook {
  struct Traits {  // what the executions of a group have in common
    Namespace ns;
    core::Needs needs;
    Kind kind;
    auto operator<=>(const Traits&) const = default;
  };

  IndexName index;
  std::optional<IndexEntry> after = {};       // it began behind this one; none: at the start
  std::optional<IndexEntry> stopped_at = {};  // the last one that it saw; none: the end
  std::vector<IndexedReady> found = {};
  // Of groups of which it may have left out some: the last one that it told of.
  std::map<Traits, IndexEntry> cut = {};
  // How many of the queue's namespace have which needs in the whole index, of all kinds; needs that are not
  // mentioned have none. None: unknown.
  std::optional<std::map<core::Needs, std::uint64_t>> totals = {};
};

// Knows the best of each group: executions of one index and kind with equal needs. Where Valkey has more of a
// group, that is asked for when those are used up, by a worker that may have them. So neither a long backlog
// nor work that no worker may start costs memory or time.
//
// Several processes have the same knowledge, and would all take the same best execution. So each takes its own
// share first (Division::rank), and of the shares of others a few at random when it has nothing left. Now and then
// a claim compares the two: work of others that is better, or much older, comes first, since its process may have
// no worker for it. Thread-safe.
class ReadyCache {
 public:
  explicit ReadyCache(std::size_t group_max = 1'024) : group_max_(group_max) {}

  // It waits for a worker. A reply or message that is older than what is known changes nothing; one without
  // a version counts as newer. With `is_held` it is offered after put_back() only. False if it is not kept.
  bool put(const IndexedReady& ready, std::optional<Version> version = {}, bool is_held = false);
  // It does not, or not any more. Likewise.
  void erase(const ExecutionId& id, std::optional<Version> version = {});
  // The version that is known of an execution that waits; 0: none.
  Version version_of(const ExecutionId& id) const;
  // Offers nothing of these partitions until another look finds it.
  void forget(const std::set<PartitionIndex>& partitions);
  // Valkey may have lost changes: what is heard from here on is newer, whatever its version.
  void forget_versions();
  // Whose share is what, from here on.
  void divide(std::shared_ptr<const Division> division);
  // Groups that stand behind much else are looked for anew.
  void forget_extents();

  // While Valkey is asked what waits: changes that are heard of meanwhile are newer than the answer.
  class Look {
   public:
    // `comes_further`: than what is known, so arrivals behind that may escape it, and are kept.
    explicit Look(ReadyCache& cache, bool comes_further = true);
    ~Look();
    Look(const Look&) = delete;
    Look& operator=(const Look&) = delete;

    // Returns what was not known before.
    std::vector<store::Ready> take_in(const IndexLook& look);
    // Of the oldest in an index, whatever their priority: those that stand behind what is known are offered, too.
    void take_in_oldest(const IndexLook& look);

   private:
    ReadyCache& cache_;
    bool comes_further_;
  };

  // As ReadyQueue::take.
  std::vector<store::Candidate> take(const store::TakeReady& query);
  // As ReadyQueue::peek, with groups of which Valkey has more than is known here.
  std::vector<store::ReadyGroup> peek(const store::PeekReady& query) const;
  // Offers again what was taken. False if it is not known any more.
  bool put_back(const ExecutionId& id);

  // Where Valkey may have work for this worker in a group of which nothing is known here: behind `after`.
  struct Gap {
    IndexName index;
    IndexEntry after;
  };
  std::vector<Gap> gaps(const store::TakeReady& query) const;

  // The oldest may stand so far behind more urgent work that it is not known here. When such a claim is to get the oldest:
  // an index of its lanes to ask for them, of those that have more than is known one after the other.
  std::optional<IndexName> index_of_oldest(const store::TakeReady& query);

 private:
  struct GroupKey {
    IndexName index;
    IndexLook::Traits traits;
    auto operator<=>(const GroupKey&) const = default;
  };
  struct Group {
    std::set<IndexEntry> offered;
    // Everything up to here is known, Valkey may have others behind it. None: all are known.
    std::optional<IndexEntry> frontier = {};
  };
  struct UnseenKey {  // groups of an index that are not known, with these needs
    IndexName index;
    Namespace ns;
    core::Needs needs;
    auto operator<=>(const UnseenKey&) const = default;
  };

  static GroupKey key_of(const IndexedReady& ready);
  static UnseenKey unseen_key(const GroupKey& key);
  Group& group_at(const GroupKey& key);
  void set_frontier(Group& group, const std::optional<IndexEntry>& frontier);
  std::optional<IndexEntry> frontier_of(const GroupKey& key) const;
  struct Known {
    IndexedReady indexed;
    Version version = 0;  // 0: from a look, which does not say
    std::size_t share = 0;
    bool is_apart = false;  // it is among the oldest, behind what is known of its group
    bool is_offered = false;
  };
  std::size_t share_of(const ExecutionId& id) const;
  store::ReadyQueue& queue_of(const Known& known) { return queues_[known.share]; }
  std::vector<store::Candidate> take_own(const store::TakeReady& query);
  std::vector<store::Candidate> take_of_others(const store::TakeReady& query);
  std::vector<store::ReadyGroup> peek_shares(const store::PeekReady& query) const;
  void prefer_better(const store::TakeReady& query, std::vector<store::Candidate>& taken);
  bool is_outdated(const ExecutionId& id, std::optional<Version> version) const;
  void remember(const IndexedReady& ready, Version version = 0, bool is_held = false);
  void offer(Known& known);
  void withdraw(Known& known);
  bool is_beyond(const IndexedReady& ready) const;
  void forget(const ExecutionId& id);
  void shorten(Group& group);
  void settle(const GroupKey& key, const Group& group);
  bool came_further(const IndexLook& look) const;
  void note_progress(const IndexLook& look);
  void note_extent(const IndexLook& look);
  void note_unseen(const IndexLook& look,
                   const std::function<bool(const Namespace&, const core::Needs&)>& has_more);
  std::set<GroupKey> concerned(const IndexLook& look) const;

  // A fairness key of a queue, whose turn must come although work of others is known.
  struct KeyName {
    std::string queue;
    FairnessKey key;
    auto operator<=>(const KeyName&) const = default;
  };
  struct KeyCounts {
    std::size_t offered = 0;  // executions
    std::size_t unseen = 0;   // groups
    bool is_hungry() const { return offered == 0 && unseen > 0; }
  };
  template <class Change>
  void count_key(const std::string& queue, const core::Needs& needs, Change change);
  using Unseen = std::map<UnseenKey, IndexEntry>;
  void note_unseen(const UnseenKey& key, const IndexEntry& behind);
  Unseen::iterator erase_unseen(Unseen::iterator unseen);

  std::size_t group_max_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Division> division_ = std::make_shared<Division>();
  // By rank: what this process takes first, second, and so on; the last one has the rest.
  static constexpr std::size_t shares_max = 4;
  std::array<store::ReadyQueue, shares_max> queues_;
  std::uint32_t takes_ = 0;
  std::minstd_rand random_;
  std::unordered_map<ExecutionId, Known> known_;
  std::map<GroupKey, Group> groups_;
  std::size_t cut_ = 0;     // groups with a frontier
  std::set<GroupKey> dry_;  // groups with a frontier, and nothing offered
  // Behind these entries groups may begin that are not known: only needs are counted, not kinds.
  Unseen unseen_;
  std::map<KeyName, KeyCounts> keys_;
  std::set<KeyName> hungry_;  // keys of which work may wait, and none is offered
  std::optional<IndexName> asked_for_oldest_;  // the last one
  // How far looks came in an index, one from where another stopped. None: to its end. Up to there every
  // group is known, and later executions are heard of.
  std::map<IndexName, std::optional<IndexEntry>> looked_at_;
  std::size_t looks_ = 0;
  std::size_t further_looks_ = 0;
  std::unordered_set<ExecutionId> heard_meanwhile_;
};

}  // namespace ff::valkey_store
