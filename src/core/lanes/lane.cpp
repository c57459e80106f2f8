#include "core/lanes/lane.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text/rfc3339.hpp"

namespace ff::core {

const LanePause* PausedLanes::find(const Namespace& ns, const LaneId& lane) const {
  if (all_.empty()) return nullptr;  // as nearly always
  const auto found = all_.find({ns, lane});
  return found == all_.end() ? nullptr : &found->second;
}

std::vector<LaneId> PausedLanes::open_of(const Namespace& ns,
                                         const std::vector<LaneId>& lanes) const {
  std::vector<LaneId> open;
  std::ranges::copy_if(lanes, std::back_inserter(open),
                       [&](const LaneId& lane) { return !has(ns, lane); });
  return open;
}

std::size_t PausedLanes::count_of(const Namespace& ns) const {
  std::size_t count = 0;
  for (auto at = all_.lower_bound({ns, LaneId{}}); at != all_.end() && at->first.first == ns; ++at)
    ++count;
  return count;
}

LanePauseReply hold(const LanePause* paused, const HoldLane& command, TimePoint now) {
  return {.pause = LanePause{.by = command.by,
                             .since = paused ? paused->since : now,
                             .reason = command.reason},
          .unchanged = paused != nullptr};
}

std::string pause_detail(const LaneId& lane, const LanePause& pause) {
  return fmt::format("lane {} is paused by {} since {}{}{}", lane.str(), pause.by,
                     to_rfc3339(pause.since), pause.reason.empty() ? "" : ": ", pause.reason);
}

}  // namespace ff::core
