#include "base/text/base64.hpp"

#include <gtest/gtest.h>

namespace ff {
namespace {

TEST(Base64, FollowsTheStandardVectors) {
  EXPECT_EQ(base64_encode(""), "");
  EXPECT_EQ(base64_encode("f"), "Zg==");
  EXPECT_EQ(base64_encode("fo"), "Zm8=");
  EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
}

TEST(Base64, BringsBackEveryByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    const auto part = bytes.substr(0, length);
    EXPECT_EQ(base64_decode(base64_encode(part)), part);
  }
}

TEST(Base64, TakesOnlyTheOneSpelling) {
  for (const char* text :
       {"Zg", "Zg=", "Zg= =", " Zg==", "Zg==\n", "Zh==", "Zg==Zg==", "-_==", "=", "A==="})
    EXPECT_FALSE(base64_decode(text)) << text;
}

TEST(Base64, OfUrlsHasItsOwnAlphabetAndNoPadding) {
  EXPECT_EQ(base64url_encode("\xfb\xff"), "-_8");
  EXPECT_EQ(base64url_decode("-_8"), "\xfb\xff");
  EXPECT_EQ(base64url_decode(""), "");
  for (const char* text : {"+/8", "-_8=", "Zh", "Z", "Zg==", " Zg", "Zm9v\n"})
    EXPECT_FALSE(base64url_decode(text)) << text;
}

}  // namespace
}  // namespace ff
