// The contract's hashes.
#pragma once

#include <cstdint>
#include <span>

namespace ff {

// CRC-16/XMODEM: polynomial 0x1021, start 0, not reflected.
std::uint16_t crc16(std::span<const std::uint8_t> bytes);

}  // namespace ff
