#include "base/text/rfc3339.hpp"
#include "tests/conformance/flows/flow_fixture.hpp"

namespace ff::conformance {
namespace {

ScheduleName schedule_name(std::string text) { return must(ScheduleName::parse(std::move(text))); }
const ScheduleName nightly = schedule_name("nightly");

class Schedules : public FlowConformance {
 protected:
  static ScheduleSpec hourly(Overlap overlap = Overlap::skip) {
    return {.cron = "0 * * * *",
            .execution = Submit{.kind = greet, .payload = "in"},
            .overlap = overlap};
  }
  static ScheduleSpec hourly_flow(Overlap overlap = Overlap::skip) {
    ScheduleSpec spec{.cron = "0 * * * *", .overlap = overlap};
    spec.flow = SubmitFlow{.nodes = {node("a"), node("b", {dependency("a")})}};
    return spec;
  }
  PutScheduleReply put(ScheduleSpec spec, const ScheduleName& name = nightly) {
    return must(run(PutSchedule{.name = name, .spec = std::move(spec)}));
  }
  ScheduleInfo schedule(const ScheduleName& name = nightly) {
    return must(run(GetSchedule{.name = name}));
  }
  // To the next full hour, or the n-th.
  void pass_hours(int hours = 1) {
    home_->advance(next_hour() + (hours - 1) * 1h - now());
    home_->run_scanners();
  }
  TimePoint next_hour() { return std::chrono::floor<std::chrono::hours>(now()) + 1h; }

