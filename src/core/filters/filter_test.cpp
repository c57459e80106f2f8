#include "core/filters/filter.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace ff::core::filters_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const TimePoint now{std::chrono::sys_days{std::chrono::year{2026} / 11 / 19} + 12h};

// The filter as it is understood, or the error.
std::string read(std::string_view text) {
  const auto filter = parse_filter(text, now);
  return filter ? to_text(*filter) : filter.error().message;
}

TEST(Filter, ReadsEveryTerm) {
  EXPECT_EQ(read("state:failed,expired lane:gpu kind:render tag:app.user=42 priority:>5 "
                 "created:>=2026-01-31"),
            "state:failed,expired lane:gpu kind:render tag:app.user=42 priority:>=6 "
            "created:>=2026-01-31T00:00:00.000Z");
  EXPECT_EQ(read("flow:01920000-0000-7000-8000-000000000001 worker:w1"),
            "flow:01920000-0000-7000-8000-000000000001 worker:w1");
  EXPECT_EQ(read("  "), "");
}

TEST(Filter, ResolvesRelativeTimesOnce) {
  EXPECT_EQ(read("created:>-2h created:<-30m"),
            "created:>=2026-11-19T10:00:00.001Z created:<2026-11-19T11:30:00.000Z");
  EXPECT_EQ(read("ended:<=-1d"), "ended:<2026-11-18T12:00:00.001Z");
}

TEST(Filter, QuotationMarksHoldBlanksAndSigns) {
  EXPECT_EQ(read(R"(lane:"two words" tag:app.note="say \"yes\" \\ no")"),
            R"(lane:"two words" tag:"app.note=say \"yes\" \\ no")");
  EXPECT_EQ(read(R"(kind:"a*b")"), R"(kind:"a*b")");
}

TEST(Filter, ReadsBackWhatItWrites) {
  for (const char* text :
       {"state:failed lane:\"a b\" priority:5", "created:>-2h ended:<=-1h",
        "tag:app.x= tag:\"app.y=a\tb\"", "priority:<3", "priority:>=3 priority:<9"}) {
    const auto filter = parse_filter(text, now);
    ASSERT_TRUE(filter) << text;
    EXPECT_EQ(parse_filter(to_text(*filter), now + 5h), filter) << text;
  }
}

TEST(Filter, RefusesWithThePositionAndWhatIsAllowed) {
  EXPECT_THAT(read("state:failed colour:red"),
              HasSubstr("where, position 14: there is no term 'colour'; allowed are state, lane"));
  EXPECT_THAT(read("lane:gpu payload:x"), HasSubstr("position 10: 'payload' is not indexed"));
  EXPECT_THAT(read("state:failed,done"),
              HasSubstr("position 14: 'done' is not a state; there are waiting"));
  EXPECT_THAT(read("lane:a OR lane:b"), HasSubstr("position 8: there is no 'OR'"));
  EXPECT_THAT(read("-state:failed"), HasSubstr("position 1: a term cannot be negated"));
  EXPECT_THAT(read("kind:ren*"), HasSubstr("position 9: 'kind' takes one whole name"));
  EXPECT_THAT(read("hello"), HasSubstr("position 1: 'hello' is no term"));
  EXPECT_THAT(read("kind:"), HasSubstr("position 6: 'kind:' has no value"));
  EXPECT_THAT(read("kind:\"a"), HasSubstr("position 6: a quotation mark is not closed"));
  EXPECT_THAT(read("tag:user"), HasSubstr("position 5: a tag is key=value"));
  EXPECT_THAT(read("created:-2h"), HasSubstr("position 9: 'created' takes a time after"));
  EXPECT_THAT(read("created:>2h"), HasSubstr("position 10: '2h' is not a time"));
  EXPECT_THAT(read("created:>2026-02-30"), HasSubstr("'2026-02-30' is not a time"));
  EXPECT_THAT(read("priority:high"), HasSubstr("position 10: 'high' is not a priority"));
  EXPECT_THAT(read("priority:9001"), HasSubstr("is not a priority"));
  EXPECT_THAT(read("flow:1"), HasSubstr("position 6: "));
}

TEST(Filter, RefusesContradictions) {
  EXPECT_THAT(read("state:failed state:expired"), HasSubstr("position 14: 'state' is there twice"));
  EXPECT_THAT(read("lane:a lane:a"), HasSubstr("is there twice"));
  EXPECT_THAT(read("tag:app.a=1 tag:app.a=2"),
              HasSubstr("position 13: the tag app.a cannot have two values"));
  EXPECT_THAT(read("priority:>5 priority:<3"),
              HasSubstr("position 13: the terms of priority leave no"));
  EXPECT_THAT(read("priority:<0"), HasSubstr("leave no priority"));
  EXPECT_THAT(read("priority:5 priority:>3"), HasSubstr("is there twice"));
  EXPECT_THAT(read("created:>-1h created:<-2h"),
              HasSubstr("position 14: the terms of created leave no time"));
  EXPECT_THAT(read("state:waiting ended:>-1h"),
              HasSubstr("an execution in none of these states has ended"));
  EXPECT_THAT(read("worker:w1 state:failed"), HasSubstr("a worker holds active executions only"));
}

TEST(Filter, HasLimits) {
  EXPECT_THAT(read(std::string(limits::where_bytes_max + 1, ' ')),
              HasSubstr("at most 4096 are allowed"));
  std::string many;
  for (std::size_t i = 0; i <= limits::where_terms_max; ++i)
    many += fmt::format("tag:app.k{}=1 ", i);
  EXPECT_THAT(read(many), HasSubstr("at most 64 terms are allowed"));
  EXPECT_THAT(read("lane:\xff"), HasSubstr("valid UTF-8"));
}

TEST(Filter, JoinsTheFieldsOfAList) {
  ListExecutions list{.lane = *LaneId::parse("gpu"), .tag = "app.a=1"};
  list.where = "state:failed tag:app.b=2";
  EXPECT_EQ(to_text(must(filter_of(list, now))), "state:failed lane:gpu tag:app.a=1 tag:app.b=2");
  list.where = "lane:cpu";
  EXPECT_EQ(filter_of(list, now).error().code, Errc::invalid_input);
}

}  // namespace
}  // namespace ff::core::filters_test
