#include "core/schedules/cron.hpp"

#include <random>
#include <set>

#include <date/tz.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ff::core {
namespace {

using namespace std::chrono_literals;

TimePoint utc(const std::string& text) {
  std::istringstream in(text);
  date::sys_time<Millis> time;
  in >> date::parse("%Y-%m-%d %H:%M", time);
  EXPECT_FALSE(in.fail()) << text;
  return time;
}

Calendar calendar(std::string_view cron, std::string_view zone = "UTC") {
  return {.cron = must(Cron::parse(cron)), .zone = must(Zone::find(zone)), .anchor = TimePoint{}};
}

// The next times after one, in UTC, as in "03-29 01:00, 03-30 00:30".
std::string next(std::string_view cron, std::string_view zone, const std::string& after,
                 std::size_t count = 1) {
  std::string text;
  for (const auto& time : calendar(cron, zone).times(utc(after), count))
    text += (text.empty() ? "" : ", ") +
            date::format("%m-%d %H:%M", date::floor<std::chrono::minutes>(time));
  return text;
}

std::string error_of(std::string_view cron) {
  const auto parsed = Cron::parse(cron);
  EXPECT_FALSE(parsed) << cron;
  if (parsed) return "";
  EXPECT_EQ(parsed.error().code, Errc::invalid_input);
  EXPECT_EQ(parsed.error().details, (std::vector<Error::Detail>{{"field", "cron"}}));
  return parsed.error().message;
}

// ---- Expressions ----------------------------------------------------------------------------------

TEST(Cron, FieldsSelectTimes) {
  const std::string from = "2026-01-01 00:00";  // a Thursday
  EXPECT_EQ(next("* * * * *", "UTC", from, 2), "01-01 00:01, 01-01 00:02");
  EXPECT_EQ(next("*/20 * * * *", "UTC", from, 3), "01-01 00:20, 01-01 00:40, 01-01 01:00");
  EXPECT_EQ(next("5,10-12 3 * * *", "UTC", from, 5),
            "01-01 03:05, 01-01 03:10, 01-01 03:11, 01-01 03:12, 01-02 03:05");
  EXPECT_EQ(next("0 8-18/5 * * *", "UTC", from, 4),
            "01-01 08:00, 01-01 13:00, 01-01 18:00, 01-02 08:00");
  EXPECT_EQ(next("0 0 31 * *", "UTC", from, 3), "01-31 00:00, 03-31 00:00, 05-31 00:00");
  EXPECT_EQ(next("0 0 1 feb,Apr *", "UTC", from, 2), "02-01 00:00, 04-01 00:00");
  EXPECT_EQ(next("0 9 * * mon-FRI", "UTC", from, 3), "01-01 09:00, 01-02 09:00, 01-05 09:00");
  EXPECT_EQ(next("0 9 * * 0", "UTC", from, 1), next("0 9 * * 7", "UTC", from, 1));
  EXPECT_EQ(next("0 9 * * 6-7", "UTC", from, 3), "01-03 09:00, 01-04 09:00, 01-10 09:00");
}

TEST(Cron, ADayMatchesByEitherFieldIfBothAreRestricted) {
  const std::string from = "2026-01-01 00:00";
  EXPECT_EQ(next("0 0 13 * fri", "UTC", from, 4),
            "01-02 00:00, 01-09 00:00, 01-13 00:00, 01-16 00:00");
  EXPECT_EQ(next("0 0 */2 * fri", "UTC", from, 2), "01-09 00:00, 01-23 00:00")
      << "'*' restricts nothing";
}

TEST(Cron, MacrosStandForExpressions) {
  const std::string from = "2026-01-01 00:30";
  EXPECT_EQ(next("@hourly", "UTC", from), "01-01 01:00");
  EXPECT_EQ(next("@Daily", "UTC", from), "01-02 00:00");
  EXPECT_EQ(next("@weekly", "UTC", from), "01-04 00:00");
  EXPECT_EQ(next("@monthly", "UTC", from), "02-01 00:00");
  EXPECT_EQ(next("@yearly", "UTC", from), "01-01 00:00");
}

TEST(Cron, IntervalsAreCountedFromTheAnchor) {
  auto every = calendar("@every 1h30m");
  every.anchor = utc("2026-01-01 00:10");
  EXPECT_EQ(every.times(utc("2026-01-01 00:00"), 2),
            (std::vector{utc("2026-01-01 00:10"), utc("2026-01-01 01:40")}));
  EXPECT_EQ(every.next(utc("2026-01-01 01:40")), utc("2026-01-01 03:10"));
}

TEST(Cron, TimesLieBetweenStartAndEnd) {
  auto hourly = calendar("@hourly");
  hourly.starts_at = utc("2026-01-01 05:00");
  hourly.ends_at = utc("2026-01-01 07:00");
  EXPECT_EQ(hourly.times(utc("2026-01-01 00:00"), 9),
            (std::vector{utc("2026-01-01 05:00"), utc("2026-01-01 06:00")}));
}

TEST(Cron, ATwentyNinthOfFebruaryIsFoundAcrossACentury) {
  EXPECT_EQ(calendar("0 0 29 2 *").next(utc("2096-03-01 00:00")), utc("2104-02-29 00:00"));
  EXPECT_EQ(calendar("0 0 30 2 *").next(utc("2026-01-01 00:00")), std::nullopt);
}

TEST(Cron, WrongExpressionsAreRefusedWithThePlace) {
  EXPECT_EQ(error_of("0 25 * * *"),
            "cron: 25 is not from 0 to 23 at position 3 (hour) of '0 25 * * *'");
  EXPECT_EQ(error_of("61 * * * *"),
            "cron: 61 is not from 0 to 59 at position 1 (minute) of '61 * * * *'");
  EXPECT_EQ(error_of("0 0 0 * *"),
            "cron: 0 is not from 1 to 31 at position 5 (day of month) of '0 0 0 * *'");
  EXPECT_EQ(error_of("0 0 * foo *"),
            "cron: 'foo' is no month at position 7 (month) of '0 0 * foo *'");
  EXPECT_EQ(error_of("0 0 * * mon-8"),
            "cron: 8 is not from 0 to 7 at position 13 (day of week) of '0 0 * * mon-8'");
  EXPECT_EQ(error_of("50-10 * * * *"),
            "cron: the range ends before it begins; write 50-59,0-10 at position 1 (minute) of "
            "'50-10 * * * *'");
  EXPECT_EQ(error_of("5/15 * * * *"),
            "cron: a step needs a range or '*' before it at position 3 (minute) of '5/15 * * * *'");
  EXPECT_EQ(error_of("*/0 * * * *"),
            "cron: a step must be at least 1 at position 4 (minute) of '*/0 * * * *'");
  EXPECT_EQ(error_of("1,,2 * * * *"),
            "cron: expected a number from 0 to 59 at position 3 (minute) of '1,,2 * * * *'");
  EXPECT_EQ(error_of("* * * *"),
            "cron: expected five fields (minute, hour, day of month, month, day of week), got 4: "
            "'* * * *'");
  EXPECT_EQ(error_of("* * * * * *"), "cron: more than five fields: '* * * * * *'");
  EXPECT_NE(error_of("").find("got 0"), std::string::npos);
  EXPECT_NE(error_of("@never").find("'@never' is no macro"), std::string::npos);
  for (const auto* interval : {"@every 5", "@every -5s", "@every 0s", "@every 5x", "@every 11000d",
                               "@every 99999999999999999999s", "@every s"})
    EXPECT_NE(error_of(interval).find("@every"), std::string::npos) << interval;
  for (const auto* text :
       {"*1 * * * *", "1-2-3 * * * *", "1a * * * *", "* * * * \x01", "999999999999 * * * *"})
    error_of(text);
  error_of(std::string(257, '1'));
}

TEST(Zone, UnknownOnesAreRefused) {
  for (const auto* name : {"Mars/Olympus", "", "../etc/passwd", "/etc/passwd", "europe/berlin"}) {
    const auto zone = Zone::find(name);
    ASSERT_FALSE(zone) << name;
    EXPECT_EQ(zone.error().details, (std::vector<Error::Detail>{{"field", "zone"}}));
  }
}

// ---- Changes of the clock -------------------------------------------------------------------------

// Berlin: 2026-03-29 02:00 → 03:00 (01:00 UTC), 2026-10-25 03:00 → 02:00 (01:00 UTC).
TEST(DaylightSaving, ATimeInTheGapIsAtItsEnd) {
  EXPECT_EQ(next("30 2 * * *", "Europe/Berlin", "2026-03-27 12:00", 3),
            "03-28 01:30, 03-29 01:00, 03-30 00:30");
  EXPECT_EQ(next("*/20 2 * * *", "Europe/Berlin", "2026-03-29 00:59", 2),
            "03-29 01:00, 03-30 00:00")
      << "several in one gap are one";
  EXPECT_EQ(next("0 3 * * *", "Europe/Berlin", "2026-03-28 12:00", 2), "03-29 01:00, 03-30 01:00");
  EXPECT_EQ(next("30 2,3 * * *", "Europe/Berlin", "2026-03-28 12:00", 2),
            "03-29 01:00, 03-29 01:30");
}

TEST(DaylightSaving, ATimeThatComesTwiceIsTheFirst) {
  EXPECT_EQ(next("30 2 * * *", "Europe/Berlin", "2026-10-24 12:00", 2), "10-25 00:30, 10-26 01:30");
  EXPECT_EQ(next("30 2 * * *", "Europe/Berlin", "2026-10-25 00:45"), "10-26 01:30")
      << "also between the two";
  EXPECT_EQ(next("0 2,3 * * *", "Europe/Berlin", "2026-10-24 12:00", 2),
            "10-25 00:00, 10-25 02:00");
}

TEST(DaylightSaving, EveryHourMeansRealTime) {
  EXPECT_EQ(next("30 * * * *", "Europe/Berlin", "2026-03-29 00:00", 3),
            "03-29 00:30, 03-29 01:30, 03-29 02:30");
  EXPECT_EQ(next("30 * * * *", "Europe/Berlin", "2026-10-25 00:00", 3),
            "10-25 00:30, 10-25 01:30, 10-25 02:30");
}

// New York: 2026-03-08 02:00 → 03:00 (07:00 UTC), 2026-11-01 02:00 → 01:00 (06:00 UTC).
TEST(DaylightSaving, NewYork) {
  EXPECT_EQ(next("15 2 * * *", "America/New_York", "2026-03-07 12:00", 2),
            "03-08 07:00, 03-09 06:15");
  EXPECT_EQ(next("15 1 * * *", "America/New_York", "2026-10-31 12:00", 2),
            "11-01 05:15, 11-02 06:15");
  EXPECT_EQ(next("15 * * * *", "America/New_York", "2026-11-01 05:00", 3),
            "11-01 05:15, 11-01 06:15, 11-01 07:15");
}

// Lord Howe changes by half an hour: 2026-04-05 02:00 → 01:30 (15:00 UTC of the 4th), 2026-10-04 02:00 → 02:30
// (15:30 UTC of the 3rd).
TEST(DaylightSaving, LordHoweChangesByHalfAnHour) {
  EXPECT_EQ(next("15 2 * * *", "Australia/Lord_Howe", "2026-10-03 00:00", 2),
            "10-03 15:30, 10-04 15:15");
  EXPECT_EQ(next("45 1 * * *", "Australia/Lord_Howe", "2026-04-04 00:00", 2),
            "04-04 14:45, 04-05 15:15");
  EXPECT_EQ(next("45 * * * *", "Australia/Lord_Howe", "2026-04-04 14:00", 3),
            "04-04 14:45, 04-04 15:15, 04-04 16:15");
  EXPECT_EQ(next("15 * * * *", "Australia/Lord_Howe", "2026-10-03 15:00", 2),
            "10-03 16:15, 10-03 17:15")
      << "2:15 does not exist on that day";
}

TEST(DaylightSaving, ADayThatAZoneSkipsIsAGap) {
  // Apia went from 2011-12-29 24:00 to 2011-12-31 00:00.
  EXPECT_EQ(next("0 12 30 12 *", "Pacific/Apia", "2011-12-01 00:00"), "12-30 10:00");
}

// ---- A naive model --------------------------------------------------------------------------------

bool matches(const Cron& cron, date::local_seconds time) {
  const auto day = date::floor<date::days>(time);
  const date::year_month_day ymd(day);
  const date::hh_mm_ss clock(time - day);
  return clock.seconds() == 0s &&
         cron.allows_minute(static_cast<unsigned>(clock.minutes().count())) &&
         cron.allows_hour(static_cast<unsigned>(clock.hours().count())) &&
         cron.allows_month(unsigned(ymd.month())) &&
         cron.allows_day(unsigned(ymd.day()), date::weekday(day).c_encoding());
}

// Minute by minute: of real time with every hour, else of local time.
std::set<TimePoint> naive_times(const Calendar& calendar, date::sys_seconds from,
                                date::sys_seconds to) {
  std::set<TimePoint> times;
  const auto& zone = calendar.zone.get();
  if (calendar.cron.has_every_hour()) {
    for (auto time = from; time < to; time += 1min)
      if (matches(calendar.cron, zone.to_local(time))) times.insert(time);
    return times;
  }
  const auto last = zone.to_local(to) + 3h;
  for (auto time = zone.to_local(from) - 3h; time < last; time += 1min) {
    if (!matches(calendar.cron, time)) continue;
    const auto info = zone.get_info(time);
    const auto at = info.result == date::local_info::nonexistent
                        ? info.second.begin
                        : date::sys_seconds{time.time_since_epoch() - info.first.offset};
    if (at >= from && at < to) times.insert(at);
  }
  return times;
}

std::string random_field(std::mt19937& random, unsigned low, unsigned high) {
  const auto pick = [&](unsigned from, unsigned to) {
    return std::uniform_int_distribution<unsigned>(from, to)(random);
  };
  const auto first = pick(low, high);
  switch (pick(0, 4)) {
    case 0: return fmt::format("{}", first);
    case 1: return fmt::format("{}-{}", first, pick(first, high));
    case 2: return fmt::format("*/{}", pick(1, high));
    case 3: return fmt::format("{},{}", first, pick(low, high));
    default: return "*";
  }
}

TEST(Cron, AgreesWithANaiveModelAcrossChangesOfTheClock) {
  std::mt19937 random(20261119);
  const std::array zones{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
                         "UTC",           "America/St_Johns", "Asia/Kathmandu"};
  const std::array starts{"2026-03-07 00:00", "2026-03-27 00:00", "2026-04-03 00:00",
                          "2026-10-02 00:00", "2026-10-23 00:00", "2026-10-30 00:00"};
  for (int i = 0; i < 250; ++i) {
    const auto cron =
        fmt::format("{} {} {} {} {}", random_field(random, 0, 59), random_field(random, 0, 23),
                    i % 3 == 0 ? random_field(random, 1, 31) : "*",
                    i % 7 == 0 ? random_field(random, 1, 12) : "*",
                    i % 2 == 0 ? random_field(random, 0, 6) : "*");
    const auto each = calendar(cron, zones[static_cast<std::size_t>(i) % zones.size()]);
    const auto from = date::floor<std::chrono::seconds>(utc(starts[random() % starts.size()]));
    const auto to = from + std::chrono::days{4};
    const auto expected = naive_times(each, from, to);
    std::set<TimePoint> found;
    for (auto time = each.next(from - 1s); time && *time < to; time = each.next(*time))
      ASSERT_TRUE(found.insert(*time).second) << cron;
    EXPECT_EQ(found, expected) << cron << " in " << each.zone.get().name() << " from "
                               << date::format("%F", from);
  }
}

}  // namespace
}  // namespace ff::core
