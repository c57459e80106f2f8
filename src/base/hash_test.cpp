#include "base/hash.hpp"

#include <flowfabric/ids.hpp>

#include <string_view>

#include <gtest/gtest.h>

namespace ff {
namespace {

std::uint16_t crc16_of(std::string_view text) {
  return crc16({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

TEST(Crc16, FollowsTheContractsVectors) {
  EXPECT_EQ(crc16_of("123456789"), 0x31c3);
  EXPECT_EQ(crc16_of("default"), 54870);
  EXPECT_EQ(crc16_of("main"), 61653);
  EXPECT_EQ(crc16_of("gpu"), 14480);
}

TEST(Crc16, OfUuidsIsOverTheirBytesInTextualOrder) {
  const auto crc = [](std::string_view text) { return crc16(Uuid::parse(text)->bytes()); };
  EXPECT_EQ(crc("00000000-0000-0000-0000-000000000000"), 0);
  EXPECT_EQ(crc("550e8400-e29b-41d4-a716-446655440000"), 36888);
  EXPECT_EQ(crc("01234567-89ab-cdef-0123-456789abcdef"), 58757);
  EXPECT_EQ(crc("ffffffff-ffff-ffff-ffff-ffffffffffff"), 65);
}

}  // namespace
}  // namespace ff
