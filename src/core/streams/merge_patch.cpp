#include "core/streams/merge_patch.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text/utf8.hpp"

namespace ff::core {
namespace {

constexpr std::string_view space = " \t\r\n";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Of the four digits at a place, or -1.
int code_unit(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return -1;
  int unit = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const int digit = hex_value(text[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

bool is_high_surrogate(int unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool is_low_surrogate(int unit) { return unit >= 0xdc00 && unit < 0xe000; }

// ---- Checking -------------------------------------------------------------------------------------

// Reads a text as RFC 8259 has it, from the beginning to the first thing that is wrong.
class JsonCheck {
 public:
  JsonCheck(std::string_view text, std::size_t depth_max) : text_(text), depth_max_(depth_max) {}

  std::expected<JsonText, std::string> run() {
    if (!is_valid_utf8(text_)) return std::unexpected("it is not valid UTF-8");
    if (!value(0)) return std::unexpected(is_too_deep_ ? too_deep() : wrong());
    skip_space();
    if (at_ != text_.size()) return std::unexpected(wrong());
    return JsonText{.members = members_};
  }

 private:
  std::string wrong() const { return fmt::format("it is not JSON, see byte {}", at_); }
  std::string too_deep() const {
    return fmt::format("it is nested deeper than {} levels", depth_max_);
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void skip_space() { at_ = std::min(text_.find_first_not_of(space, at_), text_.size()); }

  bool value(std::size_t depth) {
    skip_space();
    switch (peek()) {
      case '{': return structure(depth, '}', true);
      case '[': return structure(depth, ']', false);
      case '"': return string();
      case 't': return take("true");
      case 'f': return take("false");
      case 'n': return take("null");
      default: return number();
    }
  }

  bool structure(std::size_t depth, char end, bool is_object) {
    if (depth == depth_max_) return !(is_too_deep_ = true);
    ++at_;
    skip_space();
    if (take(end)) return true;
    while (true) {
      skip_space();
      if (is_object && !(peek() == '"' && string() && colon())) return false;
      if (!value(depth + 1)) return false;
      skip_space();
      if (take(end)) return true;
      if (!take(',')) return false;
    }
  }

  bool colon() {
    ++members_;
    skip_space();
    return take(':');
  }

  bool string() {
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20) return false;
      ++at_;
      if (c == '"') return true;
      if (c == '\\' && !escape()) return false;
    }
    return false;
  }

  bool escape() {
    const char c = peek();
    if (c == 'u') return unicode_escape();
    if (c == '\0' || std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos) return false;
    ++at_;
    return true;
  }

  // Half of a surrogate pair alone is no character.
  bool unicode_escape() {
    const int unit = code_unit(text_, at_ + 1);
    if (unit < 0 || is_low_surrogate(unit)) return false;
    at_ += 5;
    if (!is_high_surrogate(unit)) return true;
    if (!take("\\u") || !is_low_surrogate(code_unit(text_, at_))) return false;
    at_ += 4;
    return true;
  }

  bool digits() {
    if (!is_digit(peek())) return false;
    while (is_digit(peek())) ++at_;
    return true;
  }

  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (!take('e') && !take('E')) return true;
    if (!take('+')) take('-');
    return digits();
  }

  std::string_view text_;
  std::size_t depth_max_;
  std::size_t at_ = 0;
  std::size_t members_ = 0;
  bool is_too_deep_ = false;
};

// ---- Slices of valid JSON -------------------------------------------------------------------------

std::size_t behind_space(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(space, at), text.size());
}

// `at` is its first quote.
std::size_t behind_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\') ++at;
  }
  return text.size();
}

std::size_t behind_structure(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while ((at = text.find_first_of("{}[]\"", at)) != std::string_view::npos) {
    const char c = text[at];
    if (c == '"') {
      at = behind_string(text, at);
      continue;
    }
    depth += c == '{' || c == '[' ? 1 : -1;
    ++at;
    if (depth == 0) return at;
  }
  return text.size();
}

std::size_t behind_value(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '"') return behind_string(text, at);
  if (c == '{' || c == '[') return behind_structure(text, at);
  return std::min(text.find_first_of(",]} \t\r\n", at), text.size());
}

