#include "base/random.hpp"

#include <set>

#include <gtest/gtest.h>

namespace ff {
namespace {

TEST(MakeUuid, IsVersion7OfTheGivenTime) {
  SystemRandom random;
  const auto uuid = make_uuid(TimePoint{Millis{0x0123456789ab}}, random);
  EXPECT_TRUE(uuid.str().starts_with("01234567-89ab-7")) << uuid.str();
  EXPECT_EQ(uuid.bytes()[8] & 0xc0, 0x80);
}

TEST(MakeUuid, NeverRepeatsWithinAMillisecond) {
  SystemRandom random;
  std::set<Uuid> seen;
  for (int i = 0; i < 10'000; ++i) seen.insert(make_uuid(TimePoint{}, random));
  EXPECT_EQ(seen.size(), 10'000u);
}

}  // namespace
}  // namespace ff
