#include "core/schedules/cron.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <string>

#include <date/tz.h>
#include <fmt/format.h>

#include <flowfabric/limits.hpp>

#include "base/text/utf8.hpp"
#include "base/try.hpp"

namespace ff::core {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using LocalSeconds = date::local_seconds;
using SysSeconds = date::sys_seconds;

// Eight years: a 29 February is at most so far away.
constexpr auto horizon = std::chrono::days{8 * 366};

// ---- Expressions ----------------------------------------------------------------------------------

constexpr std::array<std::string_view, 12> month_names{"jan", "feb", "mar", "apr", "may", "jun",
                                                       "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> weekday_names{"sun", "mon", "tue", "wed",
                                                        "thu", "fri", "sat"};

struct FieldRule {
  std::string_view name;
  unsigned low;
  unsigned high;
};
constexpr std::array field_rules{FieldRule{"minute", 0, 59}, FieldRule{"hour", 0, 23},
                                 FieldRule{"day of month", 1, 31}, FieldRule{"month", 1, 12},
                                 FieldRule{"day of week", 0, 7}};

struct Macro {
  std::string_view name;
  std::string_view expression;
};
constexpr std::array macros{Macro{"@hourly", "0 * * * *"},   Macro{"@daily", "0 0 * * *"},
                            Macro{"@midnight", "0 0 * * *"}, Macro{"@weekly", "0 0 * * 0"},
                            Macro{"@monthly", "0 0 1 * *"},  Macro{"@yearly", "0 0 1 1 *"},
                            Macro{"@annually", "0 0 1 1 *"}};

std::unexpected<Error> wrong_cron(std::string_view why) {
  return fail_field(Errc::invalid_input, "cron", fmt::format("cron: {}", why));
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (auto& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Reads one field of an expression.
class FieldParser {
 public:
  FieldParser(std::string_view whole, std::size_t begin, std::size_t end, std::size_t index)
      : whole_(whole), at_(begin), end_(end), rule_(field_rules[index]) {}

  Result<std::uint64_t> parse() {
    std::uint64_t bits = 0;
    while (true) {
      const auto part = parse_part();
      FF_TRY(part);
      bits |= *part;
      if (at_ == end_) return bits;
      if (whole_[at_] != ',') return wrong("expected ',', '-' or '/'");
      ++at_;
    }
  }

 private:
  std::unexpected<Error> wrong(std::string_view why) const {
    return wrong_cron(
        fmt::format("{} at position {} ({}) of '{}'", why, at_ + 1, rule_.name, printable(whole_)));
  }

  bool take(char c) {
    const bool found = at_ < end_ && whole_[at_] == c;
    if (found) ++at_;
    return found;
  }

  Result<unsigned> parse_number(std::string_view what) {
    const auto from = at_;
    while (at_ < end_ && is_digit(whole_[at_])) ++at_;
    unsigned number = 0;
    const auto* last = whole_.data() + at_;
    const auto [rest, error] = std::from_chars(whole_.data() + from, last, number);
    if (from != at_ && error == std::errc{}) return number;
    at_ = from;
    return wrong(fmt::format("expected {}", what));
  }

  Result<unsigned> parse_name() {
    const auto from = at_;
    while (at_ < end_ && is_letter(whole_[at_])) ++at_;
    const auto name = lower_case(whole_.substr(from, at_ - from));
    if (rule_.high == 12)
      if (const auto found = std::ranges::find(month_names, name); found != month_names.end())
        return static_cast<unsigned>(found - month_names.begin()) + 1;
    if (rule_.high == 7)
      if (const auto found = std::ranges::find(weekday_names, name); found != weekday_names.end())
        return static_cast<unsigned>(found - weekday_names.begin());
    at_ = from;
    return wrong(fmt::format("'{}' is no {}", name, rule_.name));
  }

  Result<unsigned> parse_value() {
    if (at_ < end_ && is_letter(whole_[at_])) return parse_name();
    const auto from = at_;
    const auto value = parse_number(fmt::format("a number from {} to {}", rule_.low, rule_.high));
    FF_TRY(value);
    if (*value >= rule_.low && *value <= rule_.high) return value;
    at_ = from;
    return wrong(fmt::format("{} is not from {} to {}", *value, rule_.low, rule_.high));
  }

  Result<std::uint64_t> parse_part() {
    const auto from = at_;
    unsigned low = rule_.low;
    unsigned high = rule_.high == 7 ? 6 : rule_.high;
    bool is_range = take('*');
    if (!is_range) {
      const auto first = parse_value();
      FF_TRY(first);
      low = high = *first;
      is_range = take('-');
      if (is_range) {
        const auto last = parse_value();
        FF_TRY(last);
        high = *last;
      }
    }
    if (low > high) {
      at_ = from;
      return wrong(fmt::format("the range ends before it begins; write {}-{},{}-{}", low,
                               rule_.high == 7 ? 6 : rule_.high, rule_.low, high));
    }
    unsigned step = 1;
    if (take('/')) {
      if (!is_range) return wrong("a step needs a range or '*' before it");
      const auto given = parse_number("a step");
      FF_TRY(given);
      if (*given == 0) return wrong("a step must be at least 1");
      step = *given;
    }
    std::uint64_t bits = 0;
    for (unsigned value = low; value <= high; value += std::min(step, 64U))
      bits |= std::uint64_t{1} << (rule_.high == 7 ? value % 7 : value);
    return bits;
  }

  std::string_view whole_;
  std::size_t at_;
  std::size_t end_;
  FieldRule rule_;
};

// "90s", "1h30m"
Result<Millis> parse_interval(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return wrong_cron(fmt::format("{} after @every, got '{}'", why, printable(text)));
  };
  Millis sum{0};
  const char* at = text.data();
  const char* const end = at + text.size();
  if (at == end) return wrong("expected an interval such as 90s");
  while (at != end) {
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || number < 0 || rest == end)
      return wrong("expected an interval such as 90s or 1h30m");
    Millis unit{};
    switch (*rest) {
      case 's': unit = seconds{1}; break;
      case 'm': unit = minutes{1}; break;
      case 'h': unit = std::chrono::hours{1}; break;
      case 'd': unit = std::chrono::days{1}; break;
      default: return wrong("expected a unit: s, m, h or d");
    }
    if (number > limits::duration_max / unit) return wrong("expected at most 10 years");
    sum += number * unit;
    at = rest + 1;
  }
  if (sum < limits::schedule_interval_min || sum > limits::duration_max)
    return wrong("expected from 1 second to 10 years");
  return sum;
}

}  // namespace

