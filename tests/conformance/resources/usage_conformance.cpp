#include "tests/conformance/resources/budget_conformance.hpp"

namespace ff::conformance {
namespace {

using ::testing::HasSubstr;

class BudgetUsage : public BudgetConformance {};

// ---- Reports ------------------------------------------------------------------------------------

TEST_P(BudgetUsage, UsageMayReachTheLimitButNotPassIt) {
  const auto id = budget();
  EXPECT_EQ(outcome_of(report(id, 10)), UsageOutcome::applied);
  const auto refused = must(run(report(id, 1)));
  EXPECT_EQ(refused.outcome, UsageOutcome::hard_breach);
  EXPECT_EQ(refused.breach, (Breach{.dimension = "tokens", .usage = 10, .limit = 10}));
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", 10}}));
  const auto told = budget_info(id);
  EXPECT_EQ(told.breach_count, 1u);
  EXPECT_EQ(told.last_breach_at, now());
  EXPECT_EQ(told.last_breach_dimension, "tokens");
  EXPECT_EQ(told.exhausted, (Breach{.dimension = "tokens", .usage = 10, .limit = 10}));
}

TEST_P(BudgetUsage, AReportCountsAsAWholeOrNotAtAll) {
  const auto id = budget({.hard_limits = {{"b", 5}, {"c", 1}}});
  must(run(ReportUsage{.id = id, .amounts = {{"a", 1}, {"b", 5}, {"c", 1}}}));
  EXPECT_EQ(outcome_of({.id = id, .amounts = {{"a", 1}, {"c", 1}}}), UsageOutcome::hard_breach);
  EXPECT_EQ(usage_of(id), (Amounts{{"a", 1}, {"b", 5}, {"c", 1}}));
}

TEST_P(BudgetUsage, ARepeatedReportCountsOnce) {
  const auto id = budget(), other = budget();
  auto once = report(id, 3);
  once.dedup_key = must(DedupKey::parse("k"));
  EXPECT_EQ(outcome_of(once), UsageOutcome::applied);
  EXPECT_EQ(outcome_of(once), UsageOutcome::already_applied);
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", 3}}));
  auto changed = once;
  changed.amounts["tokens"] = 4;
  EXPECT_EQ(error_of(changed), Errc::duplicate_mismatch);

  auto elsewhere = once;
  elsewhere.id = other;
  EXPECT_EQ(outcome_of(elsewhere), UsageOutcome::applied) << "keys belong to their budget";
  home_->restart();
  EXPECT_EQ(outcome_of(once), UsageOutcome::already_applied);
  pass(25h);
  EXPECT_EQ(outcome_of(once), UsageOutcome::applied) << "forgotten after a day";
}

TEST_P(BudgetUsage, ARefusedReportMayBeRepeated) {
  const auto id = budget();
  must(run(report(id, 8)));
  auto late = report(id, 3);
  late.dedup_key = must(DedupKey::parse("k"));
  EXPECT_EQ(outcome_of(late), UsageOutcome::hard_breach);
  must(run(ResetBudget{id}));
  EXPECT_EQ(outcome_of(late), UsageOutcome::applied);
}

TEST_P(BudgetUsage, AReportToABudgetThatIsNotThereLeavesNothingBehind) {
  const BudgetId id{id_in(0, 78).uuid()};
  EXPECT_EQ(error_of(report(id, 1)), Errc::budget_not_found);
  EXPECT_EQ(error_of(ResetBudget{id}), Errc::budget_not_found);
  EXPECT_FALSE(
      must(run(CreateBudget{.id = id, .spec = {.hard_limits = {{"tokens", 5}}}})).duplicate);
  EXPECT_EQ(usage_of(id), Amounts{});
  EXPECT_EQ(outcome_of(report(id, 6)), UsageOutcome::hard_breach);
}

TEST_P(BudgetUsage, LargeAmountsAreExact) {
  constexpr auto most = limits::amount_max;
  const auto id = budget({.hard_limits = {{"tokens", most}}});
  must(run(report(id, most - 2)));
  must(run(report(id, 1)));
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", most - 1}}));
  EXPECT_EQ(outcome_of(report(id, 2)), UsageOutcome::hard_breach);
  EXPECT_EQ(outcome_of(report(id, 1)), UsageOutcome::applied);
  EXPECT_EQ(error_of(report(id, most + 1)), Errc::invalid_input);

  const auto unlimited = budget({.hard_limits = {{"other", 1}}});
  must(run(report(unlimited, most)));
  EXPECT_EQ(error_of(report(unlimited, 1)), Errc::invalid_input) << "it would overflow";
  EXPECT_EQ(usage_of(unlimited), (Amounts{{"tokens", most}}));
}

TEST_P(BudgetUsage, ReleasedUsageIsExactAboveTenToTheFourteen) {
  constexpr std::uint64_t large = 400'000'000'000'001;
  const auto id = budget({.hard_limits = {{"tokens", limits::amount_max}}});
  const auto execution = submit();
  must(run(report(id, large)));
  auto spent = report(id, large);
  spent.execution = execution;
  must(run(spent));
  must(run(ReleaseUsage{.id = id, .execution = execution}));
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", large}}));
  EXPECT_EQ(outcome_of(report(id, 1)), UsageOutcome::applied);
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", large + 1}}));
}

TEST_P(BudgetUsage, ASoftLimitIsToldAndCounted) {
  const auto id = budget({.hard_limits = {{"tokens", 10}}, .soft_limits = {{"tokens", 5}}});
  EXPECT_EQ(outcome_of(report(id, 5)), UsageOutcome::applied);
  const auto told = must(run(report(id, 1)));
  EXPECT_EQ(told.outcome, UsageOutcome::soft_breach);
  EXPECT_EQ(told.breach, (Breach{.dimension = "tokens", .usage = 6, .limit = 5}));
  EXPECT_EQ(budget_info(id).soft_breach_count, 1u);
  EXPECT_EQ(budget_info(id).breach_count, 0u);

  const auto quiet = budget({.on_soft_limit = OnSoftLimit::ignore, .soft_limits = {{"tokens", 5}}});
  EXPECT_EQ(outcome_of(report(quiet, 6)), UsageOutcome::applied);
  EXPECT_EQ(budget_info(quiet).soft_breach_count, 0u);
}

TEST_P(BudgetUsage, AnAdvisoryBudgetRefusesNothing) {
  const auto id = budget({.enforcement = Enforcement::advisory, .hard_limits = {{"tokens", 10}}});
  submit(spending({id}));
  EXPECT_EQ(outcome_of(report(id, 12)), UsageOutcome::hard_breach);
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", 12}}));
  EXPECT_EQ(budget_info(id).breach_count, 1u);
  EXPECT_EQ(budget_info(id).exhausted, std::nullopt);
  EXPECT_EQ(claimable(), 1u);
}

TEST_P(BudgetUsage, ReportsOfManyAtOnceAddUpExactly) {
  const auto id = budget({.hard_limits = {{"tokens", 1'000}}});
  std::vector<test::Started<ReportUsage>> reports;
  for (int i = 0; i < 300; ++i) reports.push_back(start(report(id, 7)));
  std::uint64_t applied = 0;
  for (auto& each : reports)
    if (must(each.get()).outcome == UsageOutcome::applied) applied += 7;
  EXPECT_EQ(applied, 994u);
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", 994}}));
  EXPECT_EQ(budget_info(id).breach_count, 300u - 142u);
  home_->restart();
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", 994}}));
  EXPECT_EQ(budget_info(id).breach_count, 300u - 142u);
}

TEST_P(BudgetUsage, ABudgetCountsOnlySoManyDimensions) {
  const auto id = budget();
  std::uint64_t name = 0;
  for (std::size_t i = 0; i < limits::usage_dimensions_max / 32; ++i) {
    Amounts amounts;
    for (int j = 0; j < 32; ++j) amounts[fmt::format("d{}", name++)] = 1;
    must(run(ReportUsage{.id = id, .amounts = std::move(amounts)}));
  }
  EXPECT_EQ(error_of(ReportUsage{.id = id, .amounts = {{"one_more", 1}}}), Errc::invalid_input);
  EXPECT_EQ(usage_of(id).size(), limits::usage_dimensions_max);
  must(run(ResetBudget{id}));
  EXPECT_EQ(outcome_of({.id = id, .amounts = {{"one_more", 1}}}), UsageOutcome::applied);
}

// ---- Running work -------------------------------------------------------------------------------

TEST_P(BudgetUsage, AReportUnderALostLeaseIsRefused) {
  const auto id = budget();
  submit(spending({id}));
  const auto claimed = claim();
  must(run(complete(claimed)));
  EXPECT_EQ(error_of(report(id, 1, claimed)), Errc::execution_not_active);
  EXPECT_EQ(usage_of(id), Amounts{});
}

TEST_P(BudgetUsage, ABreachFailsTheAttempt) {
  const auto id = budget(OnHardLimit::fail);
  auto retried = spending({id});
  retried.policy.retry = RetryPolicy{.max_retries = 1, .backoff = FixedBackoff{1s}};
  const auto execution = submit(std::move(retried));
  const auto told = must(run(report(id, 11, claim())));
  EXPECT_EQ(told.outcome, UsageOutcome::hard_breach);
  EXPECT_EQ(told.action, OnHardLimit::fail);
  EXPECT_EQ(state_of(execution), ExecutionState::delayed);
  EXPECT_THAT(attempts_of(execution), HasSubstr("exceeded: tokens 11/10"));
  pass(1s);
  must(run(report(id, 11, claim())));
  EXPECT_EQ(state_of(execution), ExecutionState::failed);
  EXPECT_EQ(info(execution).failure_category, "budget_exceeded");
}

TEST_P(BudgetUsage, ABreachSuspendsUntilThereIsRoom) {
  const auto id = budget(OnHardLimit::suspend);
  const auto execution = submit(spending({id}));
  const auto first = claim();
  use_up(id);
  EXPECT_EQ(must(run(report(id, 1, first))).action, OnHardLimit::suspend);
  EXPECT_EQ(claimable(), 0u);
  EXPECT_EQ(reason_of(execution), BlockingReason::waiting_for_budget);
  must(run(ResetBudget{id}));
  const auto second = claim();
  EXPECT_TRUE(second.resumed);
  EXPECT_EQ(second.fence.attempt_id, first.fence.attempt_id);
}

// Two nodes that spend from one budget; the first has begun.
TEST_P(BudgetUsage, ABreachPausesTheFlowOfANode) {
  const auto id = budget(OnHardLimit::deny_child);
  const FlowNode first{.name = *NodeName::parse("a"), .kind = greet};
  const FlowNode second{.name = *NodeName::parse("b"), .kind = greet};
  const auto flow = must(run(SubmitFlow{.nodes = {first, second}, .budgets = {id}})).flow.id;
  const auto running = claim();
  EXPECT_EQ(must(run(report(id, 11, running))).action, OnHardLimit::deny_child);
  const auto paused = must(run(GetFlow{.id = flow}));
  EXPECT_EQ(paused.state, FlowState::paused);
  EXPECT_EQ(paused.reason, "budget " + id.str() + " exceeded: tokens 11/10");
  EXPECT_EQ(claimable(), 0u);
  const auto nodes = must(run(ListFlowNodes{.id = flow})).nodes;
  const auto held = nodes.at(0).id == running.id ? nodes.at(1).id : nodes.at(0).id;
  const auto why = must(run(ExplainExecution{held}));
  const auto is_pause = [](const Obstacle& each) {
    return each.reason == BlockingReason::paused_by_policy;
  };
  const auto pause = std::ranges::find_if(why.obstacles, is_pause);
  ASSERT_NE(pause, why.obstacles.end());
  EXPECT_EQ(pause->detail, "its flow is paused: " + paused.reason);
  EXPECT_EQ(pause->remedy, "ff flow resume " + flow.str());
  must(run(report(id, 11, running)));  // it is paused already
  must(run(complete(running)));
  must(run(ResumeFlow{flow}));
  EXPECT_EQ(claimable(), 1u);
}

TEST_P(BudgetUsage, ABreachCancelsTheFlowOfANode) {
  const auto id = budget(OnHardLimit::close_scope);
  const FlowNode first{.name = *NodeName::parse("a"), .kind = greet};
  const FlowNode second{.name = *NodeName::parse("b"), .kind = greet};
  const auto flow = must(run(SubmitFlow{.nodes = {first, second}, .budgets = {id}})).flow.id;
  EXPECT_EQ(must(run(report(id, 11, claim()))).action, OnHardLimit::close_scope);
  const auto ended = must(run(GetFlow{.id = flow}));
  EXPECT_EQ(ended.state, FlowState::cancelled);
  EXPECT_EQ(ended.counts.cancelled, 2u);
}

// A handler may report to any budget. The flow has no part in one that its node does not spend from.
TEST_P(BudgetUsage, ABudgetThatANodeDoesNotSpendFromLeavesItsFlowAlone) {
  const FlowNode first{.name = *NodeName::parse("a"), .kind = greet};
  const FlowNode second{.name = *NodeName::parse("b"), .kind = greet};
  const auto flow = must(run(SubmitFlow{.nodes = {first, second}})).flow.id;
  const auto running = claim();
  const auto mild = budget(OnHardLimit::deny_child);
  EXPECT_EQ(must(run(report(mild, 11, running))).outcome, UsageOutcome::hard_breach);
  EXPECT_EQ(must(run(GetFlow{.id = flow})).state, FlowState::running);
  EXPECT_EQ(state_of(running.id), ExecutionState::active);
  const auto strict = budget(OnHardLimit::close_scope);
  EXPECT_EQ(must(run(report(strict, 11, running))).outcome, UsageOutcome::hard_breach);
  EXPECT_EQ(state_of(running.id), ExecutionState::failed);
  EXPECT_EQ(must(run(GetFlow{.id = flow})).state, FlowState::running);
  EXPECT_EQ(claimable(), 1u);
}

TEST_P(BudgetUsage, OutsideAFlowABreachFailsOrIsTold) {
  const auto strict = budget(OnHardLimit::close_scope);
  const auto failed = submit(spending({strict}));
  must(run(report(strict, 11, claim())));
  EXPECT_EQ(state_of(failed), ExecutionState::failed);
  const auto mild = budget(OnHardLimit::deny_child);
  const auto told = submit(spending({mild}));
  must(run(report(mild, 11, claim())));
  EXPECT_EQ(state_of(told), ExecutionState::active);
}

TEST_P(BudgetUsage, ExecutionPausesWhenItsReportExceedsTheRemainingBudget) {
  const auto id = budget(OnHardLimit::suspend);
  must(run(report(id, 8)));
  const auto execution = submit(spending({id}));
  must(run(report(id, 5, claim())));
  EXPECT_EQ(state_of(execution), ExecutionState::delayed);
  pass(limits::suspend_pause);
  EXPECT_TRUE(claim().resumed);
}

TEST_P(BudgetUsage, ABreachCanBeLeftToTheWorker) {
  for (const auto action : {OnHardLimit::reject, OnHardLimit::warn}) {
    const auto id = budget(action);
    submit(spending({id}));
    const auto claimed = claim();
    EXPECT_EQ(must(run(report(id, 11, claimed))).action, action);
    EXPECT_EQ(usage_of(id).contains("tokens"), action == OnHardLimit::warn);
    must(run(complete(claimed)));
  }
}

TEST_P(BudgetUsage, RunningWorkGoesOnWhenOthersUseUpTheBudget) {
  const auto id = budget();
  const auto execution = submit(spending({id}));
  const auto claimed = claim();
  use_up(id);
  pass(1s);
  must(run(renew(claimed)));
  must(run(complete(claimed)));
  EXPECT_EQ(state_of(execution), ExecutionState::completed);
}

// ---- Giving back --------------------------------------------------------------------------------

TEST_P(BudgetUsage, SpendingOfAnExecutionIsReleasedOnce) {
  const auto id = budget();
  const auto execution = submit(spending({id}));
  const auto claimed = claim();
  must(run(report(id, 2)));
  must(run(report(id, 3, claimed)));
  must(run(report(id, 1, claimed)));
  const auto released = must(run(ReleaseUsage{.id = id, .execution = execution}));
  EXPECT_EQ(released.released, (Amounts{{"tokens", 4}}));
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", 2}}));
  EXPECT_EQ(must(run(ReleaseUsage{.id = id, .execution = execution})).released, Amounts{});
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", 2}}));
}

TEST_P(BudgetUsage, SpendingBeforeAResetIsNotReleased) {
  const auto id = budget();
  const auto execution = submit(spending({id}));
  must(run(report(id, 4, claim())));
  must(run(ResetBudget{id}));
  must(run(report(id, 5)));
  EXPECT_EQ(must(run(ReleaseUsage{.id = id, .execution = execution})).released, Amounts{});
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", 5}}));
}

TEST_P(BudgetUsage, TheLedgerOfAnExecutionGoesWithIt) {
  const auto id = budget();
  auto short_kept = spending({id});
  short_kept.policy.retention = 1s;
  const auto execution = submit(std::move(short_kept));
  const auto claimed = claim();
  must(run(report(id, 4, claimed)));
  must(run(complete(claimed)));
  pass(2s);
  pass(2s);
  EXPECT_EQ(error_of(GetExecution{execution}), Errc::execution_not_found);
  EXPECT_EQ(must(run(ReleaseUsage{.id = id, .execution = execution})).released, Amounts{});
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", 4}})) << "spent is spent";
}

// ---- Resets -------------------------------------------------------------------------------------

TEST_P(BudgetUsage, UsageIsResetOnSchedule) {
  const auto id = budget({.hard_limits = {{"tokens", 10}}, .reset_interval = 10s});
  const auto made = now();
  use_up(id);
  must(run(report(id, 1)));
  EXPECT_EQ(budget_info(id).next_reset_at, made + 10s);
  pass(10s - 1ms);
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", 10}}));
  pass(1ms);
  const auto fresh = budget_info(id);
  EXPECT_EQ(fresh.usage, Amounts{});
  EXPECT_EQ(fresh.reset_count, 1u);
  EXPECT_EQ(fresh.last_reset_at, now());
  EXPECT_EQ(fresh.next_reset_at, made + 20s);
  EXPECT_EQ(fresh.breach_count, 1u) << "kept";
  EXPECT_EQ(fresh.last_breach_at, std::nullopt);
}

TEST_P(BudgetUsage, PeriodsDoNotDrift) {
  const auto id = budget({.hard_limits = {{"tokens", 10}}, .reset_interval = 10s});
  const auto made = now();
  pass(37s);
  EXPECT_EQ(budget_info(id).next_reset_at, made + 40s);
  pass(9s);
  EXPECT_EQ(budget_info(id).next_reset_at, made + 50s);
}

TEST_P(BudgetUsage, AResetThatIsDueCountsEvenBeforeAScannerComesRound) {
  const auto id = budget({.hard_limits = {{"tokens", 10}}, .reset_interval = 10s});
  const auto execution = submit(spending({id}));
  use_up(id);
  EXPECT_EQ(claimable(), 0u);
  advance(10s);
  EXPECT_EQ(claim().id, execution);
  EXPECT_EQ(outcome_of(report(id, 10)), UsageOutcome::applied);
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", 10}}));
}

INSTANTIATE_TEST_SUITE_P(, BudgetUsage, ::testing::ValuesIn(home_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ff::conformance
