#include "base/text/utf8.hpp"

#include <cstdint>
#include <optional>

#include <fmt/format.h>

namespace ff {
namespace {

// Takes the next code point off the front of `bytes`; none if it is not valid UTF-8.
std::optional<char32_t> take(std::string_view& bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  const std::uint8_t lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
  if (length == 0 || bytes.size() < length) return std::nullopt;

  constexpr std::uint8_t lead_masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  char32_t point = lead & lead_masks[length];
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return std::nullopt;
    point = point << 6 | (byte(i) & 0x3f);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  if (overlong || surrogate || point > 0x10ffff) return std::nullopt;
  bytes.remove_prefix(length);
  return point;
}

bool is_control(char32_t point) { return point < 0x20 || (point >= 0x7f && point <= 0x9f); }

bool is_blank(char32_t point) {
  return point == 0x20 || point == 0xa0 || point == 0x1680 ||
         (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 ||
         point == 0x202f || point == 0x205f || point == 0x3000;
}

// They change the order in which a terminal shows text.
bool is_bidi_control(char32_t point) {
  return point == 0x61c || point == 0x200e || point == 0x200f ||
         (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

}  // namespace

bool is_valid_utf8(std::string_view bytes) {
  while (!bytes.empty())
    if (!take(bytes)) return false;
  return true;
}

bool has_only_visible_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto point = take(bytes);
    if (!point || is_control(*point) || is_blank(*point)) return false;
  }
  return true;
}

std::string to_valid_utf8(std::string_view bytes, std::size_t bytes_max) {
  std::string text;
  while (!bytes.empty()) {
    const auto rest = bytes;
    const bool valid = take(bytes).has_value();
    if (!valid) bytes.remove_prefix(1);
    const auto character = valid ? rest.substr(0, rest.size() - bytes.size()) : "?";
    if (text.size() + character.size() > bytes_max) break;
    text += character;
  }
  return text;
}

std::string printable(std::string_view bytes, std::size_t characters_max) {
  std::string text;
  for (std::size_t count = 0; !bytes.empty(); ++count) {
    if (count == characters_max) return text + "…";
    const auto rest = bytes;
    const auto point = take(bytes);
    if (!point) bytes.remove_prefix(1);
    if (!point || is_control(*point))
      text += '?';
    else if (is_bidi_control(*point))
      text += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(*point));
    else
      text += rest.substr(0, rest.size() - bytes.size());
  }
  return text;
}

}  // namespace ff
