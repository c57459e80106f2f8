// Steps of a random sequence: the operations of the property test, and steps in time that meet
// timers exactly.
#pragma once

#include "tests/property/operation.hpp"

namespace ff::differential {

// Time goes to just before, at or after the moment at which something comes due next.
struct ToNextTimer {
  int offset_ms = 0;
  bool scan = false;
};

enum class WaitVerb : std::uint8_t {
  suspend,
  create_waitpoint,
  close_waitpoint,
  send_signal,
  resume,
  put_step,
};

// An operation on what an execution waits for. The numbers choose among conditions, keys, names and times.
struct WaitStep {
  WaitVerb verb{};
  property::Target target;
  property::FenceChoice fence{};
  unsigned what = 0;
  unsigned keys = 0;
  unsigned time = 0;
  bool repeat = false;  // the call is made twice, as if its reply was lost
};

using Step = std::variant<property::Operation, ToNextTimer, WaitStep>;

std::string show(const Step& step);
void showValue(const Step& step, std::ostream& out);

// The sequence of a seed.
std::vector<Step> steps(std::uint64_t seed);
// The same, where many executions suspend.
std::vector<Step> steps_with_waits(std::uint64_t seed);

}  // namespace ff::differential
