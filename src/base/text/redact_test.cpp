#include "base/text/redact.hpp"

#include <gtest/gtest.h>

namespace ff {
namespace {

TEST(WithoutPassword, HidesWhatStandsBeforeTheHost) {
  EXPECT_EQ(without_password("valkey://me:secret@host:1/?a=b"), "valkey://me:***@host:1/?a=b");
  EXPECT_EQ(without_password("valkey://:secret@host"), "valkey://:***@host");
  EXPECT_EQ(without_password("valkey://secret@host"), "valkey://***@host");
  EXPECT_EQ(without_password("valkey://me:se@cr@et@host"), "valkey://me:***@host");
}

TEST(WithoutPassword, HidesThePasswordOfAMalformedUrl) {
  EXPECT_EQ(without_password("valkey://me:se?cr=et@host"), "valkey://me:***@host");
  EXPECT_EQ(without_password("valkey:me:secret@host"), "valkey:***@host");
  EXPECT_EQ(without_password("me:secret@host"), "me:***@host");
}

TEST(WithoutPassword, HidesSecretSettings) {
  EXPECT_EQ(without_password("valkey://host?password=secret&durability=fsync&token=x"),
            "valkey://host?password=***&durability=fsync&token=***");
  EXPECT_EQ(without_password("valkey://host?password_file=/run/p"),
            "valkey://host?password_file=/run/p");
}

TEST(WithoutPassword, LeavesOtherTextAsItIs) {
  EXPECT_EQ(without_password("embedded:./ff-data"), "embedded:./ff-data");
  EXPECT_EQ(without_password("embedded:/home/me@work"), "embedded:/home/me@work");
  EXPECT_EQ(without_password("valkey://host:6379?ca_file=a"), "valkey://host:6379?ca_file=a");
  EXPECT_EQ(without_password(""), "");
}

}  // namespace
}  // namespace ff
