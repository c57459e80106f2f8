// Valkey's clock, as seen from here.
#pragma once

#include <flowfabric/time.hpp>

#include <atomic>
#include <chrono>

namespace ff::valkey {

// The server's time when it was last asked, plus what has passed here since; never ahead of the server's
// own, so that what is due here is due there. Lock-free.
class ServerClock {
 public:
  void set(TimePoint server_now) { lead_ = (server_now - steady()).count() - rounding; }
  TimePoint now() const { return steady() + Millis{lead_.load()}; }

 private:
  static TimePoint steady() {
    return TimePoint{
        std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now().time_since_epoch())};
  }
  static constexpr Millis::rep rounding = 1;  // both clocks are read in whole milliseconds
  std::atomic<Millis::rep> lead_ = 0;
};

}  // namespace ff::valkey
