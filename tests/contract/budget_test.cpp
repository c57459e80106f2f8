// Budgets by the contract's functions.
#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

const std::string resets = "ff:idx:{b:3}:budget_resets";
const std::string budget_policies = "ff:idx:{b:3}:budget_policies";
const std::string dedup = "ff:usagededup:{b:3}:once";

// tokens: hard 100, soft 80; cost: hard 50; calls: no limit. No resets.
Call create_budget() {
  return {"ff_create_budget",
          {budget, budget + ":limits", budget + ":usage", resets, budget_policies},
          {budget_id, "tenant", "t1", "strict", "fail", "warn", "0", "1000", "3", "tokens", "cost",
           "calls", "100", "50", "0", "80", "", "0"}};
}

Call report(Texts dimensions, Texts deltas, const std::string& dedup_key = "",
            const std::string& now = "2000") {
  Texts argv{std::to_string(dimensions.size())};
  argv.insert(argv.end(), dimensions.begin(), dimensions.end());
  argv.insert(argv.end(), deltas.begin(), deltas.end());
  argv.insert(argv.end(), {now, dedup_key});
  return {"ff_report_usage_and_check", {budget + ":usage", budget + ":limits", budget}, argv};
}

Call spend(const std::string& dimension, const std::string& delta, const std::string& execution = E,
           const std::string& dedup_key = "") {
  return {"ff_record_spend",
          {budget + ":usage", budget + ":limits", budget, budget + ":by_exec:" + execution,
           budget + ":by_exec:index"},
          {"1", dimension, delta, "2000", dedup_key, execution}};
}

Call release_budget(const std::string& execution = E) {
  return {"ff_release_budget",
          {budget + ":usage", budget + ":by_exec:" + execution, budget + ":by_exec:index"},
          {budget_id, execution}};
}

Call reset(const std::string& now) {
  return {"ff_reset_budget", {budget, budget + ":usage", resets}, {budget_id, now}};
}

using Fields = std::map<std::string, std::string>;

class BudgetContract : public Contract {
 protected:
  Fields definition() { return store()[budget]; }
  Fields usage() { return store()[budget + ":usage"]; }
  void create(const Call& call = create_budget()) { ASSERT_EQ(run(call), "1 OK " + budget_id); }
};

TEST_F(BudgetContract, CreateStoresWhatItIsGiven) {
  create();
  auto fields = definition();
  fields.erase("period");
  fields.erase("made_in_period");
  EXPECT_EQ(fields, (Fields{{"budget_id", budget_id},
                            {"scope_type", "tenant"},
                            {"scope_id", "t1"},
                            {"enforcement_mode", "strict"},
                            {"on_hard_limit", "fail"},
                            {"on_soft_limit", "warn"},
                            {"reset_interval_ms", "0"},
                            {"breach_count", "0"},
                            {"soft_breach_count", "0"},
                            {"created_at", "1000"},
                            {"last_updated_at", "1000"}}));
  EXPECT_EQ(store()[budget + ":limits"], (Fields{{"hard:tokens", "100"},
                                                 {"soft:tokens", "80"},
                                                 {"hard:cost", "50"},
                                                 {"soft:cost", "0"},
                                                 {"hard:calls", "0"},
                                                 {"soft:calls", "0"}}));
  EXPECT_EQ(store()[budget_policies].count(budget_id), 1U);
  EXPECT_EQ(store().count(resets), 0U);
}

TEST_F(BudgetContract, CreateAgainChangesNothingButHealsTheIndex) {
  create();
  expect_refused(create_budget().with(2, "flow").with(9, "x"), "1 ALREADY_SATISFIED " + budget_id);
  command({"SREM", budget_policies, budget_id});
  EXPECT_EQ(run(create_budget()), "1 ALREADY_SATISFIED " + budget_id);
  EXPECT_EQ(store()[budget_policies].count(budget_id), 1U);
}

TEST_F(BudgetContract, CreateSchedulesResets) {
  create(create_budget().with(7, "500"));
  EXPECT_EQ(definition()["next_reset_at"], "1500");
  EXPECT_EQ(store()[resets][budget_id], "1500");
  command({"FLUSHALL"});
  create(create_budget().with(7, "-5"));
  EXPECT_EQ(definition().count("next_reset_at"), 0U);
}

