// The 16,384 slots that a cluster spreads its keys over.
#pragma once

#include <cstdint>
#include <string_view>

namespace ff::valkey {

inline constexpr std::uint16_t slot_count = 16384;

// Of the key, or of its hash tag: what stands between the first { and the next }, if that is not empty.
std::uint16_t slot_of(std::string_view key);

}  // namespace ff::valkey
