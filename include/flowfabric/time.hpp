// Time as the engine knows it: milliseconds since the Unix epoch, read from an injected clock.
#pragma once

#include <chrono>

namespace ff {

using Millis = std::chrono::milliseconds;
using TimePoint = std::chrono::sys_time<Millis>;

// A source of the current time. now() may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
};

}  // namespace ff
