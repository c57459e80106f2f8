// Cache of the timers that come due soon. Valkey's own indexes are authoritative; the cache
// avoids reading all of them all the time.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

#include "store/store.hpp"
#include "store/valkey/caches/ready_cache.hpp"

namespace ff::valkey_store {

// Thread-safe.
class TimerMirror {
 public:
  // The next timer of an execution, or that it has none. A reply or message that is older than what is known
  // changes nothing; one without a version counts as newer.
  void put(const ExecutionId& id, const std::optional<core::Timer>& timer,
           std::optional<Version> version = {});

  // Nothing of these partitions is due until another look finds it.
  void forget(const std::set<PartitionIndex>& partitions);
  // Valkey may have lost changes: what is heard from here on is newer, whatever its version.
  void forget_versions();

  // One of its timers, if none that comes earlier is known.
  void put_earliest(const ExecutionId& id, const core::Timer& timer);

  store::DueReply due(const store::TimersDue& query, TimePoint now) const;

  // The first timer of each kind.
  std::vector<core::Timer> first_of_each() const;

  // Timers beyond what was looked up last are not kept: a million far delays cost no memory.
  TimePoint known_until() const;
  void looked_up(TimePoint until);

 private:
  struct Known {
    core::Timer timer;
    Version version = 0;
  };

  void insert(const ExecutionId& id, Known known);
  void erase(const ExecutionId& id);

  mutable std::mutex mutex_;
  TimePoint known_until_{};
  std::map<core::TimerKind, std::set<std::pair<TimePoint, ExecutionId>>> timers_;
  std::unordered_map<ExecutionId, Known> by_id_;
};

}  // namespace ff::valkey_store
