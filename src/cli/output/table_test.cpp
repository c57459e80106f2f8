#include "cli/output/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::cli {
namespace {

Table sample() {
  Table table({{.title = "id", .fit = Column::Fit::keep},
               {.title = "what"},
               {.title = "n", .align = Column::Align::right}});
  table.add({{"identity-1"}, {"a long text that goes on"}, {"7"}});
  table.add({{"id-2"}, {"größer als nötig und so weiter"}, {"1234"}});
  return table;
}

TEST(Table, IsAsWideAsItsCellsWhenNothingLimitsIt) {
  EXPECT_EQ(sample().str({}),
            "id          what                               n\n"
            "identity-1  a long text that goes on           7\n"
            "id-2        größer als nötig und so weiter  1234\n");
}

TEST(Table, CutsTheWidestColumnToFit) {
  EXPECT_EQ(sample().str({.width = 30}),
            "id          what             n\n"
            "identity-1  a long text…     7\n"
            "id-2        größer als …  1234\n");
}

TEST(Table, NeverCutsWhatMustBeWhole) {
  EXPECT_THAT(sample().str({.width = 1}), ::testing::HasSubstr("identity-1  a l…"));
}

TEST(Table, LeavesOutWhatMayBeDroppedBeforeItCuts) {
  Table table({{.title = "id"},
               {.title = "first", .fit = Column::Fit::drop},
               {.title = "last", .fit = Column::Fit::drop}});
  table.add({{"identity"}, {"1"}, {"2"}});
  EXPECT_EQ(table.str({.width = 16}), "id        first\nidentity  1\n");
  EXPECT_EQ(table.str({.width = 7}), "id\nidenti…\n");
}

TEST(Table, ColoursDoNotCountAsWidth) {
  Table table({{.title = "a"}, {.title = "b"}});
  table.add({{"x", Colour::red}, {"y"}});
  EXPECT_EQ(table.str({.colours = true}),
            "\x1b[1ma\x1b[0m  \x1b[1mb\x1b[0m\n\x1b[31mx\x1b[0m  y\n");
}

}  // namespace
}  // namespace ff::cli
