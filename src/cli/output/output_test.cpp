#include "cli/output/output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/output/help.hpp"
#include "cli/output/progress.hpp"

namespace ff::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(ForPeople, TimesAndDurationsAreReadable) {
  EXPECT_EQ(for_people("created_at_ms", 1'800'000'000'000), "2027-01-15T08:00:00.000Z");
  EXPECT_EQ(for_people("delay_until_ms", 1'800'000'000'000), "2027-01-15T08:00:00.000Z");
  EXPECT_EQ(for_people("retention_ms", 86'400'000), "1d");
  EXPECT_EQ(label("retention_ms"), "retention");
  EXPECT_EQ(for_people("multiplier", 2.0), "2");
  EXPECT_EQ(for_people("required_capabilities", json::array{"big", "gpu"}), "big, gpu");
  EXPECT_EQ(for_people("id", "{fp:7}:01920000-0000-7000-8000-000000000001"),
            "7-01920000-0000-7000-8000-000000000001");
  EXPECT_EQ(for_people("running", json::array{"{fp:7}:01920000-0000-7000-8000-000000000001"}),
            "7-01920000-0000-7000-8000-000000000001");
}

TEST(ForPeople, TextsAreSafeToShow) {
  EXPECT_EQ(for_people("failure_reason", "a\x1b[31mb\n"), "a?[31mb?");
  EXPECT_EQ(for_people("source", "ann\u202enna"), "ann\\u202enna");
}

constexpr std::array columns{FieldColumn{"name"}, FieldColumn{"count"}, FieldColumn{"reason"}};

TEST(TableOf, LeavesOutColumnsInWhichNothingStands) {
  const json::object rows[] = {{{"name", "a"}, {"count", 7}, {"reason", ""}},
                               {{"name", "b"}, {"count", 12}}};
  EXPECT_EQ(table_of(columns, rows, {}), "name  count\na         7\nb        12\n");
  EXPECT_EQ(table_of(columns, {}, {}), "name  count  reason\n");
}

TEST(Progress, IsABarWithNumbersThatFits) {
  EXPECT_EQ(progress_line("work", 5, 10, 29), "work  [#####.....]  5/10  50%");
  EXPECT_THAT(progress_line("work", 10, 10, 200), EndsWith("]  10/10 100%"));
  EXPECT_THAT(progress_line("work", 11, 10, 200), EndsWith("]  10/10 100%"));
  EXPECT_THAT(progress_line("work", 5, 10, 8), SizeIs(8));
  EXPECT_EQ(progress_line("work", 5, 0, 80), "work  5");
}

TEST(Help, IsWrappedBetweenWords) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 8), "one two\nthree");
  EXPECT_EQ(wrapped("immeasurable one", 5), "immeasurable\none");
  EXPECT_EQ(wrapped("", 5), "");
}

}  // namespace
}  // namespace ff::cli
