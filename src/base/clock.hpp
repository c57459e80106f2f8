// The two clocks: the machine's, and one that a test moves by hand.
#pragma once

#include <flowfabric/time.hpp>

#include <atomic>

namespace ff {

class SystemClock final : public Clock {
 public:
  TimePoint now() const override {
    return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
  }
};

class ManualClock final : public Clock {
 public:
  explicit ManualClock(TimePoint start = TimePoint{Millis{1'800'000'000'000}})
      : now_ms_(start.time_since_epoch().count()) {}

  TimePoint now() const override { return TimePoint{Millis{now_ms_.load()}}; }
  void advance(Millis by) { now_ms_ += by.count(); }

 private:
  std::atomic<Millis::rep> now_ms_;
};

}  // namespace ff
