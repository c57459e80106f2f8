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

using Step = std::variant<property::Operation, ToNextTimer>;

std::string show(const Step& step);
void showValue(const Step& step, std::ostream& out);

// The sequence of a seed.
std::vector<Step> steps(std::uint64_t seed);

}  // namespace ff::differential
