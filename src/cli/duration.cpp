#include "cli/duration.hpp"

#include <flowfabric/limits.hpp>

#include <array>
#include <charconv>
#include <regex>

#include <fmt/format.h>

#include "base/utf8.hpp"

namespace ff::cli {
namespace {

struct Unit {
  std::string_view name;
  Millis length;
};
constexpr std::array units{Unit{"ms", Millis{1}}, Unit{"s", std::chrono::seconds{1}},
                           Unit{"m", std::chrono::minutes{1}}, Unit{"h", std::chrono::hours{1}},
                           Unit{"d", std::chrono::days{1}}};

int number(const std::csub_match& digits) { return std::stoi(digits.str()); }

Result<TimePoint> parse_rfc3339(std::string_view text) {
  static const std::regex form(
      R"((\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d)))");
  std::cmatch part;
  const auto refused = [&] {
    return fail(Errc::invalid_input,
                fmt::format("'{}' is not a time; write 2026-01-31T12:00:00Z or a duration such as "
                            "30s, 5m, 2h or 1d",
                            printable(text)));
  };
  if (!std::regex_match(text.data(), text.data() + text.size(), part, form)) return refused();
  const std::chrono::year_month_day date{std::chrono::year{number(part[1])},
                                         std::chrono::month{unsigned(number(part[2]))},
                                         std::chrono::day{unsigned(number(part[3]))}};
  const int hour = number(part[4]), minute = number(part[5]), second = number(part[6]);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return refused();

  TimePoint time{std::chrono::sys_days{date}};
  time += std::chrono::hours{hour} + std::chrono::minutes{minute} + std::chrono::seconds{second};
  if (part[7].matched) time += Millis{std::stoi((part[7].str() + "00").substr(0, 3))};
  if (part[8].matched) {
    const auto offset =
        std::chrono::hours{number(part[9])} + std::chrono::minutes{number(part[10])};
    time += part[8] == "-" ? offset : -offset;
  }
  return time;
}

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

Result<TimePoint> parse_time(std::string_view text, TimePoint now, Side side) {
  if (const auto duration = parse_duration(text))
    return side == Side::past ? now - *duration : now + *duration;
  return parse_rfc3339(text);
}

std::string format_time(TimePoint time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", int(date.year()),
                     unsigned(date.month()), unsigned(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

}  // namespace ff::cli
