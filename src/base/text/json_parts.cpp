#include "base/text/json_parts.hpp"

#include <algorithm>

namespace ff {
namespace {

constexpr std::string_view space = " \t\r\n";

// Of the string at the beginning of `text`, with its quotes.
std::size_t string_size(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return text.size();
}

// Of the object or list at the beginning of `text`.
std::size_t structure_size(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') i += string_size(text.substr(i)) - 1;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return i + 1;
  }
  return text.size();
}

std::size_t value_size(std::string_view text) {
  if (text.starts_with('"')) return string_size(text);
  if (text.starts_with('{') || text.starts_with('[')) return structure_size(text);
  return std::min(text.find_first_of(",]} \t\r\n"), text.size());
}

}  // namespace

JsonParts::JsonParts(std::string_view text) : rest_(text) {
  skip_all(space);
  is_object_ = rest_.starts_with('{');
  if (!rest_.empty()) skip(1);
}

std::string_view JsonParts::next() {
  skip_all(space);
  if (rest_.starts_with(',')) skip(1);
  skip_all(space);
  if (rest_.empty() || rest_.starts_with(']') || rest_.starts_with('}')) return {};
  if (is_object_) {
    skip(string_size(rest_));
    skip_all(space);
    skip(1);  // the colon
    skip_all(space);
  }
  const auto part = rest_.substr(0, value_size(rest_));
  skip(part.size());
  return part;
}

void JsonParts::skip_all(std::string_view characters) {
  skip(std::min(rest_.find_first_not_of(characters), rest_.size()));
}

}  // namespace ff
