#include "sdk/worker/reporting/retry_pause.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace ff {

Millis RetryPause::next() {
  std::array<std::uint8_t, 4> bytes{};
  random_.fill(bytes);
  const double fraction = std::bit_cast<std::uint32_t>(bytes) / 4294967295.0;
  const auto whole = std::exchange(next_, std::min(next_ * 2, max_));
  return std::chrono::ceil<Millis>(whole * (0.5 + 0.5 * fraction));
}

}  // namespace ff