Result<Cron> Cron::parse(std::string_view text) {
  if (text.size() > limits::cron_bytes_max)
    return wrong_cron(fmt::format("at most {} bytes are allowed", limits::cron_bytes_max));
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);

  Cron cron;
  constexpr std::string_view every = "@every ";
  if (text.starts_with(every)) {
    const auto interval = parse_interval(text.substr(text.find_first_not_of(' ', every.size())));
    FF_TRY(interval);
    cron.interval_ = *interval;
    return cron;
  }
  if (text.starts_with('@')) {
    const auto macro = std::ranges::find(macros, lower_case(text), &Macro::name);
    if (macro != macros.end()) return parse(macro->expression);
    return wrong_cron(fmt::format(
        "'{}' is no macro; there are @hourly, @daily, @midnight, @weekly, @monthly, @yearly, "
        "@annually and @every INTERVAL",
        printable(text)));
  }

  const std::array sets{&cron.minutes_, &cron.hours_, &cron.days_, &cron.months_, &cron.weekdays_};
  std::size_t at = 0;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    while (at < text.size() && is_blank(text[at])) ++at;
    auto end = at;
    while (end < text.size() && !is_blank(text[end])) ++end;
    if (at == end)
      return wrong_cron(fmt::format(
          "expected five fields (minute, hour, day of month, month, day of week), got {}: '{}'", i,
          printable(text)));
    const auto bits = FieldParser(text, at, end, i).parse();
    FF_TRY(bits);
    *sets[i] = *bits;
    if (i == 2) cron.any_day_ = text[at] == '*';
    if (i == 4) cron.any_weekday_ = text[at] == '*';
    at = end;
  }
  if (at != text.size())
    return wrong_cron(fmt::format("more than five fields: '{}'", printable(text)));
  return cron;
}

bool Cron::allows_day(unsigned day, unsigned weekday) const {
  const bool by_day = days_ >> day & 1;
  const bool by_weekday = weekdays_ >> weekday & 1;
  return any_day_ || any_weekday_ ? by_day && by_weekday : by_day || by_weekday;
}

// ---- Zones ----------------------------------------------------------------------------------------

