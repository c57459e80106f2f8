#include "base/text/utf8.hpp"

#include <gtest/gtest.h>

namespace ff {
namespace {

TEST(Utf8, KnowsValidFromInvalid) {
  for (const char* valid : {"", "plain", "é", "東京", "😀", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_valid_utf8(valid)) << valid;
  for (const char* invalid :
       {"\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "ok\xc3(", "\xf0\x80\x80\x80"})
    EXPECT_FALSE(is_valid_utf8(invalid)) << invalid;
}

TEST(Utf8, PrintableTextHasNoControlCharactersAndAnEnd) {
  EXPECT_EQ(printable("a\u202eb\u2066c\u200fd\u061c"), "a\\u202eb\\u2066c\\u200fd\\u061c");
  EXPECT_EQ(printable("a\nb\x1b[31m\xff é"), "a?b?[31m? é");
  EXPECT_EQ(printable(std::string(100, 'x')), std::string(80, 'x') + "…");
}

TEST(Utf8, ToValidCutsBetweenCharacters) {
  EXPECT_EQ(to_valid_utf8("aéb", 4), "aéb");
  EXPECT_EQ(to_valid_utf8("aéb", 2), "a");
  EXPECT_EQ(to_valid_utf8("a\xff\nb", 9), "a?\nb");
}

}  // namespace
}  // namespace ff
