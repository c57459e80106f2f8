#include "base/text/rfc3339.hpp"

#include <gtest/gtest.h>

namespace ff {
namespace {

std::string round_trip(const char* text) {
  const auto time = parse_rfc3339(text);
  return time ? to_rfc3339(*time) : std::string(time.error().name());
}

TEST(Rfc3339, ReadsAndWritesTimes) {
  EXPECT_EQ(round_trip("1970-01-01T00:00:00Z"), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(must(parse_rfc3339("2027-01-31T08:30:05.25Z")).time_since_epoch().count(),
            1801384205250);
  EXPECT_EQ(round_trip("2027-01-31T08:30:05+02:00"), "2027-01-31T06:30:05.000Z");
  EXPECT_EQ(round_trip("2027-01-31 08:30:05-00:30"), "2027-01-31T09:00:05.000Z");
  EXPECT_EQ(round_trip("2028-02-29T00:00:00Z"), "2028-02-29T00:00:00.000Z");
}

TEST(Rfc3339, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "2027", "2027-01-31", "2027-01-31T08:30:05", "2027-02-29T00:00:00Z",
        "2027-13-01T00:00:00Z", "2027-01-31T24:00:00Z", "2027-01-31T08:60:00Z",
        "2027-01-31T08:30:05.Z", "2027-01-31T08:30:05.1234Z", "2027-01-31T08:30:05Zx",
        "-027-01-31T08:30:05Z", "2027-01-31T08:30:05+2:00", "tomorrow"})
    EXPECT_EQ(round_trip(text), "invalid_input") << text;
}

}  // namespace
}  // namespace ff
