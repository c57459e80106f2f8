#include "valkey/protocol/refusal.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "valkey/cluster/slot.hpp"

namespace ff::valkey {
namespace {

using Kind = Refusal::Kind;

struct Row {
  std::string_view word;
  Kind kind;
};
constexpr std::array rows{
    Row{"MOVED", Kind::moved},
    Row{"ASK", Kind::ask},
    Row{"TRYAGAIN", Kind::not_now},
    Row{"CLUSTERDOWN", Kind::not_now},
    Row{"LOADING", Kind::not_now},
    Row{"BUSY", Kind::not_now},
    Row{"NOREPLICAS", Kind::not_now},
    Row{"MASTERDOWN", Kind::not_primary},
    Row{"READONLY", Kind::not_primary},
    Row{"NOAUTH", Kind::unauthenticated},
    Row{"WRONGPASS", Kind::unauthenticated},
    Row{"NOPERM", Kind::permission_denied},
};

Kind kind_of(std::string_view word) {
  for (const auto& row : rows)
    if (row.word == word) return row.kind;
  return Kind::ordinary;
}

// Cuts the first word off.
std::string_view take_word(std::string_view& text) {
  const auto end = text.find(' ');
  const auto word = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return word;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

Refusal refusal_of(std::string_view error) {
  Refusal refusal{.kind = kind_of(take_word(error))};
  if (refusal.kind != Kind::moved && refusal.kind != Kind::ask) return refusal;
  const auto slot = parse_number<std::uint16_t>(take_word(error));
  auto node = parse_address(take_word(error));
  if (!slot || *slot >= slot_count || !node) return {};
  refusal.slot = *slot;
  refusal.node = std::move(*node);
  return refusal;
}

std::optional<TcpEndpoint> parse_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == text.npos) return std::nullopt;
  const auto port = parse_number<std::uint16_t>(text.substr(colon + 1));
  if (!port) return std::nullopt;
  return TcpEndpoint{std::string(text.substr(0, colon)), *port};
}

std::string to_advice(const ClientOptions& options, const Endpoint& endpoint) {
  const auto where = to_text(endpoint);
  if (options.password.empty())
    return fmt::format("Valkey at {} wants a password; give the store's URL one", where);
  return fmt::format(
      "Valkey at {} refused the password of {}; check the user and the password of "
      "the store's URL",
      where, options.user.empty() ? "the default user" : "user " + options.user);
}

}  // namespace ff::valkey
