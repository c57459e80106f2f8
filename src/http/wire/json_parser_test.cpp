#include "http/wire/json_parser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

namespace ff::http {
namespace {

using ::testing::HasSubstr;

// The object as text, or why there is none.
std::string parsed(std::string_view text) {
  const auto object = parse_json_object(text);
  return object ? boost::json::serialize(*object) : object.error().message;
}

TEST(JsonParser, BuildsWhatIsWritten) {
  const auto text = R"({"a":{"b":[1,-2,18446744073709551615,true,false,null,"x\n\u00e9"]},"c":{}})";
  EXPECT_EQ(parsed(text), boost::json::serialize(boost::json::parse(text)));
  EXPECT_EQ(parsed("{} "), "{}");
  EXPECT_THAT(parsed("{} x"), HasSubstr("extra data"));
  EXPECT_THAT(parsed("{"), HasSubstr("incomplete JSON"));
  EXPECT_THAT(parsed(""), HasSubstr("incomplete JSON"));
  EXPECT_THAT(parsed("[]"), HasSubstr("must be a JSON object"));
}

TEST(JsonParser, SaysWhereTheTextIsWrong) {
  EXPECT_EQ(parsed("{\n  \"a\": x}"),
            "the body is not valid JSON: syntax error at line 2, column 8 (offset 9)");
  EXPECT_EQ(parsed("{} x"),
            "the body is not valid JSON: extra data at line 1, column 4 (offset 3)");
  EXPECT_EQ(parse_json_object("{", "graph.json").error().message,
            "graph.json is not valid JSON: incomplete JSON at line 1, column 2 (offset 1)");
}

TEST(JsonParser, NamesAMemberThatIsGivenTwice) {
  EXPECT_THAT(parsed(R"({"kind":"a","x":1,"kind":"b"})"), HasSubstr("'kind' is given twice"));
  EXPECT_THAT(parsed(R"({"a":[{"deep":1,"deep":1}]})"), HasSubstr("'deep' is given twice"));
  EXPECT_THAT(parsed(R"({"a\u0062":1,"ab":1})"), HasSubstr("'ab' is given twice"));
  EXPECT_EQ(parsed(R"({"a":{"b":1},"b":{"a":1}})"), R"({"a":{"b":1},"b":{"a":1}})");
}

TEST(JsonParser, StopsAtTooManyValues) {
  std::string zeros = R"({"executions":[0)";
  for (int i = 0; i < 1'000'000; ++i) zeros += ",0";
  // Not valid any more where it is already refused.
  EXPECT_THAT(parsed(zeros + "]]]"), HasSubstr("more than 1000000 values"));
}

}  // namespace
}  // namespace ff::http