  // "started started skipped", the oldest first.
  std::string outcomes(const ScheduleName& name = nightly) {
    std::string text;
    const auto info = schedule(name);
    for (auto fire = info.fires.rbegin(); fire != info.fires.rend(); ++fire) {
      text += fmt::format("{}{}", text.empty() ? "" : " ", to_string(fire->outcome));
      if (fire->count > 1) text += fmt::format("x{}", fire->count);
    }
    return text;
  }
  std::size_t count_executions() { return must(run(ListExecutions{})).executions.size(); }
  FlowInfo newest_flow() { return must(run(GetFlow{.id = *schedule().fires.at(0).flow})); }
  ExecutionId newest_start() { return schedule().fires.at(0).execution.value(); }
};

// ---- Times ----------------------------------------------------------------------------------------

TEST_P(Schedules, EachTimeStartsOneExecution) {
  auto spec = hourly();
  spec.execution = Submit{.lane = lane("reports"),
                          .kind = greet,
                          .priority = 7,
                          .payload = std::string("a\0\xff", 3),
                          .content_type = *ContentType::parse("image/png"),
                          .tags = {{"app.team", "billing"}},
                          .policy = {.retry = RetryPolicy{.max_retries = 2}}};
  const auto made = put(spec);
  EXPECT_TRUE(made.created);
  EXPECT_EQ(made.schedule.next_at, next_hour());
  EXPECT_EQ(count_executions(), 0u);

  pass_hours();
  const auto info = schedule();
  ASSERT_EQ(info.fires.size(), 1u);
  EXPECT_EQ(info.fires[0].scheduled_at, now());
  EXPECT_EQ(info.fires[0].outcome, FireOutcome::started);
  EXPECT_EQ(info.started, 1u);
  EXPECT_EQ(info.next_at, now() + 1h);
  const auto execution = must(run(GetExecution{*info.fires[0].execution}));
  EXPECT_EQ(execution.lane, lane("reports"));
  EXPECT_EQ(execution.priority, 7);
  auto tags = spec.execution->tags;
  tags["schedule.name"] = "nightly";
  tags["schedule.time"] = to_rfc3339(now());
  EXPECT_EQ(execution.tags, tags);
  EXPECT_EQ(execution.policy, spec.execution->policy);
  EXPECT_EQ(
      must(run(GetPayload{execution.id})),
      (Bytes{.bytes = spec.execution->payload, .content_type = spec.execution->content_type}));

  home_->run_scanners();
  pass(59min);
  EXPECT_EQ(count_executions(), 1u);
  must(run(Cancel{.id = execution.id}));
  pass_hours();
  EXPECT_EQ(outcomes(), "started started");
  EXPECT_EQ(count_executions(), 2u);
}

TEST_P(Schedules, ARestartForgetsNothing) {
  put(hourly());
  pass_hours();
  const auto before = schedule();
  home_->restart();
  home_->run_scanners();
  const auto after = schedule();
  EXPECT_EQ(after.fires, before.fires);
  EXPECT_EQ(after.next_at, before.next_at);
  EXPECT_EQ(after.created_at, before.created_at);
  EXPECT_EQ(count_executions(), 1u);
  must(run(Cancel{.id = newest_start()}));
  pass_hours();
  EXPECT_EQ(outcomes(), "started started");
}

TEST_P(Schedules, AfterAnOutageTheLatestTimesStart) {
  put(hourly());
  pass_hours(6);
  EXPECT_EQ(outcomes(), "missedx5 started");
  EXPECT_EQ(schedule().missed, 5u);

  auto none = hourly();
  none.catch_up_max = 0;
  const auto other = schedule_name("other");
  put(none, other);
  advance(5h + 10min);
  home_->run_scanners();
  EXPECT_EQ(outcomes(other), "missedx5");
  pass_hours();
  EXPECT_EQ(outcomes(other), "missedx5 started");
}

TEST_P(Schedules, TimesEndWithTheirEnd) {
  auto spec = hourly();
  spec.ends_at = next_hour() + 1h;
  put(spec);
  pass_hours();
  EXPECT_EQ(schedule().next_at, std::nullopt);
  pass_hours();
  EXPECT_EQ(outcomes(), "started");
}

TEST_P(Schedules, AJitterDelaysTheStart) {
  auto spec = hourly();
  spec.jitter = 30min;
  put(spec);
  const auto time = next_hour();
  advance(time - now());
  home_->run_scanners();
  pass(30min);
  ASSERT_EQ(outcomes(), "started");
  EXPECT_EQ(schedule().fires[0].scheduled_at, time);
}

// ---- Overlap --------------------------------------------------------------------------------------

TEST_P(Schedules, ATimeIsSkippedWhileTheOneBeforeRuns) {
  put(hourly(Overlap::skip));
  pass_hours();
  pass_hours();
  EXPECT_EQ(outcomes(), "started skipped");
  EXPECT_EQ(schedule().skipped, 1u);
  must(run(complete(claim())));
  pass_hours();
  EXPECT_EQ(outcomes(), "started skipped started");
}

TEST_P(Schedules, AQueuedTimeStartsWhenTheOneBeforeHasEnded) {
  put(hourly(Overlap::queue));
  pass_hours();
  const auto first = newest_start();
  pass_hours();
  const auto second_time = now();
  EXPECT_EQ(schedule().queued, std::vector{second_time});
  pass(10min);
  EXPECT_EQ(outcomes(), "started");
  must(run(Cancel{.id = first}));
  pass(5s);
  EXPECT_EQ(outcomes(), "started started");
  EXPECT_EQ(schedule().fires[0].scheduled_at, second_time);
  EXPECT_EQ(schedule().queued, std::vector<TimePoint>{});
}

TEST_P(Schedules, ATimeReplacesWhatRuns) {
  put(hourly(Overlap::replace));
  pass_hours();
  const auto first = newest_start();
  const auto claimed = claim();
  EXPECT_EQ(claimed.id, first);
  pass_hours();
  EXPECT_EQ(outcomes(), "started started");
  EXPECT_EQ(state_of(first), ExecutionState::cancelled);
  EXPECT_EQ(info(first).cancel_reason, "replaced by the next time of schedule nightly");
  EXPECT_EQ(state_of(newest_start()), ExecutionState::waiting);
}

TEST_P(Schedules, WhatWasRemovedHasEnded) {
  auto spec = hourly();
  spec.execution->policy.retention = 1min;
  put(spec);
  pass_hours();
  const auto first = newest_start();
  must(run(complete(claim())));
  pass(2min);
  EXPECT_EQ(error_of(GetExecution{first}), Errc::execution_not_found);
  pass_hours();
  EXPECT_EQ(outcomes(), "started started");
}

// ---- Flows ----------------------------------------------------------------------------------------

TEST_P(Schedules, EachTimeStartsOneFlow) {
  put(hourly_flow());
  pass_hours();
  const auto first = newest_flow();
  EXPECT_EQ(states(first), "a=waiting b=waiting_children");
  pass_hours();
  EXPECT_EQ(outcomes(), "started skipped");
  complete_node(first, "a");
  complete_node(first, "b");
  home_->run_scanners();
  pass_hours();
  EXPECT_EQ(outcomes(), "started skipped started");
  EXPECT_EQ(must(run(ListFlows{})).flows.size(), 2u);
}

TEST_P(Schedules, AFlowIsReplacedAsAWhole) {
  put(hourly_flow(Overlap::replace));
  pass_hours();
  const auto first = newest_flow();
  pass_hours();
  home_->run_scanners();
  EXPECT_EQ(flow(first).state, FlowState::cancelled);
  EXPECT_EQ(outcomes(), "started started");
}

TEST_P(Schedules, AQueuedTimeWaitsForTheEndOfAFlow) {
  put(hourly_flow(Overlap::queue));
  pass_hours();
  const auto first = newest_flow();
  pass_hours();
  EXPECT_EQ(outcomes(), "started");
  must(run(CancelFlow{.id = first.id}));
  home_->run_scanners();
  pass(5s);
  EXPECT_EQ(outcomes(), "started started");
}

// ---- Changes --------------------------------------------------------------------------------------

TEST_P(Schedules, PutIsSafeToRepeat) {
  put(hourly());
  pass(10min);
  const auto again = put(hourly());
  EXPECT_TRUE(again.unchanged);
  EXPECT_FALSE(again.created);
  EXPECT_EQ(again.schedule.updated_at, again.schedule.created_at);

  auto other = hourly();
  other.execution->payload = "other";
  const auto replaced = put(other);
  EXPECT_FALSE(replaced.unchanged);
  EXPECT_EQ(replaced.schedule.next_at, next_hour());
  EXPECT_EQ(replaced.schedule.updated_at, now());
  pass_hours();
  EXPECT_EQ(must(run(GetPayload{newest_start()})).bytes, "other");
}

TEST_P(Schedules, AnotherCalendarBeginsWithTheChange) {
  put(hourly());
  pass_hours();
  auto spec = hourly();
  spec.cron = "*/30 * * * *";
  EXPECT_EQ(put(spec).schedule.next_at, now() + 30min) << "this hour was used";
  spec.cron = "@every 7m";
  EXPECT_EQ(put(spec).schedule.next_at, now() + 7min);
}

TEST_P(Schedules, ADeletedOneStartsNothingMore) {
  put(hourly());
  pass_hours();
  const auto first = newest_start();
  must(run(DeleteSchedule{.name = nightly}));
  EXPECT_EQ(error_of(GetSchedule{.name = nightly}), Errc::schedule_not_found);
  pass_hours();
  EXPECT_EQ(count_executions(), 1u);
  EXPECT_EQ(state_of(first), ExecutionState::waiting) << "what it has started goes on";
}

TEST_P(Schedules, OneOfTheSameNameIsAnotherOne) {
  auto spec = hourly();
  spec.cron = "@every 1h";
  spec.starts_at = next_hour();
  put(spec);
  advance(next_hour() - now());
  home_->run_scanners();
  const auto first = newest_start();
  must(run(DeleteSchedule{.name = nightly}));
  put(spec);
  EXPECT_EQ(must(run(RunSchedule{.name = nightly, .request_id = request_id(1)})).duplicate, false);
  EXPECT_NE(newest_start(), first);
  EXPECT_EQ(schedule().started, 1u);
}

TEST_P(Schedules, APausedOneStartsNothing) {
  put(hourly());
  const auto paused = must(
      run(PauseSchedule{.name = nightly, .reason = "the database moves", .requested_by = "ada"}));
  ASSERT_TRUE(paused.paused);
  EXPECT_EQ(*paused.paused,
            (SchedulePause{.at = now(), .reason = "the database moves", .requested_by = "ada"}));
  EXPECT_EQ(paused.next_at, std::nullopt);
  pass_hours(3);
  EXPECT_EQ(must(run(PauseSchedule{.name = nightly})).paused, paused.paused)
      << "the first one counts";
  const auto resumed = must(run(ResumeSchedule{.name = nightly}));
  EXPECT_EQ(resumed.paused, std::nullopt);
  EXPECT_EQ(resumed.next_at, next_hour()) << "times in the pause are not caught up";
  home_->run_scanners();
  EXPECT_EQ(outcomes(), "");
  must(run(ResumeSchedule{.name = nightly}));
  pass_hours();
  EXPECT_EQ(outcomes(), "started");
}

TEST_P(Schedules, RunStartsOnePerRequest) {
  put(hourly());
  must(run(PauseSchedule{.name = nightly}));
  const auto first = must(run(RunSchedule{.name = nightly, .request_id = request_id(1)}));
  ASSERT_TRUE(first.execution);
  EXPECT_FALSE(first.duplicate);
  const auto again = must(run(RunSchedule{.name = nightly, .request_id = request_id(1)}));
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.execution, first.execution);
  EXPECT_NE(must(run(RunSchedule{.name = nightly})).execution, first.execution);
  EXPECT_EQ(count_executions(), 2u);
  const auto info = schedule();
  EXPECT_EQ(outcomes(), "started started");
  EXPECT_TRUE(info.fires[0].manual);
  EXPECT_EQ(info.started, 2u);
}

TEST_P(Schedules, WhatWasRunByHandCountsForTheOverlap) {
  put(hourly());
  must(run(RunSchedule{.name = nightly}));
  pass_hours();
  EXPECT_EQ(outcomes(), "started skipped");
}

// ---- Failures -------------------------------------------------------------------------------------

TEST_P(Schedules, ARefusedStartIsNotedAndTheNextTimeComes) {
  auto spec = hourly();
  const auto budget = must(run(CreateBudget{.spec = {.hard_limits = {{"tokens", 10}}}})).id;
  spec.execution->policy.budgets = {budget};
  put(spec);
  must(run(DeleteBudget{budget}));
  pass_hours();
  const auto info = schedule();
  EXPECT_EQ(outcomes(), "failed");
  EXPECT_EQ(info.failed, 1u);
  EXPECT_NE(info.fires[0].detail.find(budget.str()), std::string::npos) << info.fires[0].detail;
  EXPECT_EQ(info.next_at, next_hour());
  EXPECT_EQ(error_of(PutSchedule{.name = schedule_name("other"), .spec = spec}),
            Errc::budget_not_found);
}

TEST_P(Schedules, WrongInputIsRefusedWithItsField) {
  const auto refused_with = [&](auto change) {
    auto spec = hourly();
    change(spec);
    return refused(PutSchedule{.name = nightly, .spec = std::move(spec)});
  };
  EXPECT_EQ(refused_with([](auto& spec) { spec.cron = "0 25 * * *"; }), "invalid_input cron");
  EXPECT_EQ(refused_with([](auto& spec) { spec.cron = "0 0 30 2 *"; }), "invalid_input cron");
  EXPECT_EQ(refused_with([](auto& spec) { spec.zone = "Mars/Olympus"; }), "invalid_input zone");
  EXPECT_EQ(refused_with([](auto& spec) { spec.jitter = -1ms; }), "invalid_input jitter_ms");
  EXPECT_EQ(refused_with([&](auto& spec) { spec.ends_at = now(); }), "invalid_input ends_at_ms");
  EXPECT_EQ(refused_with([](auto& spec) { spec.execution.reset(); }), "invalid_input execution");
  EXPECT_EQ(refused_with([](auto& spec) { spec.execution->delay_until = TimePoint{1s}; }),
            "invalid_input execution.delay_until_ms");
  EXPECT_EQ(refused_with([](auto& spec) {
              spec.execution->payload = std::string(limits::schedule_bytes_max, 'x');
            }),
            "payload_too_large execution");
  EXPECT_EQ(error_of(GetSchedule{.name = nightly}), Errc::schedule_not_found);
  EXPECT_EQ(error_of(DeleteSchedule{.name = nightly}), Errc::schedule_not_found);
  EXPECT_EQ(error_of(PauseSchedule{.name = nightly}), Errc::schedule_not_found);
  EXPECT_EQ(error_of(ResumeSchedule{.name = nightly}), Errc::schedule_not_found);
  EXPECT_EQ(error_of(RunSchedule{.name = nightly}), Errc::schedule_not_found);
  EXPECT_EQ(error_of(GetScheduleTimes{.name = nightly}), Errc::schedule_not_found);
  EXPECT_EQ(refused(GetScheduleTimes{.name = nightly, .count = 101}), "invalid_input count");
  EXPECT_EQ(refused(PreviewSchedule{.cron = "x"}), "invalid_input cron");
  EXPECT_EQ(refused(PreviewSchedule{.cron = "@daily", .zone = "x"}), "invalid_input zone");
}

// ---- Reading --------------------------------------------------------------------------------------

TEST_P(Schedules, ListsArePagedByNameAndPerNamespace) {
  for (const auto* name : {"c", "a", "b"}) put(hourly(), schedule_name(name));
  must(run(PutSchedule{.name = nightly, .ns = ns("other"), .spec = hourly_flow()}));
  const auto first = must(run(ListSchedules{.limit = 2}));
  ASSERT_EQ(first.schedules.size(), 2u);
  EXPECT_EQ(first.schedules[0].name, schedule_name("a"));
  EXPECT_EQ(first.schedules[0].spec.execution->payload, "") << "without contents";
  EXPECT_EQ(first.next, schedule_name("b"));
  const auto second = must(run(ListSchedules{.limit = 2, .after = first.next}));
  ASSERT_EQ(second.schedules.size(), 1u);
  EXPECT_EQ(second.next, std::nullopt);
  const auto others = must(run(ListSchedules{.ns = ns("other")}));
  ASSERT_EQ(others.schedules.size(), 1u);
  EXPECT_TRUE(others.schedules[0].spec.flow);

  pass_hours();
  const auto started = must(run(GetSchedule{.name = nightly, .ns = ns("other")})).fires.at(0);
  EXPECT_EQ(must(run(GetFlow{.id = *started.flow})).ns, ns("other"));
}

TEST_P(Schedules, TimesCanBeSeenBefore) {
  auto spec = hourly();
  spec.ends_at = next_hour() + 2h;
  put(spec);
  must(run(PauseSchedule{.name = nightly}));
  EXPECT_EQ(must(run(GetScheduleTimes{.name = nightly})).times,
            (std::vector{next_hour(), next_hour() + 1h}));
  const auto after = must(run(PreviewSchedule{.cron = "30 2 29 mar *",
                                              .zone = "Europe/Berlin",
                                              .after = TimePoint{std::chrono::days{20'454}},
                                              .count = 1}));
  EXPECT_EQ(after.times, std::vector{TimePoint{1'774'746'000s}}) << "2026-03-29, 1:00 UTC";
  EXPECT_EQ(must(run(PreviewSchedule{.cron = "@hourly", .count = 100})).times.size(), 100u);
}

INSTANTIATE_TEST_SUITE_P(, Schedules, ::testing::ValuesIn(home_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ff::conformance
