#include "base/hash.hpp"

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

}  // namespace ff
