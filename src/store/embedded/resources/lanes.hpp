// The paused lanes of the embedded store.
#pragma once

#include "store/embedded/resources/turn.hpp"
#include "store/paused_lanes_copy.hpp"

namespace ff::embedded {

// execute() is not thread-safe; paused() may be called from any thread.
class Lanes {
 public:
  // `on_change` hears when paused() returns another set.
  explicit Lanes(std::function<void()> on_change) : on_change_(std::move(on_change)) {}

  Result<void> restore(const Database& database);

  Result<LanePauseReply> execute(const core::HoldLane& command, Turn& turn);
  Result<LanePauseReply> execute(const ResumeLane& command, Turn& turn);
  Result<std::size_t> execute(const core::RefreshPausedLanes& query, Turn& turn);

  store::PausedLanesCopy::Set paused() const { return paused_.get(); }

 private:
  void show(core::PausedLanes::All all);

  std::function<void()> on_change_;
  store::PausedLanesCopy paused_;
  BatchNumber durable_in_ = 0;  // a reply about it waits until that batch is synced
};

}  // namespace ff::embedded
