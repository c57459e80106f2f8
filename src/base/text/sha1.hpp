// SHA-1, for names that are UUIDs (RFC 4122). Not for anything that must resist an attacker.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ff {

std::array<std::uint8_t, 20> sha1(std::string_view bytes);

}  // namespace ff
