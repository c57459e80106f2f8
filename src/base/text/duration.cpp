#include "base/text/duration.hpp"

#include <flowfabric/limits.hpp>

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text/utf8.hpp"

namespace ff {
namespace {

struct Unit {
  std::string_view name;
  Millis length;
};
constexpr std::array units{Unit{"ms", Millis{1}}, Unit{"s", std::chrono::seconds{1}},
                           Unit{"m", std::chrono::minutes{1}}, Unit{"h", std::chrono::hours{1}},
                           Unit{"d", std::chrono::days{1}}};

}  // namespace

Result<Millis> parse_duration(std::string_view text, Millis bare_unit) {
  const auto refused = [&] {
    return fail(Errc::invalid_input,
                fmt::format("'{}' is not a duration; write 500ms, 30s, 5m, 2h or 1d, at most {}",
                            printable(text), format_duration(limits::duration_max)));
  };
  std::int64_t count = 0;
  const auto end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, count);
  if (failed != std::errc{} || count < 0) return refused();
  const std::string_view suffix(rest, end);
  Millis unit = bare_unit;
  if (!suffix.empty()) {
    const auto found = std::ranges::find(units, suffix, &Unit::name);
    if (found == units.end()) return refused();
    unit = found->length;
  } else if (bare_unit == Millis{0} && count != 0) {
    return refused();
  }
  if (unit > Millis{0} && count > limits::duration_max / unit) return refused();
  return count * unit;
}

std::string format_duration(Millis duration) {
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit)
    if (duration != Millis{0} && duration % unit->length == Millis{0})
      return fmt::format("{}{}", duration / unit->length, unit->name);
  return "0s";
}

}  // namespace ff
