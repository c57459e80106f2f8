// The contract's hashes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ff {

// CRC-16/XMODEM: polynomial 0x1021, start 0, not reflected.
std::uint16_t crc16(std::span<const std::uint8_t> bytes);

// FNV-1a of 64 bits.
std::uint64_t fnv1a(std::string_view bytes);

// The low 16 bits of fnv1a, modulo `m`; 0 if `m` is 0.
std::uint16_t fnv1a_u16_mod(std::string_view text, std::uint16_t m);

// A short name for a long text in logs: both halves of fnv1a xor-ed, as 8 lower-case hex digits.
std::string fnv1a_xor8hex(std::string_view text);

}  // namespace ff
