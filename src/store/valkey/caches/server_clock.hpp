// Valkey's clock, as seen from here.
#pragma once

#include <flowfabric/time.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

namespace ff::valkey_store {

// The server's time when it was last asked, plus what has passed here since; never ahead of the server's
// own, so that what is due here is due there. Tests set another clock in its place. Lock-free.
class ServerClock {
 public:
  explicit ServerClock(std::shared_ptr<const Clock> simulated = {})
      : simulated_(std::move(simulated)) {}

  bool is_simulated() const { return simulated_ != nullptr; }
  void set(TimePoint server_now) { lead_ = (server_now - steady()).count() - rounding; }
  TimePoint now() const { return simulated_ ? simulated_->now() : steady() + Millis{lead_.load()}; }

  // The time that a function is given: empty, unless it is to believe another than its server's.
  std::string argument() const {
    return simulated_ ? std::to_string(simulated_->now().time_since_epoch().count())
                      : std::string{};
  }

 private:
  static TimePoint steady() {
    return TimePoint{
        std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now().time_since_epoch())};
  }
  static constexpr Millis::rep rounding = 1;  // both clocks are read in whole milliseconds
  std::shared_ptr<const Clock> simulated_;
  std::atomic<Millis::rep> lead_ = 0;
};

}  // namespace ff::valkey_store
