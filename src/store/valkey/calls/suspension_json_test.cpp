#include "store/valkey/calls/suspension_json.hpp"

#include <gtest/gtest.h>

namespace ff::valkey_store {
namespace {

SignalName signal(const char* name) { return *SignalName::parse(name); }
WaitpointKey key(const char* name) { return *WaitpointKey::parse(name); }

std::string shown(std::string_view text, const std::vector<std::size_t>& sizes = {}) {
  const auto read = read_condition(text, sizes);
  return read ? core::describe_progress(read->condition, read->tally) : "nothing";
}

TEST(SuspensionJson, ConditionsComeBack) {
  const Condition condition{AllOf{
      {{OneSignal{.name = signal("go"), .waitpoint = key("door")}},
       {AnyOf{{{OneSignal{}}, {OperatorOnly{}}, {TimeoutOnly{}}}}},
       {CountOf{
           .n = 2, .of = Counted::sources, .name = signal("yes"), .waitpoints = {key("door")}}}}}};
  const auto read = read_condition(to_json(condition), {1, 0, 2});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->condition, condition);
  EXPECT_EQ(core::describe_progress(read->condition, read->tally),
            "the signal go at the waitpoint door (arrived) and (any signal or an operator or its "
            "timeout) and 2 of 2 yes signals from different sources");
}

// Each name of a plain condition takes one signal.
TEST(SuspensionJson, PlainConditionsOfTheContractBecomeTheMostSimilarOnes) {
  EXPECT_EQ(shown(R"({"slots":[""],"needed":1})"), "any signal");
  EXPECT_EQ(shown(R"({"slots":["a"],"needed":0})", {1}), "the signal a (arrived)");
  EXPECT_EQ(shown(R"({"slots":["a","b"],"needed":2})", {0, 1}),
            "the signal a and the signal b (arrived)");
  EXPECT_EQ(shown(R"({"slots":["a","b"],"needed":1})", {0, 0}), "the signal a or the signal b");
  EXPECT_EQ(shown(R"({"slots":["a","b","c"],"needed":2})", {0, 1, 0}), "1 of 2 signals");
  EXPECT_EQ(shown("[]"), "nothing");
  EXPECT_EQ(shown("{"), "nothing");
}

TEST(SuspensionJson, QuestionsComeBack) {
  const Question question{.title = "Ship?",
                          .text = "\"now\"\n",
                          .choices = {{.signal = signal("yes"), .label = "Yes"}},
                          .approvers = {"Ann", "Bob"}};
  EXPECT_EQ(read_question(to_json(question)), question);
  EXPECT_EQ(read_question(to_json(Question{})), Question{});
  EXPECT_EQ(read_question("?"), std::nullopt);
}

}  // namespace
}  // namespace ff::valkey_store
