// Times of a calendar: cron expressions and time zones.
//
//   expression := minute hour day_of_month month day_of_week | macro | '@every' interval
//   field      := part (',' part)*          part := ('*' | value | value '-' value) ('/' step)?
//   macro      := '@hourly' | '@daily' | '@midnight' | '@weekly' | '@monthly' | '@yearly' | '@annually'
//   interval   := (number ('s' | 'm' | 'h' | 'd'))+
//
// Months and days of the week may be names of three letters; 0 and 7 are Sunday. If neither of the two fields for
// days begins with '*', a day matches if one of them does.
#pragma once

#include <flowfabric/error.hpp>
#include <flowfabric/time.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace date {
class time_zone;
}

namespace ff::core {

// An expression of any kind.
class Cron {
 public:
  // Fails with invalid_input of the field `cron`, and says at which position.
  static Result<Cron> parse(std::string_view text);

  // Of @every.
  const std::optional<Millis>& interval() const { return interval_; }
  // Then real time counts: a local hour that comes twice is used twice.
  bool has_every_hour() const { return hours_ == all_hours; }

  // A bit for each value that a field allows.
  bool allows_minute(unsigned minute) const { return minutes_ >> minute & 1; }
  bool allows_hour(unsigned hour) const { return hours_ >> hour & 1; }
  bool allows_month(unsigned month) const { return months_ >> month & 1; }
  bool allows_day(unsigned day, unsigned weekday) const;  // weekday 0: Sunday

 private:
  static constexpr std::uint64_t all_hours = (std::uint64_t{1} << 24) - 1;

  std::optional<Millis> interval_ = {};
  std::uint64_t minutes_ = 0;
  std::uint64_t hours_ = 0;
  std::uint64_t days_ = 0;
  std::uint64_t months_ = 0;
  std::uint64_t weekdays_ = 0;
  bool any_day_ = false;
  bool any_weekday_ = false;
};

// A time zone of the system's database.
class Zone {
 public:
  // Fails with invalid_input of the field `zone`.
  static Result<Zone> find(std::string_view name);
  const date::time_zone& get() const { return *zone_; }

 private:
  explicit Zone(const date::time_zone& zone) : zone_(&zone) {}
  const date::time_zone* zone_;  // the database stays as long as the process
};

// A rule for times.
struct Calendar {
  Cron cron;
  Zone zone;
  TimePoint anchor;  // that the intervals of @every are counted from
  std::optional<TimePoint> starts_at = {};
  std::optional<TimePoint> ends_at = {};

  // The first time after `after`, if there is one within eight years.
  //
  // An expression with every hour means real time: each instant whose local time matches. With other hours, local
  // time counts: a time that a change of the clock skips is at the end of the gap, and the times that one gap skips
  // are one; a time that comes twice is the first of the two.
  std::optional<TimePoint> next(TimePoint after) const;

  // The next ones, at most `max`.
  std::vector<TimePoint> times(TimePoint after, std::size_t max) const;
};

}  // namespace ff::core
