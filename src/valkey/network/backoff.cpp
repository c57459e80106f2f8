#include "valkey/network/backoff.hpp"

#include <algorithm>
#include <random>

namespace ff::valkey {

Millis pause_after(unsigned tries, Millis min, Millis max) {
  thread_local std::minstd_rand random{std::random_device{}()};
  const auto whole = std::min(min * (1 << std::min(tries, 16U)), max);
  std::uniform_real_distribution<double> part(0.5, 1.0);
  return std::chrono::ceil<Millis>(whole * part(random));
}

}  // namespace ff::valkey