std::string_view trimmed(std::string_view text) {
  const auto first = behind_space(text, 0);
  return text.substr(first, behind_value(text, first) - first);
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

char unescaped(char c) {
  switch (c) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return c;
  }
}

// A name as it is meant: two texts can name the same member.
std::string plain_name(std::string_view quoted) {
  const auto text = quoted.substr(1, quoted.size() - 2);
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      name += text[i];
      continue;
    }
    ++i;
    if (text[i] != 'u') {
      name += unescaped(text[i]);
      continue;
    }
    auto code = static_cast<std::uint32_t>(code_unit(text, i + 1));
    i += 4;
    if (is_high_surrogate(static_cast<int>(code))) {
      const auto low = static_cast<std::uint32_t>(code_unit(text, i + 3));
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      i += 6;
    }
    append_utf8(name, code);
  }
  return name;
}

}  // namespace

std::expected<JsonText, std::string> check_json(std::string_view text, std::size_t depth_max) {
  return JsonCheck(text, depth_max).run();
}

// ---- Merging --------------------------------------------------------------------------------------

JsonDocument::JsonDocument(std::string_view text) : root_{.text = trimmed(text)} {}

// The last of several members with one name counts.
void JsonDocument::Object::put(std::string_view name, std::string_view text) {
  at(name) = {.text = text};
}

// Of a member that is added if there is none, with the value null.
JsonDocument::Value& JsonDocument::Object::at(std::string_view name) {
  const auto [place, is_new] = places.try_emplace(plain_name(name), members.size());
  if (is_new) members.push_back({.name = name, .value = {.text = "null"}});
  return members[place->second].value;
}

void JsonDocument::Object::erase(std::string_view name) {
  const auto place = places.find(plain_name(name));
  if (place == places.end()) return;
  members[place->second].is_erased = true;
  places.erase(place);
}

JsonDocument::Object JsonDocument::read_object(std::string_view text) {
  Object object;
  auto at = behind_space(text, 1);
  while (at < text.size() && text[at] != '}') {
    const auto name_end = behind_string(text, at);
    const auto name = text.substr(at, name_end - at);
    const auto first = behind_space(text, behind_space(text, name_end) + 1);  // behind the colon
    const auto end = behind_value(text, first);
    object.put(name, text.substr(first, end - first));
    at = behind_space(text, end);
    if (at < text.size() && text[at] == ',') at = behind_space(text, at + 1);
  }
  return object;
}

void JsonDocument::merge_into(Value& target, std::string_view patch) {
  patch = trimmed(patch);
  if (!patch.starts_with('{')) {
    target = {.text = patch};
    return;
  }
  const auto changes = read_object(patch);
  const bool is_object = target.object || target.text.starts_with('{');
  if (is_object && changes.members.empty()) return;
  if (!target.object)
    target.object = std::make_shared<Object>(is_object ? read_object(target.text) : Object{});
  for (const auto& [name, value, is_erased] : changes.members) {
    if (value.text == "null")
      target.object->erase(name);
    else
      merge_into(target.object->at(name), value.text);
  }
}

void JsonDocument::write(const Value& value, std::string& out) {
  if (!value.object) {
    out += value.text;
    return;
  }
  out += '{';
  bool is_first = true;
  for (const auto& member : value.object->members) {
    if (member.is_erased) continue;
    if (!std::exchange(is_first, false)) out += ',';
    out += member.name;
    out += ':';
    write(member.value, out);
  }
  out += '}';
}

std::string JsonDocument::text() const {
  std::string out;
  write(root_, out);
  return out;
}

}  // namespace ff::core
