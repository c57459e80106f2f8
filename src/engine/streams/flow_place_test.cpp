#include "engine/streams/flow_place.hpp"

#include <gtest/gtest.h>

namespace ff {
namespace {

TEST(FlowPlace, BringsBackWhatItWasWrittenFrom) {
  FlowPlace place{.since = 1'700'000'000'000};
  EXPECT_EQ(place.str(), "1700000000000");
  place.next = {{{3, 0}, 17}, {{12, 1}, 4}};
  EXPECT_EQ(place.str(), "1700000000000,3.0.17,12.1.4");
  EXPECT_EQ(FlowPlace::parse(place.str()), place);
  place.pass =
      FlowPlace::Pass{.until = 1'700'000'001'000, .at = {.node = 5, .stream = 2}, .next = 9};
  EXPECT_EQ(place.str(), "1700000000000,3.0.17,12.1.4/1700000001000.5.2.9");
  EXPECT_EQ(FlowPlace::parse(place.str()), place);
  EXPECT_EQ(FlowPlace::parse(""), FlowPlace{});
}

TEST(FlowPlace, RefusesEverythingElse) {
  for (const char* text : {"a", "-1", "1,", "1,2", "1,2.3", "1,2.3.", "1/", "1/2", "1/2.3.4", "1 ",
                           "1,2.3.4x", "1,-2.3.4", "1/2.3.4.5/", "99999999999999999999", ","})
    EXPECT_FALSE(FlowPlace::parse(text)) << text;
  EXPECT_FALSE(FlowPlace::parse(std::string(10'000, '1')));
}

}  // namespace
}  // namespace ff
