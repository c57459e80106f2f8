#include "base/text/hash.hpp"

#include <flowfabric/ids.hpp>

#include <string_view>

#include <fmt/format.h>
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
  EXPECT_EQ(crc16_of("workers-a"), 11969);
  EXPECT_EQ(crc16_of("workers-b"), 7842);
  EXPECT_EQ(crc16_of("gpu"), 14480);
  EXPECT_EQ(crc16_of("a"), 31879);
}

TEST(Crc16, OfUuidsIsOverTheirBytesInTextualOrder) {
  const auto crc = [](std::string_view text) { return crc16(Uuid::parse(text)->bytes()); };
  EXPECT_EQ(crc("00000000-0000-0000-0000-000000000000"), 0);
  EXPECT_EQ(crc("550e8400-e29b-41d4-a716-446655440000"), 36888);
  EXPECT_EQ(crc("11111111-1111-1111-1111-111111111111"), 20486);
  EXPECT_EQ(crc("01234567-89ab-cdef-0123-456789abcdef"), 58757);
  EXPECT_EQ(crc("ffffffff-ffff-ffff-ffff-ffffffffffff"), 65);
}

// Hash, low 16 bits, those modulo 256, 100 and 4, the hash modulo 256 and 100, the 8 hex digits.
std::string fnv1a_row(std::string_view text) {
  const auto hash = fnv1a(text);
  return fmt::format("{:016x} {} {} {} {} {} {} {}", hash, hash & 0xffff, fnv1a_u16_mod(text, 256),
                     fnv1a_u16_mod(text, 100), fnv1a_u16_mod(text, 4), hash % 256, hash % 100,
                     fnv1a_xor8hex(text));
}

TEST(Fnv1a, FollowsTheContractsVectors) {
  EXPECT_EQ(fnv1a_row(""), "cbf29ce484222325 8997 37 97 1 37 37 4fd0bfc1");
  EXPECT_EQ(fnv1a_row("a"), "af63dc4c8601ec8c 60556 140 56 0 140 96 296230c0");
  EXPECT_EQ(fnv1a_row("w1"), "08cb8707b56d7b05 31493 5 93 1 5 1 bda6fc02");
  EXPECT_EQ(fnv1a_row("w2"), "08cb8407b56d75ec 30188 236 88 0 236 68 bda6f1eb");
  EXPECT_EQ(fnv1a_row("w1-i1"), "eced60df90417156 29014 86 14 2 86 30 7cac1189");
  EXPECT_EQ(fnv1a_row("worker-a"), "2490eec5902763fd 25597 253 97 1 253 65 b4b78d38");
  EXPECT_EQ(fnv1a_row("worker-b"), "2490ebc590275ee4 24292 228 92 0 228 32 b4b7b521");
  EXPECT_EQ(fnv1a_row("gpu"), "d5235618fae1fad5 64213 213 13 1 213 81 2fc2accd");
  EXPECT_EQ(fnv1a_row("cuda,gpu"), "cb7518f80227be3c 48700 60 0 0 60 28 c952a6c4");
  EXPECT_EQ(fnv1a_row("gpu,cuda"), "32511bb2804b7648 30280 72 80 0 72 4 b21a6dfa");
  EXPECT_EQ(fnv1a_row("cpu,gpu,tpu"), "2d542a6484053858 14424 88 24 0 88 32 a951123c");
  EXPECT_EQ(fnv1a_row("foobar"), "85944171f73967e8 26600 232 0 0 232 68 72ad2699");
  EXPECT_EQ(fnv1a_row("东京-gpu"), "48de427f2333ef54 61268 84 68 0 84 96 6bedad2b");
}

TEST(Fnv1a, ModuloNothingIsZero) { EXPECT_EQ(fnv1a_u16_mod("w1", 0), 0); }

}  // namespace
}  // namespace ff
