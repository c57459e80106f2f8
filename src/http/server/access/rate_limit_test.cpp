#include "http/server/access/rate_limit.hpp"

#include <gtest/gtest.h>

namespace ff::http {
namespace {

using std::chrono::milliseconds;

const RateLimit::TimePoint start{std::chrono::hours{1}};

auto address(const char* text) { return boost::asio::ip::make_address(text); }

// How many of 100 requests at this moment are let in.
int taken(RateLimit& limit, const char* from, milliseconds at) {
  int count = 0;
  for (int i = 0; i < 100; ++i)
    if (limit.take(address(from), start + at)) ++count;
  return count;
}

TEST(RateLimit, AllowsABurstAndThenAsManyAsItsRate) {
  RateLimit limit({.per_second = 10, .burst = 5});
  EXPECT_EQ(taken(limit, "10.0.0.1", milliseconds{0}), 5);
  EXPECT_EQ(taken(limit, "10.0.0.1", milliseconds{99}), 0);
  EXPECT_EQ(taken(limit, "10.0.0.1", milliseconds{100}), 1);
  EXPECT_EQ(taken(limit, "10.0.0.1", milliseconds{400}), 3);
  EXPECT_EQ(taken(limit, "10.0.0.1", milliseconds{60'000}), 5);
}

TEST(RateLimit, CountsEachAddressAndEachIpv6NetworkOnItsOwn) {
  RateLimit limit({.per_second = 1, .burst = 5});
  EXPECT_EQ(taken(limit, "2001:db8:1:1::1", milliseconds{0}), 5);
  EXPECT_EQ(taken(limit, "2001:db8:1:1:ffff::2", milliseconds{0}), 0);
  EXPECT_EQ(taken(limit, "10.0.0.1", milliseconds{0}), 5);
  EXPECT_EQ(taken(limit, "::ffff:10.0.0.1", milliseconds{0}), 0);
  // Two addresses may share a bucket, though hardly ever: eight do not.
  int others = 0;
  for (const char* other : {"10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "2001:db8:1:2::1",
                            "2001:db8:1:3::1", "2001:db8:1:4::1", "2001:db8:1:5::1"})
    others += taken(limit, other, milliseconds{0});
  EXPECT_GT(others, 20);
}

TEST(RateLimit, WithoutABurstNothingIsLetIn) {
  RateLimit limit({.per_second = 10, .burst = 0});
  EXPECT_EQ(taken(limit, "10.0.0.1", milliseconds{1000}), 0);
}

}  // namespace
}  // namespace ff::http
