#include "base/text/hash.hpp"

#include <fmt/format.h>

namespace ff {

std::uint16_t crc16(std::span<const std::uint8_t> bytes) {
  std::uint16_t crc = 0;
  for (const auto byte : bytes) {
    crc = static_cast<std::uint16_t>(crc ^ byte << 8);
    for (int bit = 0; bit < 8; ++bit)
      crc = static_cast<std::uint16_t>((crc & 0x8000) ? crc << 1 ^ 0x1021 : crc << 1);
  }
  return crc;
}

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash ^= static_cast<std::uint8_t>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}

std::uint16_t fnv1a_u16_mod(std::string_view text, std::uint16_t m) {
  if (m == 0) return 0;
  return static_cast<std::uint16_t>((fnv1a(text) & 0xffff) % m);
}

std::string fnv1a_xor8hex(std::string_view text) {
  const auto hash = fnv1a(text);
  return fmt::format("{:08x}", static_cast<std::uint32_t>(hash ^ hash >> 32));
}

}  // namespace ff
