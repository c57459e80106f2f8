// The set of paused lanes that a store shows to its engine.
#pragma once

#include <memory>
#include <mutex>

#include "core/lanes/lane.hpp"

namespace ff::store {

// Thread-safe.
class PausedLanesCopy {
 public:
  using Set = std::shared_ptr<const core::PausedLanes>;

  Set get() const {
    const std::lock_guard lock(mutex_);
    return set_;
  }
  // True if it is another set than before.
  bool replace(core::PausedLanes::All all) {
    auto set = std::make_shared<const core::PausedLanes>(std::move(all));
    const std::lock_guard lock(mutex_);
    if (*set == *set_) return false;
    set_ = std::move(set);
    return true;
  }

 private:
  mutable std::mutex mutex_;
  Set set_ = std::make_shared<const core::PausedLanes>();
};

}  // namespace ff::store
