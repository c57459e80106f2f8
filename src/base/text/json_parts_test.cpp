#include "base/text/json_parts.hpp"

#include <string>

#include <gtest/gtest.h>

namespace ff {
namespace {

// Each in angle brackets.
std::string parts(std::string_view text) {
  JsonParts all(text);
  std::string joined;
  for (auto part = all.next(); !part.empty(); part = all.next())
    joined += "<" + std::string(part) + ">";
  return joined;
}

TEST(JsonParts, AreTheValuesAsTheyAreWritten) {
  EXPECT_EQ(parts(R"([1,-2.50 , true,null,"a,b"])"), R"(<1><-2.50><true><null><"a,b">)");
  EXPECT_EQ(parts(R"( { "a" : 1 , "b":[ {}, [] ],"c":{"d":"e"} } )"),
            R"(<1><[ {}, [] ]><{"d":"e"}>)");
}

TEST(JsonParts, BracketsAndQuotesInTextsAreText) {
  EXPECT_EQ(parts(R"({"}\"{":"]\\","b":["\"]",{"}":"{"}]})"), R"(<"]\\"><["\"]",{"}":"{"}]>)");
}

TEST(JsonParts, OfNothingAreNone) {
  for (const char* nothing : {"", " ", "{}", "[]", "[ ]", "5"}) EXPECT_EQ(parts(nothing), "");
}

}  // namespace
}  // namespace ff
