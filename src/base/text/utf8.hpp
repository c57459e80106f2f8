// UTF-8: validity, and text that is safe to show.
#pragma once

#include <string>
#include <string_view>

namespace ff {

bool is_valid_utf8(std::string_view bytes);

// Valid UTF-8 without a Unicode blank or control character.
bool has_only_visible_text(std::string_view bytes);

// The same text with bad bytes as '?', cut before the character that would pass `bytes_max`.
std::string to_valid_utf8(std::string_view bytes, std::size_t bytes_max);

// The text for a person: control characters and bad UTF-8 as '?', those that change the direction of writing as
// \u202e, cut after `characters_max`.
std::string printable(std::string_view bytes, std::size_t characters_max = 80);

}  // namespace ff