TEST_F(BudgetContract, CreateRefusesWithoutAHalfMadeBudget) {
  const auto call = create_budget();
  expect_refused(call.with(9, "x"), "0 invalid_input dim_count must be a number, got: x");
  expect_refused(call.with(9, "65"), "0 invalid_input dim_count must be from 0 to 64, got: 65");
  expect_refused(call.with(9, "4"), "0 invalid_input dim_count says 4, but 9 values follow");
  expect_refused(call.cut(17), "0 invalid_input dim_count says 3, but 8 values follow");
  expect_refused(call.with(7, ""), "0 invalid_input reset_interval_ms must be a number, got: ");
  expect_refused(call.with(7, "1.5"),
                 "0 invalid_input reset_interval_ms must be a whole number, got: 1.5");
  expect_refused(call.with(8, "soon"), "0 invalid_input now_ms must be a number, got: soon");
  expect_refused(call.with(11, "tokens"), "0 invalid_input dimension stands twice: tokens");
  expect_refused(call.with(11, ""), "0 invalid_input dimension must not be empty");
  expect_refused(call.with(13, "many"), "0 invalid_input hard_limit must be a number, got: many");
  expect_refused(call.with(16, "-1"),
                 "0 invalid_input soft_limit must be from 0 to 9007199254740991, got: -1");
  expect_refused(
      call.with(1, "other"),
      "0 invalid_input budget_id must be the one in the key of the definition, got: other");
  expect_refused(
      call.key(1, "ff:budget:x"),
      "0 invalid_input budget_id must be the one in the key of the definition, got: " + budget_id);
}

TEST_F(BudgetContract, ReportAddsUp) {
  create();
  EXPECT_EQ(run(report({"tokens", "calls"}, {"60", "1"})), "1 OK");
  EXPECT_EQ(run(report({"tokens"}, {"20"})), "1 OK");
  EXPECT_EQ(usage(), (Fields{{"tokens", "80"}, {"calls", "1"}}));
  EXPECT_EQ(definition()["last_updated_at"], "2000");
  EXPECT_EQ(run(report({}, {})), "1 OK");
}

TEST_F(BudgetContract, ReportMayReachTheHardLimitAndNotPassIt) {
  create();
  EXPECT_EQ(run(report({"cost"}, {"50"})), "1 OK");
  EXPECT_EQ(run(report({"calls", "cost"}, {"1", "1"}, dedup)), "1 HARD_BREACH cost 50 50");
  EXPECT_EQ(usage(), (Fields{{"cost", "50"}}));
  EXPECT_EQ(definition()["breach_count"], "1");
  EXPECT_EQ(definition()["last_breach_at"], "2000");
  EXPECT_EQ(definition()["last_breach_dim"], "cost");
  EXPECT_EQ(store().count(dedup + ":" + budget_id), 0U);
}

TEST_F(BudgetContract, ReportTellsOfASoftLimit) {
  create();
  EXPECT_EQ(run(report({"tokens"}, {"81"})), "1 SOFT_BREACH tokens 81 80");
  EXPECT_EQ(run(report({"tokens"}, {"0"})), "1 SOFT_BREACH tokens 81 80");
  EXPECT_EQ(definition()["soft_breach_count"], "2");
  EXPECT_EQ(usage(), (Fields{{"tokens", "81"}}));
}

TEST_F(BudgetContract, ReportWithADedupKeyCountsOnce) {
  create();
  EXPECT_EQ(run(report({"tokens"}, {"10"}, dedup)), "1 OK");
  EXPECT_EQ(run(report({"tokens"}, {"10"}, dedup)), "1 ALREADY_APPLIED");
  EXPECT_EQ(usage(), (Fields{{"tokens", "10"}}));
  EXPECT_GT(*command({"PTTL", dedup + ":" + budget_id}).as_int(), 86'000'000);
  expect_refused(report({"tokens"}, {"11"}, dedup),
                 "0 invalid_input dedup_key was used for another report");
  expect_refused(report({"tokens"}, {"1"}, "elsewhere"),
                 "0 invalid_input dedup_key must have the tag of the budget, got: elsewhere");
}

TEST_F(BudgetContract, ReportRefusesWhatItCannotCount) {
  expect_refused(report({"tokens"}, {"1"}), "0 budget_not_found");
  create();
  const auto call = report({"tokens", "cost"}, {"1", "1"});
  expect_refused(call.with(1, "two"), "0 invalid_input dim_count must be a number, got: two");
  expect_refused(call.with(3, "tokens"), "0 invalid_input dimension stands twice: tokens");
  expect_refused(call.with(5, "x"), "0 invalid_input delta must be a number, got: x");
  expect_refused(call.with(5, "1.5"), "0 invalid_input delta must be a whole number, got: 1.5");
  expect_refused(call.with(5, "-1"),
                 "0 invalid_input delta must be from 0 to 9007199254740991, got: -1");
  expect_refused(call.with(5, "9007199254740993"),
                 "0 invalid_input delta must be from 0 to 9007199254740991, got: 9007199254740993");
  expect_refused(call.with(6, ""), "0 invalid_input now_ms must be a number, got: ");
  expect_refused(call.cut(4), "0 invalid_input dim_count says 2, but 3 values follow");
  EXPECT_EQ(run(report({"calls"}, {"9007199254740991"})), "1 OK");
  expect_refused(report({"tokens", "calls"}, {"1", "1"}),
                 "0 invalid_input more than can be counted: calls");
}

