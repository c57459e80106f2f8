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

TEST(WithoutPassword, LeavesOtherTextAsItIs) {
  EXPECT_EQ(without_password("embedded:./ff-data"), "embedded:./ff-data");
  EXPECT_EQ(without_password("valkey://host:6379?ca_file=a@b"), "valkey://host:6379?ca_file=a@b");
  EXPECT_EQ(without_password(""), "");
}

}  // namespace
}  // namespace ff
