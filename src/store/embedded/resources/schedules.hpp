// The schedules of the embedded store: names, versions and due times in memory, the records on disk.
#pragma once

#include <map>
#include <set>

#include "core/schedules/commands.hpp"
#include "store/embedded/resources/turn.hpp"

namespace ff::embedded {

// Not thread-safe.
class Schedules {
 public:
  Result<void> restore(const Database& database);

  Result<std::optional<core::StoredSchedule>> execute(const core::ReadSchedule& query, Turn& turn);
  Result<bool> execute(const core::SwapSchedule& command, Turn& turn);
  Result<core::SchedulesDueReply> execute(const core::SchedulesDue& query, Turn& turn);
  Result<std::vector<ScheduleName>> execute(const core::FindSchedules& query, Turn& turn);
  Result<std::uint64_t> execute(const core::CountSchedules& query, Turn& turn);

 private:
  struct Entry {
    Uuid version;
    std::optional<TimePoint> due = {};
    BatchNumber durable_in = 0;  // a reply about it waits until that batch is synced
  };
  using ByName = std::map<ScheduleName, Entry>;

  Entry* find(const core::ScheduleKey& key, Turn& turn);
  void forget_due(const core::ScheduleKey& key, const Entry& entry);

  std::map<Namespace, ByName> schedules_;
  std::set<std::pair<TimePoint, core::ScheduleKey>> due_;
  BatchNumber erased_in_ = 0;  // the newest batch that took one away
};

}  // namespace ff::embedded
