#include "cli/input/duration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::cli {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint now{Millis{1'800'000'000'000}};  // 2027-01-15T08:00:00Z

TEST(Duration, HasAUnit) {
  EXPECT_EQ(parse_duration("500ms"), 500ms);
  EXPECT_EQ(parse_duration("30s"), 30s);
  EXPECT_EQ(parse_duration("5m"), 5min);
  EXPECT_EQ(parse_duration("2h"), 2h);
  EXPECT_EQ(parse_duration("1d"), 24h);
  EXPECT_EQ(parse_duration("0"), 0ms);
}

TEST(Duration, IsRefusedWhenItIsNotOne) {
  for (const char* text : {"", "s", "5", "-5s", "5 s", "1.5s", "5w", "5sec",
                           "99999999999999999999s", "9223372036854775807d", "4000d"})
    EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(Duration, MayBeABareNumberWhereItsUnitIsKnown) {
  EXPECT_EQ(parse_duration("1500", 1ms), 1500ms);
  EXPECT_EQ(parse_duration("45", 1s), 45s);
  EXPECT_EQ(parse_duration("1m", 1ms), 1min);
}

TEST(Duration, IsShownInTheLargestUnitThatFits) {
  EXPECT_EQ(format_duration(0ms), "0s");
  EXPECT_EQ(format_duration(1500ms), "1500ms");
  EXPECT_EQ(format_duration(90s), "90s");
  EXPECT_EQ(format_duration(48h), "2d");
}

TEST(Time, IsADurationFromNow) {
  EXPECT_EQ(parse_time("2h", now, Side::future), now + 2h);
  EXPECT_EQ(parse_time("2h", now, Side::past), now - 2h);
}

TEST(Time, IsRfc3339) {
  for (const char* text : {"2027-01-15T08:00:00Z", "2027-01-15t08:00:00.000z",
                           "2027-01-15 10:30:00+02:30", "2027-01-15T06:00:00-02:00"})
    EXPECT_EQ(parse_time(text, now, Side::future), now) << text;
  EXPECT_EQ(parse_time("2027-01-15T08:00:00.25Z", now, Side::past), now + 250ms);
}

TEST(Time, IsRefusedWhenItIsNotOne) {
  for (const char* text : {"", "tomorrow", "2027-01-15", "2027-02-30T08:00:00Z",
                           "2027-01-15T24:00:00Z", "2027-01-15T08:00:00"})
    EXPECT_FALSE(parse_time(text, now, Side::future)) << text;
}

}  // namespace
}  // namespace ff::cli
