#include "base/text/hmac.hpp"

#include <gtest/gtest.h>

#include "base/text/hex.hpp"

namespace ff {
namespace {

// RFC 2202 and RFC 4231.
TEST(Hmac, FollowsTheStandardVectors) {
  const std::string key(20, '\x0b');
  EXPECT_EQ(hex_encode(hmac_sha1(key, "Hi There")), "b617318655057264e28bc0b6fb378c8ef146be00");
  EXPECT_EQ(hex_encode(hmac_sha1("Jefe", "what do ya want for nothing?")),
            "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
  EXPECT_EQ(hex_encode(hmac_sha256(key, "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex_encode(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Hmac, KeysLongerThanABlockAreHashedFirst) {
  EXPECT_EQ(hex_encode(hmac_sha1(std::string(80, '\xaa'),
                                 "Test Using Larger Than Block-Size Key - Hash Key First")),
            "aa4ae5e15272d00e95705637ce8a3b55ed402112");
}

TEST(Hmac, SameBytesComparesLengthAndContent) {
  EXPECT_TRUE(same_bytes("", ""));
  EXPECT_TRUE(same_bytes("abc", "abc"));
  EXPECT_FALSE(same_bytes("abc", "abd"));
  EXPECT_FALSE(same_bytes("abc", "abcd"));
}

}  // namespace
}  // namespace ff
