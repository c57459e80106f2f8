// Bytes as hex digits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ff {

std::string hex_encode(std::string_view bytes);  // lower case

// Digits of either case, two for each byte; nothing for any other text.
std::optional<std::string> hex_decode(std::string_view text);

}  // namespace ff
