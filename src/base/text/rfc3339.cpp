#include "base/text/rfc3339.hpp"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/text/utf8.hpp"

namespace ff {
namespace {

using namespace std::chrono;

// Takes text from the front; the first thing that does not fit ends it.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  std::optional<int> digits(std::size_t count) {
    int number = 0;
    const auto part = text_.substr(0, count);
    const auto [end, failed] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (part.size() < count || part.starts_with('-') || failed != std::errc{} ||
        end != part.data() + count)
      return std::nullopt;
    text_.remove_prefix(count);
    return number;
  }
  bool skip(std::string_view any_of) {
    if (text_.empty() || any_of.find(text_[0]) == std::string_view::npos) return false;
    last_ = text_[0];
    text_.remove_prefix(1);
    return true;
  }
  char last() const { return last_; }
  bool at_end() const { return text_.empty(); }
  std::size_t leading_digits() const {
    return std::min(text_.find_first_not_of("0123456789"), text_.size());
  }

 private:
  std::string_view text_;
  char last_ = 0;
};

std::optional<minutes> read_offset(Cursor& cursor) {
  if (cursor.skip("Zz")) return minutes{0};
  if (!cursor.skip("+-")) return std::nullopt;
  const bool east = cursor.last() == '+';
  const auto hour = cursor.digits(2);
  if (!hour || *hour > 23 || !cursor.skip(":")) return std::nullopt;
  const auto minute = cursor.digits(2);
  if (!minute || *minute > 59) return std::nullopt;
  const auto offset = hours{*hour} + minutes{*minute};
  return east ? offset : -offset;
}

std::optional<milliseconds> read_fraction(Cursor& cursor) {
  if (!cursor.skip(".")) return milliseconds{0};
  const auto size = cursor.leading_digits();
  if (size == 0 || size > 3) return std::nullopt;
  auto value = cursor.digits(size);
  for (auto i = size; value && i < 3; ++i) *value *= 10;
  if (!value) return std::nullopt;
  return milliseconds{*value};
}

std::optional<TimePoint> read(std::string_view text) {
  Cursor cursor(text);
  const auto y = cursor.digits(4);
  if (!y || !cursor.skip("-")) return std::nullopt;
  const auto m = cursor.digits(2);
  if (!m || !cursor.skip("-")) return std::nullopt;
  const auto d = cursor.digits(2);
  if (!d || !cursor.skip("Tt ")) return std::nullopt;
  const auto hour = cursor.digits(2);
  if (!hour || *hour > 23 || !cursor.skip(":")) return std::nullopt;
  const auto minute = cursor.digits(2);
  if (!minute || *minute > 59 || !cursor.skip(":")) return std::nullopt;
  const auto second = cursor.digits(2);
  if (!second || *second > 59) return std::nullopt;
  const auto fraction = read_fraction(cursor);
  if (!fraction) return std::nullopt;
  const auto offset = read_offset(cursor);
  const year_month_day date{year{*y}, month{static_cast<unsigned>(*m)},
                            day{static_cast<unsigned>(*d)}};
  if (!offset || !cursor.at_end() || !date.ok()) return std::nullopt;
  return time_point_cast<Millis>(sys_days{date} + hours{*hour} + minutes{*minute} +
                                 seconds{*second} + *fraction - *offset);
}

}  // namespace

Result<TimePoint> parse_rfc3339(std::string_view text) {
  if (const auto time = read(text)) return *time;
  return fail(Errc::invalid_input,
              fmt::format("'{}' is not a time like 2027-01-31T08:30:00Z", printable(text)));
}

std::string to_rfc3339(TimePoint time) {
  const auto midnight = floor<days>(time);
  const year_month_day date{midnight};
  const hh_mm_ss clock{time - midnight};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

}  // namespace ff
