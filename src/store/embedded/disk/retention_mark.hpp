// Where the entries of retention begin: looks for executions to forget start here, not among the tombstones
// of those that are gone.
#pragma once

#include <flowfabric/time.hpp>

#include <algorithm>
#include <mutex>

namespace ff::embedded {

// Thread-safe; one look at a time.
class RetentionMark {
 public:
  // An entry was written. To be called when readers of the database can see it, so that a look that was too
  // early to see it learns of it here.
  void lower(TimePoint entry) {
    const std::lock_guard lock(mutex_);
    mark_ = std::min(mark_, entry);
    lowest_heard_ = std::min(lowest_heard_, entry);
  }

  TimePoint begin_look() {
    const std::lock_guard lock(mutex_);
    lowest_heard_ = TimePoint::max();
    return mark_;
  }
  // `first`: of the entries that the look saw.
  void end_look(TimePoint first) {
    const std::lock_guard lock(mutex_);
    mark_ = std::min(first, lowest_heard_);
  }

 private:
  std::mutex mutex_;
  TimePoint mark_ = TimePoint{};
  TimePoint lowest_heard_ = TimePoint::max();
};

}  // namespace ff::embedded
