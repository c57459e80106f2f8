#include "base/text/hex.hpp"

#include <gtest/gtest.h>

namespace ff {
namespace {

TEST(Hex, BringsBackEveryByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(hex_decode(hex_encode(bytes)), bytes);
  EXPECT_EQ(hex_decode(""), "");
}

TEST(Hex, AcceptsEitherCaseAndWritesLowerCase) {
  EXPECT_EQ(hex_decode("DEADbeef"), "\xde\xad\xbe\xef");
  EXPECT_EQ(hex_encode("\xde\xad\xbe\xef"), "deadbeef");
}

TEST(Hex, RefusesEverythingElse) {
  for (const std::string text : {"a", "0g", "+1", " 1", "0x", "é", "12 "})
    EXPECT_EQ(hex_decode(text), std::nullopt) << text;
}

}  // namespace
}  // namespace ff
