// Whole numbers as text.
#pragma once

#include <flowfabric/error.hpp>

#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "base/text/utf8.hpp"

namespace ff::cli {

struct NumberRange {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
};

inline Result<std::int64_t> parse_number(std::string_view text, NumberRange range = {}) {
  std::int64_t number = 0;
  const auto end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, number);
  if (failed == std::errc{} && rest == end && number >= range.low && number <= range.high)
    return number;
  return fail(Errc::invalid_input, fmt::format("'{}' is not a whole number from {} to {}",
                                               printable(text), range.low, range.high));
}

}  // namespace ff::cli
