#include "sdk/worker/reporting/retry_pause.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff {
namespace {

using namespace std::chrono_literals;

// The same byte for ever.
class FixedRandom final : public Random {
 public:
  explicit FixedRandom(std::uint8_t byte) : byte_(byte) {}
  void fill(std::span<std::uint8_t> bytes) override { std::ranges::fill(bytes, byte_); }

 private:
  std::uint8_t byte_;
};

std::vector<Millis> pauses(std::uint8_t byte) {
  FixedRandom random(byte);
  RetryPause pause(random, 100ms, 700ms);
  std::vector<Millis> all;
  for (int i = 0; i < 5; ++i) all.push_back(pause.next());
  pause.reset();
  all.push_back(pause.next());
  return all;
}

TEST(RetryPause, GrowsToItsLimitAndStartsAgain) {
  EXPECT_THAT(pauses(0xff), ::testing::ElementsAre(100ms, 200ms, 400ms, 700ms, 700ms, 100ms));
}

TEST(RetryPause, IsSpreadOverItsSecondHalf) {
  EXPECT_THAT(pauses(0x00), ::testing::ElementsAre(50ms, 100ms, 200ms, 350ms, 350ms, 50ms));
}

}  // namespace
}  // namespace ff