TEST_F(BudgetContract, LargeAmountsArePlainDigits) {
  create();
  EXPECT_EQ(run(report({"calls"}, {"200000000000000"})), "1 OK");
  EXPECT_EQ(run(spend("calls", "100000000000000")), "1 OK");
  EXPECT_EQ(run(release_budget()), "1 OK released");
  EXPECT_EQ(usage(), (Fields{{"calls", "200000000000000"}}));
  EXPECT_EQ(run(report({"calls"}, {"1"})), "1 OK");
}

TEST_F(BudgetContract, SpendIsRememberedByExecution) {
  create();
  EXPECT_EQ(run(spend("tokens", "10")), "1 OK");
  EXPECT_EQ(run(spend("tokens", "5")), "1 OK");
  EXPECT_EQ(run(spend("tokens", "7", other_E)), "1 OK");
  EXPECT_EQ(store()[budget + ":by_exec:<E>"]["tokens"], "15");
  EXPECT_EQ(store()[budget + ":by_exec:index"].size(), 2U);
  EXPECT_EQ(run(spend("cost", "51")), "1 HARD_BREACH cost 0 50");
  expect_refused(spend("tokens", "1").with(1, "one"),
                 "0 invalid_input pair_count must be a number, got: one");
  EXPECT_EQ(run(spend("tokens", "1", E, dedup)), "1 OK");
  EXPECT_EQ(run(spend("tokens", "1", E, dedup)), "1 ALREADY_APPLIED");
}

TEST_F(BudgetContract, SpendWithoutAnExecutionIsAReport) {
  create();
  EXPECT_EQ(run(spend("tokens", "10").with(6, "")), "1 OK");
  EXPECT_EQ(store().count(budget + ":by_exec:index"), 0U);
}

TEST_F(BudgetContract, ReleaseTakesBackOnce) {
  create();
  run(spend("tokens", "10"));
  run(report({"tokens"}, {"3"}));
  EXPECT_EQ(run(release_budget()), "1 OK released");
  EXPECT_EQ(usage(), (Fields{{"tokens", "3"}}));
  EXPECT_EQ(store().count(budget + ":by_exec:<E>"), 0U);
  expect_refused(release_budget(), "1 OK noop");
  expect_refused(release_budget().cut(1), "0 invalid_input execution_id must not be empty");
}

TEST_F(BudgetContract, ReleaseDoesNotTakeBackWhatAResetRemoved) {
  create();
  run(spend("tokens", "10"));
  run(reset("3000"));
  run(report({"tokens"}, {"4"}));
  EXPECT_EQ(run(release_budget()), "1 OK noop");
  EXPECT_EQ(usage(), (Fields{{"tokens", "4"}}));
}

TEST_F(BudgetContract, ResetKeepsTheCountsOfBreaches) {
  create();
  run(report({"cost"}, {"51"}));
  run(report({"tokens"}, {"10"}));
  EXPECT_EQ(run(reset("3000")), "1 OK 0");
  EXPECT_EQ(usage(), Fields{});
  auto fields = definition();
  EXPECT_EQ(fields["reset_count"], "1");
  EXPECT_EQ(fields["last_reset_at"], "3000");
  EXPECT_EQ(fields["last_breach_at"], "");
  EXPECT_EQ(fields["last_breach_dim"], "");
  EXPECT_EQ(fields["breach_count"], "1");
}

TEST_F(BudgetContract, ResetsComeInWholePeriods) {
  create(create_budget().with(7, "500"));
  EXPECT_EQ(run(reset("1400")), "1 OK 1500");
  EXPECT_EQ(run(reset("1501")), "1 OK 2000");
  EXPECT_EQ(run(reset("3700")), "1 OK 4000");
  EXPECT_EQ(store()[resets][budget_id], "4000");
}

TEST_F(BudgetContract, ReportAfterTheEndOfAPeriodBeginsTheNext) {
  create(create_budget().with(7, "500"));
  EXPECT_EQ(run(report({"cost"}, {"50"}, "", "1499")), "1 OK");
  EXPECT_EQ(run(report({"cost"}, {"50"}, "", "1500")), "1 OK");
  EXPECT_EQ(definition()["next_reset_at"], "2000");
}

TEST_F(BudgetContract, ResetOfAnUnknownBudgetMakesNone) {
  expect_refused(reset("3000"), "0 budget_not_found");
  create();
  expect_refused(reset("x"), "0 invalid_input now_ms must be a number, got: x");
}

}  // namespace
}  // namespace ff::test
