// Lane operations of the engine, beside those that users have (PauseLane, ResumeLane, …).
#pragma once

#include <flowfabric/operations.hpp>

namespace ff::core {

// As PauseLane, with the caller. Fails with resource_exhausted if too many lanes are paused.
struct HoldLane {
  using Reply = LanePauseReply;
  static constexpr OperationRow row{.owner = Owner::lane, .writes = Writes::durable};
  LaneId lane;
  Namespace ns;
  std::string reason;
  std::string by;
};

// Brings the store's copy of the paused lanes (Store::paused_lanes) up to date. Returns how many there are.
struct RefreshPausedLanes {
  using Reply = std::size_t;
  static constexpr OperationRow row{.owner = Owner::lane};
};

}  // namespace ff::core
