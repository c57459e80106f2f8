#include "core/schedules/schedule.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ff::core {
namespace {

using namespace std::chrono_literals;

// A Thursday at midnight.
constexpr TimePoint midnight{std::chrono::days{20'454}};

Submit work() { return {.kind = *Kind::parse("report")}; }

ScheduleSpec hourly(Overlap overlap = Overlap::skip) {
  return {.cron = "0 * * * *", .execution = work(), .overlap = overlap};
}

class ScheduleTest : public ::testing::Test {
 protected:
  void make(ScheduleSpec spec) {
    schedule_ = must(make_schedule({.name = *ScheduleName::parse("s"), .spec = std::move(spec)},
                                   Uuid{{1}}, midnight));
  }
  // Decides at that time, and starts what is to be started.
  void at(Millis time) {
    const auto now = midnight + time;
    if (!is_to_decide(schedule_, now)) return;
    must(decide(schedule_, now));
    while (!schedule_.starting.empty()) {
      const ScheduleStart start{
          .execution = ExecutionId{1, start_id(schedule_, schedule_.starting.front())}};
      note_start(schedule_, start, now);
    }
  }
  void all_end() { schedule_.running.clear(); }

  // The fires, the oldest first: "started 60 skipped 120", in minutes since midnight.
  std::string fires() const {
    std::string text;
    for (auto fire = schedule_.fires.rbegin(); fire != schedule_.fires.rend(); ++fire)
      text += fmt::format("{}{} {}{}", text.empty() ? "" : " ", to_string(fire->outcome),
                          minutes(fire->scheduled_at),
                          fire->count > 1 ? fmt::format("x{}", fire->count) : "");
    return text;
  }
  static std::int64_t minutes(TimePoint time) {
    return std::chrono::floor<std::chrono::minutes>(time - midnight).count();
  }
  std::int64_t next() const { return schedule_.next ? minutes(*schedule_.next) : -1; }

  Schedule schedule_;
};

TEST_F(ScheduleTest, TimesStartOneAfterTheOther) {
  make(hourly());
  EXPECT_EQ(due_at(schedule_), midnight + 1h);
  at(59min);
  EXPECT_EQ(fires(), "");
  at(60min);
  all_end();
  at(120min);
  EXPECT_EQ(fires(), "started 60 started 120");
  EXPECT_EQ(next(), 180);
  EXPECT_EQ(schedule_.started, 2u);
}

TEST_F(ScheduleTest, ATimeIsNeverUsedTwiceThoughTheClockGoesBack) {
  make(hourly());
  at(60min);
  all_end();
  at(30min);
  at(60min);
  EXPECT_EQ(fires(), "started 60");
  must(replace_spec(schedule_, {.cron = "0,30 * * * *", .execution = work()}, midnight + 30min));
  EXPECT_EQ(next(), 90);
}

TEST_F(ScheduleTest, OverlapSkips) {
  make(hourly(Overlap::skip));
  at(60min);
  at(120min);
  all_end();
  at(180min);
  EXPECT_EQ(fires(), "started 60 skipped 120 started 180");
}

TEST_F(ScheduleTest, OverlapQueuesABoundedNumber) {
  make(hourly(Overlap::queue));
  for (int hour = 1; hour <= 13; ++hour) at(hour * 1h);
  EXPECT_EQ(schedule_.queued.size(), limits::schedule_queue_max);
  EXPECT_EQ(fires(), "started 60 skipped 720 skipped 780");
  all_end();
  at(13h + 1min);
  EXPECT_EQ(schedule_.fires.front().scheduled_at, midnight + 2h);
  EXPECT_EQ(schedule_.queued.size(), limits::schedule_queue_max - 1);
}

TEST_F(ScheduleTest, OverlapReplaces) {
  make(hourly(Overlap::replace));
  at(60min);
  at(120min);
  EXPECT_EQ(fires(), "started 60 started 120");
  EXPECT_EQ(schedule_.running.size(), 1u);
}

TEST_F(ScheduleTest, AfterAnOutageTheLatestTimesStart) {
  make(hourly());
  at(5h);
  EXPECT_EQ(fires(), "missed 240x4 started 300");
  EXPECT_EQ(schedule_.missed, 4u);

  auto spec = hourly(Overlap::queue);
  spec.catch_up_max = 3;
  make(spec);
  at(5h + 20min);
  EXPECT_EQ(fires(), "missed 120x2 started 180");
  EXPECT_EQ(schedule_.queued.size(), 2u);
}

TEST_F(ScheduleTest, WithoutCatchUpALateTimeIsMissed) {
  auto spec = hourly();
  spec.catch_up_max = 0;
  make(spec);
  at(1h + 30s);
  EXPECT_EQ(fires(), "started 60") << "half a minute is not late";
  all_end();
  at(2h + 2min);
  EXPECT_EQ(fires(), "started 60 missed 120");
}

TEST_F(ScheduleTest, AVeryLongOutageIsDecidedStepByStep) {
  make({.cron = "@every 1s", .execution = work(), .catch_up_max = 2, .starts_at = midnight});
  const auto now = midnight + 25'000s;
  int steps = 0;
  while (schedule_.next && *schedule_.next <= now && ++steps < 10) at(25'000s);
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(schedule_.missed, 25'000u - 2);
  EXPECT_EQ(schedule_.started + schedule_.skipped, 2u);
  EXPECT_EQ(*schedule_.next, now + 1s);
}

TEST_F(ScheduleTest, JitterDelaysATimeAlwaysByTheSame) {
  auto spec = hourly();
  spec.jitter = 10min;
  make(spec);
  std::set<TimePoint> delays;
  for (int i = 0; i < 20; ++i) {
    const auto due = *due_at(schedule_);
    EXPECT_EQ(due_at(schedule_), due);
    EXPECT_GE(due, *schedule_.next);
    EXPECT_LT(due, *schedule_.next + 10min);
    delays.insert(TimePoint{due - *schedule_.next});
    at(due - midnight);
    all_end();
  }
  EXPECT_GT(delays.size(), 10u);
  EXPECT_EQ(schedule_.started, 20u);
}

TEST_F(ScheduleTest, APauseForgetsTheTimesInIt) {
  make(hourly());
  pause(schedule_, {.name = {}, .reason = "moving"}, midnight + 10min);
  EXPECT_EQ(due_at(schedule_), std::nullopt);
  at(3h);
  must(resume(schedule_, midnight + 3h + 1min));
  EXPECT_EQ(next(), 240);
  EXPECT_EQ(fires(), "");
}

TEST_F(ScheduleTest, WhatIsBeingStartedIsDueAtOnce) {
  make(hourly());
  must(decide(schedule_, midnight + 1h));
  ASSERT_EQ(schedule_.starting.size(), 1u);
  EXPECT_EQ(due_at(schedule_), midnight + 1h);
  EXPECT_FALSE(is_to_decide(schedule_, midnight + 5h)) << "one after the other";
  note_start(schedule_, fail(Errc::invalid_input, "too large"), midnight + 1h);
  EXPECT_EQ(fires(), "failed 60");
  EXPECT_EQ(schedule_.fires.front().detail, "too large");
  EXPECT_EQ(next(), 120);
}

TEST_F(ScheduleTest, ItRemembersOnlySoMuch) {
  make(hourly());
  for (int hour = 1; hour <= 50; ++hour) {
    at(hour * 1h);
    note_run(
        schedule_,
        {.execution = ExecutionId{1, start_id(schedule_, RequestId{Uuid{{std::uint8_t(hour)}}})}},
        midnight + hour * 1h);
  }
  EXPECT_EQ(schedule_.fires.size(), limits::schedule_fires_max);
  EXPECT_EQ(schedule_.running.size(), limits::schedule_running_max);
}

TEST_F(ScheduleTest, IdsDependOnTheTimeAndOnTheIncarnation) {
  make(hourly());
  const auto first = start_id(schedule_, midnight);
  EXPECT_EQ(first, start_id(schedule_, midnight));
  EXPECT_NE(first, start_id(schedule_, midnight + 1h));
  schedule_.incarnation = Uuid{{2}};
  EXPECT_NE(first, start_id(schedule_, midnight));
}

// ---- Bad input ------------------------------------------------------------------------------------

std::string refusal(const ScheduleSpec& spec) {
  const auto valid = validate_spec(spec, default_namespace(), 8);
  if (valid) return "valid";
  return std::string(valid.error().name()) + " " + valid.error().details.at(0).value;
}

TEST(ScheduleSpec, IsCheckedBeforeItIsStored) {
  EXPECT_EQ(refusal(hourly()), "valid");
  const auto changed = [](auto change) {
    auto spec = hourly();
    change(spec);
    return refusal(spec);
  };
  EXPECT_EQ(changed([](auto& spec) { spec.cron = "* * *"; }), "invalid_input cron");
  EXPECT_EQ(changed([](auto& spec) { spec.cron = "0 0 31 2 *"; }), "invalid_input cron");
  EXPECT_EQ(changed([](auto& spec) { spec.zone = "Mars/Olympus"; }), "invalid_input zone");
  EXPECT_EQ(changed([](auto& spec) { spec.jitter = -1ms; }), "invalid_input jitter_ms");
  EXPECT_EQ(changed([](auto& spec) { spec.jitter = 25h; }), "invalid_input jitter_ms");
  EXPECT_EQ(changed([](auto& spec) { spec.catch_up_max = 101; }), "invalid_input catch_up_max");
  EXPECT_EQ(changed([](auto& spec) {
              spec.starts_at = midnight;
              spec.ends_at = midnight;
            }),
            "invalid_input ends_at_ms");
  EXPECT_EQ(changed([](auto& spec) { spec.execution.reset(); }), "invalid_input execution");
  EXPECT_EQ(changed([](auto& spec) { spec.flow = SubmitFlow{}; }), "invalid_input execution");
  EXPECT_EQ(changed([](auto& spec) { spec.execution->kind = {}; }), "invalid_input execution.kind");
  EXPECT_EQ(changed([](auto& spec) {
              spec.execution->id = ExecutionId{1, {}};
            }),
            "invalid_input execution.id");
  EXPECT_EQ(changed([](auto& spec) { spec.execution->deadline = midnight; }),
            "invalid_input execution.deadline_ms");
  EXPECT_EQ(changed([](auto& spec) { spec.execution->ns = *Namespace::parse("other"); }),
            "invalid_input execution.namespace");
  EXPECT_EQ(changed([](auto& spec) {
              spec.execution.reset();
              spec.flow = SubmitFlow{.nodes = {}};
            }),
            "invalid_input flow.nodes");
  EXPECT_EQ(changed([](auto& spec) {
              spec.execution.reset();
              spec.flow = SubmitFlow{.nodes = {{.name = *NodeName::parse("a"),
                                                .kind = *Kind::parse("k"),
                                                .delay_until = midnight}}};
            }),
            "invalid_input flow.nodes[0].delay_until_ms");
}

}  // namespace
}  // namespace ff::core
