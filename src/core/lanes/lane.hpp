// Which lanes are paused, and the rules of pausing.
#pragma once

#include <map>
#include <utility>

#include "core/lanes/commands.hpp"

namespace ff::core {

// A set of paused lanes, which does not change once it is shared.
class PausedLanes {
 public:
  using Key = std::pair<Namespace, LaneId>;
  using All = std::map<Key, LanePause>;

  PausedLanes() = default;
  explicit PausedLanes(All all) : all_(std::move(all)) {}

  // Null: work of the lane may start.
  const LanePause* find(const Namespace& ns, const LaneId& lane) const;
  bool has(const Namespace& ns, const LaneId& lane) const { return find(ns, lane) != nullptr; }

  // Those of a list that are not paused.
  std::vector<LaneId> open_of(const Namespace& ns, const std::vector<LaneId>& lanes) const;

  const All& all() const { return all_; }
  std::size_t count_of(const Namespace& ns) const;

  bool operator==(const PausedLanes&) const = default;

 private:
  All all_;
};

// The pause of a lane that is perhaps paused already: then it goes on, with the command's reason.
LanePauseReply hold(const LanePause* paused, const HoldLane& command, TimePoint now);

// "lane gpu is paused by ada since 2027-01-31T12:00:00Z: maintenance"
std::string pause_detail(const LaneId& lane, const LanePause& pause);

}  // namespace ff::core
