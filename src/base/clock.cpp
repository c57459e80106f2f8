#include "base/clock.hpp"

#include <limits>

namespace ff {

SystemClock::SystemClock()
    : SystemClock({.wall = [] { return std::chrono::system_clock::now(); },
                   .steady = [] { return std::chrono::steady_clock::now(); }}) {}

SystemClock::SystemClock(Sources sources)
    : sources_(std::move(sources)), lead_(std::numeric_limits<Nanos::rep>::min()) {}

TimePoint SystemClock::now() const {
  // The wall clock first: a pause between the two reads then makes the lead look too small, which
  // changes nothing. The other way round it would be kept, and time would run ahead for good.
  const Nanos wall = sources_.wall().time_since_epoch();
  const Nanos steady = sources_.steady().time_since_epoch();
  const auto lead_seen = (wall - steady).count();

  auto lead = lead_.load();
  while (lead < lead_seen)
    if (lead_.compare_exchange_weak(lead, lead_seen)) lead = lead_seen;
  return std::chrono::floor<Millis>(TimePoint::clock::time_point{steady + Nanos{lead}});
}

}  // namespace ff
