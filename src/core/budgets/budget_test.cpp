#include "core/budgets/budget.hpp"

#include <flowfabric/limits.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/test_support.hpp"

namespace ff::core {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Budget budget(BudgetSpec spec) {
  return make_budget({.id = BudgetId{}, .spec = std::move(spec)}, t0);
}

// "hard_breach tokens 90/100"
std::string show(const Result<Report>& reported) {
  if (!reported) return std::string(reported.error().name());
  const auto& [outcome, breach, action, resume_at] = reported->reply;
  return breach ? fmt::format("{} {} {}/{}", to_string(outcome), breach->dimension, breach->usage,
                              breach->limit)
                : std::string(to_string(outcome));
}
std::string show(const std::optional<Breach>& breach) {
  return breach ? fmt::format("{} {}/{}", breach->dimension, breach->usage, breach->limit) : "open";
}

TEST(BudgetTest, AddsUpWhatIsReported) {
  auto mine = budget({});
  EXPECT_EQ(show(report(mine, {{"cents", 3}, {"tokens", 10}}, t0)), "applied");
  EXPECT_EQ(show(report(mine, {{"tokens", 5}, {"nothing", 0}}, t0)), "applied");
  EXPECT_EQ(mine.usage, (Amounts{{"cents", 3}, {"tokens", 15}}));
}

TEST(BudgetTest, MayBeUsedUpExactlyAndThenHoldsWorkBack) {
  auto mine = budget({.hard_limits = {{"tokens", 100}}});
  EXPECT_EQ(show(report(mine, {{"tokens", 99}}, t0)), "applied");
  EXPECT_EQ(show(check(mine, t0).breach), "open");
  EXPECT_EQ(show(report(mine, {{"tokens", 1}}, t0)), "applied");
  EXPECT_EQ(show(check(mine, t0).breach), "tokens 100/100");
  EXPECT_EQ(show(info_of(mine, t0).exhausted), "tokens 100/100");
  EXPECT_EQ(mine.breach_count, 0u);
}

TEST(BudgetTest, RefusesAllOfAReportThatBreaksAHardLimit) {
  auto mine = budget({.hard_limits = {{"cents", 5}, {"tokens", 100}}});
  report(mine, {{"tokens", 90}}, t0);
  const auto refused = report(mine, {{"cents", 1}, {"tokens", 11}}, t0 + 1s);
  EXPECT_EQ(show(refused), "hard_breach tokens 90/100");
  EXPECT_FALSE(refused->applied);
  EXPECT_EQ(mine.usage, (Amounts{{"tokens", 90}}));
  EXPECT_EQ(mine.breach_count, 1u);
  EXPECT_EQ(mine.last_breach_at, t0 + 1s);
  EXPECT_EQ(mine.last_breach_dimension, "tokens");
}

TEST(BudgetTest, NamesTheFirstDimensionAndCountsAReportOnce) {
  auto mine = budget({.hard_limits = {{"a", 1}, {"b", 1}}});
  EXPECT_EQ(show(report(mine, {{"b", 2}, {"a", 2}}, t0)), "hard_breach a 0/1");
  EXPECT_EQ(mine.breach_count, 1u);
}

TEST(BudgetTest, AppliesBeyondAHardLimitIfItOnlyWarns) {
  for (const auto& spec :
       {BudgetSpec{.on_hard_limit = OnHardLimit::warn, .hard_limits = {{"tokens", 10}}},
        BudgetSpec{.enforcement = Enforcement::advisory, .hard_limits = {{"tokens", 10}}}}) {
    auto mine = budget(spec);
    const auto told = report(mine, {{"tokens", 12}}, t0);
    EXPECT_EQ(show(told), "hard_breach tokens 12/10");
    EXPECT_TRUE(told->applied);
    EXPECT_EQ(mine.usage["tokens"], 12u);
    EXPECT_EQ(mine.breach_count, 1u);
    EXPECT_EQ(show(check(mine, t0).breach), "open");
  }
}

TEST(BudgetTest, TellsOfASoftLimitAndGoesOn) {
  auto mine = budget({.hard_limits = {{"tokens", 100}}, .soft_limits = {{"tokens", 10}}});
  EXPECT_EQ(show(report(mine, {{"tokens", 10}}, t0)), "applied");
  EXPECT_EQ(show(report(mine, {{"tokens", 1}}, t0)), "soft_breach tokens 11/10");
  EXPECT_EQ(show(report(mine, {{"tokens", 0}}, t0)), "soft_breach tokens 11/10");
  EXPECT_EQ(mine.soft_breach_count, 2u);
  EXPECT_EQ(show(check(mine, t0).breach), "open");
}

TEST(BudgetTest, KeepsQuietOfASoftLimitIfAsked) {
  auto mine = budget({.on_soft_limit = OnSoftLimit::ignore, .soft_limits = {{"tokens", 10}}});
  EXPECT_EQ(show(report(mine, {{"tokens", 11}}, t0)), "applied");
  EXPECT_EQ(mine.soft_breach_count, 0u);
}

TEST(BudgetTest, CountsAsFarAsEveryStoreCan) {
  auto mine = budget({});
  EXPECT_EQ(show(report(mine, {{"tokens", limits::amount_max}}, t0)), "applied");
  const auto before = mine;
  const auto refused = report(mine, {{"cents", 1}, {"tokens", 1}}, t0);
  EXPECT_EQ(show(refused), "invalid_input");
  EXPECT_THAT(refused.error().message, HasSubstr("reset the budget"));
  EXPECT_EQ(mine, before);
}

TEST(BudgetTest, CountsSoManyDimensionsAndNoMore) {
  auto mine = budget({});
  for (std::size_t i = 0; i < limits::usage_dimensions_max; ++i)
    ASSERT_EQ(show(report(mine, {{std::to_string(i), 1}}, t0)), "applied");
  EXPECT_EQ(show(report(mine, {{"another", 1}}, t0)), "invalid_input");
  EXPECT_EQ(show(report(mine, {{"7", 1}, {"another", 0}}, t0)), "applied");
}

TEST(BudgetTest, BreaksNoCountWhenWhatItCannotCountIsOnlyAdvised) {
  auto mine = budget({.enforcement = Enforcement::advisory, .hard_limits = {{"a", 1}}});
  report(mine, {{"b", limits::amount_max}}, t0);
  EXPECT_EQ(show(report(mine, {{"a", 2}, {"b", 1}}, t0)), "invalid_input");
  EXPECT_EQ(mine.breach_count, 0u);
}

TEST(BudgetTest, TakesBackNoMoreThanThereIs) {
  auto mine = budget({});
  report(mine, {{"cents", 3}, {"tokens", 10}}, t0);
  take_back(mine, {{"cents", 5}, {"tokens", 4}, {"unknown", 1}});
  EXPECT_EQ(mine.usage, (Amounts{{"tokens", 6}}));
}

TEST(BudgetTest, AResetForgetsUsageButNotHowOftenItWasBroken) {
  auto mine = budget({.hard_limits = {{"tokens", 10}}, .reset_interval = 60s});
  report(mine, {{"tokens", 10}}, t0);
  report(mine, {{"tokens", 1}}, t0);
  reset(mine, t0 + 5s);
  EXPECT_THAT(mine.usage, IsEmpty());
  EXPECT_EQ(mine.breach_count, 1u);
  EXPECT_FALSE(mine.last_breach_at);
  EXPECT_FALSE(mine.last_breach_dimension);
  EXPECT_EQ(mine.reset_count, 1u);
  EXPECT_EQ(mine.last_reset_at, t0 + 5s);
  EXPECT_EQ(mine.next_reset_at, t0 + 60s) << "the schedule stays";
}

TEST(BudgetTest, PeriodsAreCountedFromTheFirst) {
  auto mine = budget({.reset_interval = 60s});
  EXPECT_FALSE(is_reset_due(mine, t0 + 60s - 1ms));
  ASSERT_TRUE(is_reset_due(mine, t0 + 60s));
  reset_by_schedule(mine, t0 + 75s);
  EXPECT_EQ(mine.next_reset_at, t0 + 120s);
  reset_by_schedule(mine, t0 + 120s);
  EXPECT_EQ(mine.next_reset_at, t0 + 180s);
  reset_by_schedule(mine, t0 + 1000s);
  EXPECT_EQ(mine.next_reset_at, t0 + 1020s) << "those that were missed are passed over";
  EXPECT_EQ(mine.reset_count, 3u);
}

TEST(BudgetTest, CountsAsResetWhenThatIsDue) {
  auto mine = budget({.hard_limits = {{"tokens", 10}}, .reset_interval = 60s});
  report(mine, {{"tokens", 10}}, t0);
  EXPECT_EQ(show(check(mine, t0 + 59s).breach), "tokens 10/10");
  EXPECT_EQ(check(mine, t0 + 59s).next_reset_at, t0 + 60s);
  EXPECT_EQ(show(check(mine, t0 + 60s).breach), "open");
  const auto info = info_of(mine, t0 + 61s);
  EXPECT_THAT(info.usage, IsEmpty());
  EXPECT_FALSE(info.exhausted);
  EXPECT_EQ(info.next_reset_at, t0 + 120s);
}

TEST(BudgetTest, WithoutAPeriodIsNeverDue) {
  const auto mine = budget({});
  EXPECT_FALSE(mine.next_reset_at);
  EXPECT_FALSE(is_reset_due(mine, limits::time_max));
}

}  // namespace
}  // namespace ff::core
