// The time of a store.
#pragma once

#include <flowfabric/time.hpp>

#include <algorithm>
#include <memory>

namespace ff::embedded {

// The clock that the store was opened with. If times in the store are ahead of that clock, which was set
// back while the store was closed, time goes on from the stored ones at the clock's pace.
class StoreClock final : public Clock {
 public:
  explicit StoreClock(std::shared_ptr<const Clock> clock) : clock_(std::move(clock)) {}

  TimePoint now() const override { return clock_->now() + lead_; }

  // Before other threads use it. Returns how far the stored time is ahead.
  Millis begin_at(TimePoint stored) {
    lead_ = std::max(stored - clock_->now(), Millis{0});
    return lead_;
  }

 private:
  std::shared_ptr<const Clock> clock_;
  Millis lead_{0};
};

}  // namespace ff::embedded
