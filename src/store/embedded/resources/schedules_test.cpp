#include "store/embedded/resources/schedules.hpp"

#include "core/schedules/schedule.hpp"
#include "store/embedded/resources/test_support.hpp"
#include "store/schedule_record.hpp"

namespace ff::embedded {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Uuid version(std::uint8_t number) { return Uuid{{number}}; }

class SchedulesTest : public DeskTest {
 protected:
  static core::ScheduleKey key(const char* name, const char* ns = "default") {
    return {.ns = *Namespace::parse(ns), .name = *ScheduleName::parse(name)};
  }
  bool swap(const core::ScheduleKey& at, std::optional<Uuid> expected, std::optional<Uuid> next,
            std::optional<Millis> due_in = {}) {
    core::SwapSchedule command{.key = at, .expected = expected};
    if (next) command.next = core::StoredSchedule{.record = "record", .version = *next};
    if (due_in) command.due = clock_->now() + *due_in;
    return must(run(std::move(command)));
  }
  std::optional<Uuid> version_of(const core::ScheduleKey& at) {
    const auto stored = must(run(core::ReadSchedule{at}));
    return stored ? std::optional(stored->version) : std::nullopt;
  }
  std::vector<core::ScheduleKey> due(std::size_t max = 10) {
    return must(run(core::SchedulesDue{max})).due;
  }
};

TEST_F(SchedulesTest, OnlyTheExpectedVersionIsReplaced) {
  open();
  EXPECT_EQ(version_of(key("a")), std::nullopt);
  EXPECT_FALSE(swap(key("a"), version(1), version(2))) << "there is none";
  EXPECT_TRUE(swap(key("a"), std::nullopt, version(1)));
  EXPECT_FALSE(swap(key("a"), std::nullopt, version(2))) << "there is one";
  EXPECT_TRUE(swap(key("a"), version(1), version(2)));
  EXPECT_FALSE(swap(key("a"), version(1), std::nullopt));
  EXPECT_EQ(version_of(key("a")), version(2));
  EXPECT_TRUE(swap(key("a"), version(2), std::nullopt));
  EXPECT_EQ(version_of(key("a")), std::nullopt);
}

TEST_F(SchedulesTest, TheLongestOverdueComesFirst) {
  open();
  swap(key("late"), std::nullopt, version(1), 2s);
  swap(key("early"), std::nullopt, version(1), 1s);
  swap(key("never"), std::nullopt, version(1));
  EXPECT_THAT(due(), IsEmpty());
  EXPECT_EQ(must(run(core::SchedulesDue{10})).next, clock_->now() + 1s);
  clock_->advance(2s);
  EXPECT_THAT(due(), ElementsAre(key("early"), key("late")));
  EXPECT_THAT(due(1), ElementsAre(key("early")));
  swap(key("early"), version(1), version(2), 1h);
  swap(key("late"), version(1), std::nullopt);
  EXPECT_THAT(due(), IsEmpty());
}

TEST_F(SchedulesTest, NamesAreOfTheirNamespace) {
  open();
  for (const auto* name : {"b", "a", "c"}) swap(key(name), std::nullopt, version(1));
  swap(key("d", "other"), std::nullopt, version(1));
  const auto all = default_namespace();
  EXPECT_THAT(must(run(core::FindSchedules{.ns = all, .max = 2})),
              ElementsAre(key("a").name, key("b").name));
  EXPECT_THAT(must(run(core::FindSchedules{.ns = all, .after = key("b").name, .max = 2})),
              ElementsAre(key("c").name));
  EXPECT_EQ(must(run(core::CountSchedules{all})), 3u);
  EXPECT_EQ(must(run(core::CountSchedules{*Namespace::parse("none")})), 0u);
}

TEST_F(SchedulesTest, WhatWasAnsweredSurvivesAPowerCut) {
  open_on_disk();
  swap(key("a"), std::nullopt, version(1), 1s);
  swap(key("b"), std::nullopt, version(1));
  swap(key("b"), version(1), std::nullopt);
  cut_power();
  open_on_disk();
  EXPECT_EQ(version_of(key("a")), version(1));
  EXPECT_EQ(version_of(key("b")), std::nullopt);
  clock_->advance(1s);
  EXPECT_THAT(due(), ElementsAre(key("a")));
}

// ---- The record -----------------------------------------------------------------------------------

core::Schedule full_schedule() {
  const TimePoint t0{1'000s};
  core::Schedule schedule{
      .key = {.ns = *Namespace::parse("tenant"), .name = *ScheduleName::parse("s")},
      .spec = {.cron = "0 3 * * *",
               .zone = "Europe/Berlin",
               .overlap = Overlap::replace,
               .catch_up_max = 7,
               .jitter = 5s,
               .starts_at = t0,
               .ends_at = t0 + 1h},
      .incarnation = version(9),
      .anchor = t0,
      .paused = SchedulePause{.at = t0, .reason = "why", .requested_by = "ada"},
      .next = t0 + 1s,
      .last = t0 + 2s,
      .starting = {t0 + 3s},
      .queued = {t0 + 4s, t0 + 5s},
      .look_at = t0 + 6s,
      .running = {{.execution = ExecutionId{7, version(1)}}, {.flow = FlowId{version(2)}}},
      .fires = {{.scheduled_at = t0,
                 .at = t0 + 1s,
                 .outcome = FireOutcome::failed,
                 .manual = true,
                 .execution = ExecutionId{7, version(1)},
                 .count = 3,
                 .detail = "no"}},
      .started = 1,
      .skipped = 2,
      .missed = 3,
      .failed = 4,
      .created_at = t0,
      .updated_at = t0 + 7s};
  schedule.spec.execution = Submit{.ns = schedule.key.ns,
                                   .lane = *LaneId::parse("lane"),
                                   .kind = *Kind::parse("kind"),
                                   .priority = 3,
                                   .payload = std::string("\0\xff", 2),
                                   .content_type = *ContentType::parse("image/png"),
                                   .tags = {{"app.a", "b"}},
                                   .policy = {.max_replay_count = 2}};
  return schedule;
}

TEST(ScheduleRecord, BringsBackEverything) {
  const auto full = full_schedule();
  const auto read = must(store::decode_schedule(store::encode(full)));
  EXPECT_EQ(store::encode(read), store::encode(full));
  EXPECT_EQ(read.key, full.key);
  EXPECT_EQ(read.spec.execution->payload, full.spec.execution->payload);
  EXPECT_EQ(read.spec.execution->ns, full.key.ns);
  EXPECT_EQ(read.spec.execution->policy, full.spec.execution->policy);
  EXPECT_EQ(read.paused, full.paused);
  EXPECT_EQ(read.fires, full.fires);
  EXPECT_EQ(read.running, full.running);
  EXPECT_EQ(read.queued, full.queued);
  EXPECT_EQ(core::due_at(read), core::due_at(full));
}

TEST(ScheduleRecord, BringsBackAFlow) {
  auto schedule = full_schedule();
  schedule.spec.execution.reset();
  schedule.spec.flow =
      SubmitFlow{.ns = schedule.key.ns,
                 .kind = *Kind::parse("release"),
                 .nodes = {{.name = *NodeName::parse("a"), .kind = *Kind::parse("k")}},
                 .on_failure = FlowFailure::stop,
                 .result = *NodeName::parse("a"),
                 .tags = {{"app.a", "b"}},
                 .budgets = {BudgetId{version(3)}},
                 .retention = 5s};
  const auto read = must(store::decode_schedule(store::encode(schedule)));
  EXPECT_EQ(store::encode(read.spec), store::encode(schedule.spec));
  EXPECT_EQ(read.spec.flow->nodes.at(0).name.str(), "a");
  EXPECT_EQ(read.spec.flow->budgets, schedule.spec.flow->budgets);
  EXPECT_EQ(read.spec.flow->retention, 5s);
}

TEST(ScheduleRecord, DamageIsReported) {
  const auto bytes = store::encode(full_schedule());
  // A record that is cut off inside its spec, and others.
  for (const auto& damaged : {std::string("rubbish"), bytes.substr(0, 30), std::string()}) {
    const auto read = store::decode_schedule(damaged);
    ASSERT_FALSE(read) << damaged.size();
    EXPECT_EQ(read.error().code, Errc::store_damaged);
  }
}

}  // namespace
}  // namespace ff::embedded
