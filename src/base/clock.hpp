// The two clocks: the machine's, and one that a test moves by hand.
#pragma once

#include <flowfabric/time.hpp>

#include <atomic>
#include <chrono>
#include <functional>

namespace ff {

// The wall clock, except that time never runs backwards and never stands still: when the wall clock is
// set back, time goes on from where it was, at the pace of the steady clock; when it is set forward,
// time follows. Each object promises this for itself, not across a restart. Lock-free.
class SystemClock final : public Clock {
 public:
  // Where the times come from; may be called from any thread.
  struct Sources {
    std::function<std::chrono::system_clock::time_point()> wall;
    std::function<std::chrono::steady_clock::time_point()> steady;
  };

  SystemClock();  // the machine's clocks
  explicit SystemClock(Sources sources);

  TimePoint now() const override;

 private:
  using Nanos = std::chrono::nanoseconds;

  Sources sources_;
  // The most that the wall clock was ever ahead of the steady clock. Time is the steady clock plus
  // this, so it is at least the wall clock, and at least what it was plus the steady time since.
  mutable std::atomic<Nanos::rep> lead_;
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
