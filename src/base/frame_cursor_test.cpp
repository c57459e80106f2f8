#include <flowfabric/frame_cursor.hpp>

#include <gtest/gtest.h>

namespace ff {
namespace {

TEST(FrameCursor, IsAnEndATimeOrAnId) {
  EXPECT_EQ(FrameCursor::parse("start")->first(), (FrameId{0, 0}));
  EXPECT_EQ(FrameCursor::parse("-")->str(), FrameCursor::start().str());
  EXPECT_EQ(FrameCursor::parse("end")->last(), (FrameId{UINT64_MAX, UINT64_MAX}));
  EXPECT_FALSE(FrameCursor::parse("+")->is_concrete());
  const auto time = *FrameCursor::parse("7");
  EXPECT_TRUE(time.is_concrete());
  EXPECT_EQ(time.first(), (FrameId{7, 0}));
  EXPECT_EQ(time.last(), (FrameId{7, UINT64_MAX}));
  const auto id = *FrameCursor::parse("7-3");
  EXPECT_EQ(id.first(), (FrameId{7, 3}));
  EXPECT_EQ(id.last(), (FrameId{7, 3}));
  EXPECT_EQ(id, FrameCursor::at({7, 3}));
}

TEST(FrameCursor, IsRefusedInAnyOtherForm) {
  for (const auto* text : {"", "--", "7-", "-7", "7-3-1", "(7-3", "7.5", " 7", "x", "0x10", "$",
                           "18446744073709551616", "7-18446744073709551616"})
    EXPECT_FALSE(FrameCursor::parse(text)) << text;
  EXPECT_TRUE(FrameCursor::parse("18446744073709551615"));
}

}  // namespace
}  // namespace ff
