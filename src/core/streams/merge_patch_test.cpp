#include "core/streams/merge_patch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace ff::core {
namespace {

using ::testing::HasSubstr;

std::string merged(std::string_view document, std::string_view patch) {
  JsonDocument tree(document);
  tree.merge(patch);
  return tree.text();
}

struct Row {
  std::string_view document;
  std::string_view patch;
  std::string_view result;
};

TEST(MergePatch, DoesWhatTheRfcSays) {
  constexpr std::array rows{
      // RFC 7396, appendix A
      Row{R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      Row{R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      Row{R"({"a":"b"})", R"({"a":null})", R"({})"},
      Row{R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      Row{R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      Row{R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      Row{R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      Row{R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      Row{R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      Row{R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      Row{R"({"a":"foo"})", R"(null)", R"(null)"},
      Row{R"({"a":"foo"})", R"("bar")", R"("bar")"},
      Row{R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      Row{R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      Row{R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
      // Empty objects and lists, and every digit
      Row{R"({"a":{"b":1}})", R"({"a":{}})", R"({"a":{"b":1}})"},
      Row{R"({"a":[1,2]})", R"({"a":[]})", R"({"a":[]})"},
      Row{R"({"a":[]})", R"({"b":1})", R"({"a":[],"b":1})"},
      Row{R"({"a":1})", R"({"a":{"x":null}})", R"({"a":{}})"},
      Row{R"({})", R"({"a":["__ff_null__"]})", R"({"a":["__ff_null__"]})"},
      Row{R"({})", R"({"n":123456789012345678})", R"({"n":123456789012345678})"},
      Row{R"({})", R"({"n":3.141592653589793})", R"({"n":3.141592653589793})"},
      Row{R"({})", R"({"i":1E+400,"j":-0.0})", R"({"i":1E+400,"j":-0.0})"},
      Row{R"([1,2])", R"({"a":1})", R"({"a":1})"},
      Row{R"(5)", R"({"a":1})", R"({"a":1})"},
      Row{R"({"a":1})", R"({})", R"({"a":1})"},
      Row{R"([1])", R"({})", R"({})"},
      // Names, nesting, space, several members with one name
      Row{R"({"a":1})", "{\"\\u0061\":2}", R"({"a":2})"},
      Row{"{\"\\ud83d\\ude00\":1}", R"({"😀":null})", R"({})"},
      Row{R"({"a":{"b":{"c":[1, 2 ]}},"z":1})", R"({"a":{"b":{"d":"}"}}})",
          R"({"a":{"b":{"c":[1, 2 ],"d":"}"}},"z":1})"},
      Row{"\n{ \"a\" : { \"b\" : 1 } , \"c\":2}\t", " {\"a\" :{ \"b\": 3 , \"x\":null}}\n",
          R"({"a":{"b":3},"c":2})"},
      Row{R"({"a":1,"b":2,"a":3})", R"({"b":4})", R"({"a":3,"b":4})"},
      Row{R"({"a":1,"b":2})", R"({"a":null,"b":5,"a":7})", R"({"a":7,"b":5})"},
      Row{R"({"q":"\"\\"})", R"({"r":"\\\""})", R"({"q":"\"\\","r":"\\\""})"},
  };
  for (const auto& [document, patch, result] : rows)
    EXPECT_EQ(merged(document, patch), result) << document << " + " << patch;
}

TEST(MergePatch, MergesOneAfterTheOther) {
  JsonDocument document("null");
  for (const auto* patch : {R"({"a":{"b":1}})", R"({"a":{"b":null,"c":2}})", R"({"a":null})",
                            R"({"b":[]})", R"({"a":{"d":{}}})", "{}"})
    document.merge(patch);
  EXPECT_EQ(document.text(), R"({"b":[],"a":{"d":{}}})");
}

TEST(MergePatch, TakesNothingButJson) {
  for (const auto* text :
       {"{}", " [1, -2.5e-3, true, false, null, \"\\u00e9\\n\\ud83d\\ude00\"] ", "0", "\"é\"", "{\"\":0}"})
    EXPECT_TRUE(check_json(text, 3)) << text;
  for (const auto* text :
       {"", " ", "{", "}", "[1,]", "[,]", "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "01", "1.", ".5", "+1",
        "1e", "- 1", "nul", "true false", "\"", "\"\\x\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\udc00\"",
        "\"\\ud800\\u0041\"", "\"a\nb\"", "\"\xff\"", "'a'", "NaN", "[1 2]"})
    EXPECT_FALSE(check_json(text, 3)) << text;
  EXPECT_THAT(check_json("[1,x]", 3).error(), HasSubstr("byte 3"));
  EXPECT_TRUE(check_json("[[[1]]]", 3));
  EXPECT_THAT(check_json("[{\"a\":[[]]}]", 3).error(), HasSubstr("deeper than 3"));
  EXPECT_FALSE(check_json(std::string(1'000'000, '['), 64));
}

TEST(MergePatch, CountsTheMembersOfAllObjects) {
  EXPECT_EQ(check_json("[1]", 3)->members, 0u);
  EXPECT_EQ(check_json(R"({"a":{"b:c":":"},"d":[{"e":1}]})", 9)->members, 4u);
}

}  // namespace
}  // namespace ff::core