Result<Zone> Zone::find(std::string_view name) {
  const auto unknown = [&] {
    return fail_field(
        Errc::invalid_input, "zone",
        fmt::format("'{}' is no time zone that this machine knows; one is named as in "
                    "Europe/Berlin or UTC",
                    printable(name)));
  };
  // The database reads a file of that name.
  const bool fits = !name.empty() && name.size() <= limits::zone_bytes_max &&
                    name.find("..") == std::string_view::npos && name.front() != '/';
  if (!fits) return unknown();
  try {
    return Zone(*date::locate_zone(name));
  } catch (const std::exception&) {
    return unknown();
  }
}

// ---- Times ----------------------------------------------------------------------------------------

namespace {

// The first allowed local time from `from` on and before `limit`.
std::optional<LocalSeconds> first_match(const Cron& cron, LocalSeconds from, LocalSeconds limit) {
  auto start = date::ceil<minutes>(from);
  for (auto day = date::floor<date::days>(start); day < limit;) {
    const date::year_month_day ymd(day);
    if (!cron.allows_month(unsigned(ymd.month()))) {
      day = date::local_days(date::year_month(ymd.year(), ymd.month()) / 1 + date::months{1});
      continue;
    }
    if (cron.allows_day(unsigned(ymd.day()), date::weekday(day).c_encoding())) {
      const unsigned first = start > day ? static_cast<unsigned>((start - day).count()) : 0;
      for (unsigned hour = first / 60; hour < 24; ++hour) {
        if (!cron.allows_hour(hour)) continue;
        for (unsigned minute = hour == first / 60 ? first % 60 : 0; minute < 60; ++minute) {
          if (!cron.allows_minute(minute)) continue;
          const LocalSeconds found = day + std::chrono::hours{hour} + minutes{minute};
          if (found < limit) return found;
          return std::nullopt;
        }
      }
    }
    day += date::days{1};
  }
  return std::nullopt;
}

LocalSeconds local(SysSeconds time, seconds offset) {
  return LocalSeconds{time.time_since_epoch() + offset};
}
SysSeconds instant(LocalSeconds time, seconds offset) {
  return SysSeconds{time.time_since_epoch() - offset};
}

// Looks in the span of time in which the zone has one offset, then in the next one.
std::optional<SysSeconds> next_match(const Cron& cron, const date::time_zone& zone,
                                     SysSeconds after) {
  const auto until = after + horizon;
  auto from = after + seconds{1};
  while (from < until) {
    const auto span = zone.get_info(from);
    const auto end = std::min(span.end, until);
    auto first = local(from, span.offset);
    // The change of offset at the begin of the span is one in the past of the zone, not that of all time.
    const bool has_change = span.begin > SysSeconds{} - std::chrono::days{366 * 1'000};
    if (has_change && !cron.has_every_hour()) {
      const auto before = zone.get_info(span.begin - seconds{1}).offset;
      const auto skipped = local(span.begin, before);
      const auto begin = local(span.begin, span.offset);
      if (from == span.begin && skipped < begin && first_match(cron, skipped, begin))
        return span.begin;
      first = std::max(first, skipped);  // the local times before were there a first time
    }
    if (const auto found = first_match(cron, first, local(end, span.offset)))
      return instant(*found, span.offset);
    from = end;
  }
  return std::nullopt;
}

TimePoint interval_after(Millis interval, TimePoint anchor, TimePoint after) {
  if (after < anchor) return anchor;
  return anchor + ((after - anchor) / interval + 1) * interval;
}

}  // namespace

std::optional<TimePoint> Calendar::next(TimePoint after) const {
  if (starts_at) after = std::max(after, *starts_at - Millis{1});
  std::optional<TimePoint> found;
  if (cron.interval()) {
    found = interval_after(*cron.interval(), anchor, after);
  } else if (const auto match = next_match(cron, zone.get(), date::floor<seconds>(after))) {
    found = TimePoint{match->time_since_epoch()};
  }
  if (!found || (ends_at && *found >= *ends_at) || *found >= limits::time_max) return std::nullopt;
  return found;
}

std::vector<TimePoint> Calendar::times(TimePoint after, std::size_t max) const {
  std::vector<TimePoint> found;
  for (auto time = next(after); time && found.size() < max; time = next(*time))
    found.push_back(*time);
  return found;
}

}  // namespace ff::core
