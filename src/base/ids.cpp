#include <flowfabric/ids.hpp>

#include <charconv>

#include <fmt/format.h>

#include "base/text/utf8.hpp"

namespace ff {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

constexpr bool hyphen_at(std::size_t position) {
  return position == 8 || position == 13 || position == 18 || position == 23;
}

std::unexpected<Error> not_a_uuid(std::string_view text) {
  return fail(Errc::invalid_input,
              fmt::format("'{}' is not a UUID; write it in lower case with hyphens, like "
                          "01920000-0000-7000-8000-000000000000",
                          printable(text)));
}

std::unexpected<Error> not_an_execution_id(std::string_view text) {
  return fail(Errc::invalid_input, fmt::format("'{}' is not an execution id; one looks like "
                                               "42-01920000-0000-7000-8000-000000000000",
                                               printable(text)));
}

bool allowed(unsigned char byte, TextAlphabet alphabet) {
  const bool letter_or_digit =
      (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
  switch (alphabet) {
    case TextAlphabet::printable_ascii: return byte >= 0x20 && byte <= 0x7e;
    case TextAlphabet::name: return letter_or_digit || byte == '.' || byte == '_' || byte == '-';
    case TextAlphabet::visible_text: return byte > 0x20 && byte != 0x7f;
  }
  return false;
}

std::string_view describe(TextAlphabet alphabet) {
  switch (alphabet) {
    case TextAlphabet::printable_ascii: return "printable ASCII characters";
    case TextAlphabet::name: return "letters, digits, '.', '_' and '-'";
    case TextAlphabet::visible_text: return "UTF-8 text without blanks and control characters";
  }
  return "";
}

}  // namespace

Result<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() != 36) return not_a_uuid(text);
  Bytes bytes{};
  std::size_t nibble = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (hyphen_at(i)) {
      if (text[i] != '-') return not_a_uuid(text);
      continue;
    }
    const auto value = hex_digits.find(text[i]);
    if (value == std::string_view::npos) return not_a_uuid(text);
    auto& byte = bytes[nibble / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | value);
    ++nibble;
  }
  return Uuid{bytes};
}

std::string Uuid::str() const {
  std::string text;
  text.reserve(36);
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (hyphen_at(text.size())) text += '-';
    text += hex_digits[bytes_[i] >> 4];
    text += hex_digits[bytes_[i] & 0x0f];
  }
  return text;
}

Result<ExecutionId> ExecutionId::parse(std::string_view text) {
  const bool is_short = !text.starts_with('{');
  const std::string_view open = is_short ? "" : "{fp:", close = is_short ? "-" : "}:";
  const auto end = text.find(close);
  if (!text.starts_with(open) || end == std::string_view::npos) return not_an_execution_id(text);

  const auto digits = text.substr(open.size(), end - open.size());
  PartitionIndex partition = 0;
  const auto [rest, failed] =
      std::from_chars(digits.data(), digits.data() + digits.size(), partition);
  const bool canonical = digits.size() == 1 || !digits.starts_with('0');
  if (digits.empty() || failed != std::errc{} || rest != digits.data() + digits.size() ||
      !canonical)
    return not_an_execution_id(text);

  const auto uuid = Uuid::parse(text.substr(end + close.size()));
  if (!uuid) return not_an_execution_id(text);
  return ExecutionId{partition, *uuid};
}

std::string ExecutionId::str() const {
  return fmt::format("{{fp:{}}}:{}", partition_, uuid_.str());
}

Result<TraceParent> TraceParent::parse(std::string text) {
  constexpr std::string_view form = "hh-hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh-hhhhhhhhhhhhhhhh-hh";
  const auto follows_form = [&](std::size_t at) {
    return form[at] == '-' ? text[at] == '-' : hex_digits.find(text[at]) != std::string_view::npos;
  };
  const auto all_zero = [&](std::size_t at, std::size_t size) {
    return text.find_first_not_of('0', at) >= at + size;
  };
  bool valid = text.size() == form.size();
  for (std::size_t at = 0; valid && at < form.size(); ++at) valid = follows_form(at);
  if (!valid || text.starts_with("ff") || all_zero(3, 32) || all_zero(36, 16))
    return fail(Errc::invalid_input,
                fmt::format("'{}' is not a traceparent; one looks like "
                            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                            printable(text)));
  return TraceParent{std::move(text)};
}

Namespace default_namespace() { return *Namespace::parse("default"); }
LaneId default_lane() { return *LaneId::parse("default"); }
Kind default_flow_kind() { return *Kind::parse("flow"); }
StreamName default_stream() { return *StreamName::parse("output"); }
FrameType default_frame_type() { return *FrameType::parse("data"); }

Result<void> detail::check_text(std::string_view text, const TextRule& rule) {
  if (text.empty())
    return fail(Errc::invalid_input, fmt::format("{} must not be empty", rule.what));
  if (text.size() > rule.bytes_max)
    return fail(Errc::invalid_input, fmt::format("{} is {} bytes long; at most {} are allowed",
                                                 rule.what, text.size(), rule.bytes_max));
  for (const char c : text)
    if (!allowed(static_cast<unsigned char>(c), rule.alphabet))
      return fail(Errc::invalid_input, fmt::format("{} '{}' may hold only {}", rule.what,
                                                   printable(text), describe(rule.alphabet)));
  if (rule.alphabet == TextAlphabet::visible_text && !has_only_visible_text(text))
    return fail(Errc::invalid_input, fmt::format("{} '{}' may hold only {}", rule.what,
                                                 printable(text), describe(rule.alphabet)));
  return {};
}

}  // namespace ff
