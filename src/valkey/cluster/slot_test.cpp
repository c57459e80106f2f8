#include "valkey/cluster/slot.hpp"

#include <gtest/gtest.h>

namespace ff::valkey {
namespace {

TEST(Slot, FollowsTheClusterSpecification) {
  EXPECT_EQ(slot_of("123456789"), 0x31c3);
  EXPECT_EQ(slot_of(""), 0);
  EXPECT_EQ(slot_of("foo"), 12182);
  EXPECT_EQ(slot_of("somekey"), 11058);
}

TEST(Slot, IsThatOfTheHashTag) {
  EXPECT_EQ(slot_of("foo{hash_tag}"), 2515);
  EXPECT_EQ(slot_of("bar{hash_tag}"), 2515);
  EXPECT_EQ(slot_of("{user1000}.following"), slot_of("user1000"));
  EXPECT_EQ(slot_of("foo{bar}{zap}"), slot_of("bar"));
  EXPECT_EQ(slot_of("foo{{bar}}zap"), slot_of("{bar"));
}

TEST(Slot, AnEmptyOrOpenTagIsNone) {
  EXPECT_EQ(slot_of("foo{}{bar}"), 8363);
  EXPECT_NE(slot_of("foo{}"), slot_of(""));
  EXPECT_NE(slot_of("foo{bar"), slot_of("bar"));
}

}  // namespace
}  // namespace ff::valkey
