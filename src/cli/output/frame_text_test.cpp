#include "cli/output/frame_text.hpp"

#include <gtest/gtest.h>

namespace ff::cli {
namespace {

std::string newest_of(const std::vector<std::string>& texts, std::size_t bytes_max = 100) {
  std::vector<Frame> frames;
  for (const auto& text : texts) frames.emplace_back().bytes = text;
  return newest_line(frames, bytes_max);
}

TEST(FrameText, DoesNotSteerTheTerminal) {
  EXPECT_EQ(for_terminal("a\x1b[31mb\tc\n\x7f"), "a?[31mb\tc\n?");
}

TEST(FrameText, TheNewestLineIsTheLastThatIsNotBlank) {
  EXPECT_EQ(newest_of({}), "");
  EXPECT_EQ(newest_of({"\n", " \n"}), "");
  EXPECT_EQ(newest_of({"one\ntw", "o", "\n\n"}), "two");
  EXPECT_EQ(newest_of({"10%\r20%\r"}), "20%");
  EXPECT_EQ(newest_of({"one\n", "\x1b[2J"}), "?[2J");
  EXPECT_EQ(newest_of({"one\nabcdef"}, 3), "abc…");
}

TEST(FrameText, NeighbouringAttemptsDifferInColour) {
  for (std::uint32_t i = 0; i < 10; ++i) EXPECT_NE(colour_of_attempt(i), colour_of_attempt(i + 1));
}

}  // namespace
}  // namespace ff::cli
