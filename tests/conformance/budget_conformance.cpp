#include <thread>

#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

class Budgets : public Conformance {
 protected:
  BudgetId budget(BudgetSpec spec = {.hard_limits = {{"tokens", 10}}}) {
    return must(run(CreateBudget{.spec = std::move(spec)})).id;
  }
  BudgetId budget(OnHardLimit on_hard_limit) {
    return budget({.on_hard_limit = on_hard_limit, .hard_limits = {{"tokens", 10}}});
  }
  BudgetInfo budget_info(const BudgetId& id) { return must(run(GetBudget{id})); }
  Amounts usage_of(const BudgetId& id) { return budget_info(id).usage; }

  ReportUsage report(const BudgetId& id, std::uint64_t tokens) {
    return {.id = id, .amounts = {{"tokens", tokens}}};
  }
  ReportUsage report(const BudgetId& id, std::uint64_t tokens, const ClaimedExecution& by) {
    return {.id = id, .amounts = {{"tokens", tokens}}, .execution = by.id, .fence = by.fence};
  }
  UsageOutcome outcome_of(ReportUsage operation) { return must(run(std::move(operation))).outcome; }
  void use_up(const BudgetId& id) { must(run(report(id, 10))); }

  Submit spending(std::vector<BudgetId> budgets, std::string payload = "in") {
    return {
        .kind = greet, .payload = std::move(payload), .policy = {.budgets = std::move(budgets)}};
  }
  BlockingReason reason_of(const ExecutionId& id) { return info(id).state_vector.blocking_reason; }
};

// ---- What a budget keeps from starting ----------------------------------------------------------

TEST_P(Budgets, WorkStartsWhileTheBudgetHasRoom) {
  const auto id = budget();
  must(run(report(id, 9)));
  const auto execution = submit(spending({id}));
  EXPECT_EQ(info(execution).policy.budgets, std::vector{id});
  const auto claimed = claim();
  EXPECT_EQ(claimed.id, execution);
  EXPECT_EQ(claimed.budgets, std::vector{id});
}

TEST_P(Budgets, WorkWaitsFromTheMomentTheLimitIsReached) {
  const auto id = budget();
  const auto execution = submit(spending({id}));
  use_up(id);
  EXPECT_EQ(claimable(), 0u);

  const auto blocked = info(execution);
  EXPECT_EQ(blocked.state, ExecutionState::rate_limited);
  EXPECT_EQ(blocked.state_vector.blocking_reason, BlockingReason::waiting_for_budget);
  EXPECT_EQ(blocked.state_vector.eligibility_state, EligibilityState::blocked_by_budget);
  EXPECT_EQ(blocked.state_vector.lifecycle_phase, LifecyclePhase::runnable);
  EXPECT_EQ(blocked.blocking_detail, fmt::format("budget {}: tokens 10/10", id.str()));

  must(run(ResetBudget{id}));
  EXPECT_EQ(claim().id, execution);
  EXPECT_EQ(info(execution).blocking_detail, std::nullopt);
}

TEST_P(Budgets, EveryBudgetOfAnExecutionMustHaveRoom) {
  const auto first = budget(), second = budget();
  submit(spending({first, second}));
  use_up(second);
  EXPECT_EQ(claimable(), 0u);
  must(run(ResetBudget{second}));
  use_up(first);
  EXPECT_EQ(claimable(), 0u);
  must(run(ResetBudget{first}));
  EXPECT_EQ(claimable(), 1u);
}

TEST_P(Budgets, WorkBehindThatWhichWaitsForABudgetIsGiven) {
  const auto id = budget();
  for (int i = 0; i < 120; ++i) submit(spending({id}));
  use_up(id);
  advance(1ms);
  const auto plain = submit();
  EXPECT_EQ(claim().id, plain);
}

TEST_P(Budgets, WorkThatWaitsForOneBudgetDoesNotHoldBackWorkOfAnother) {
  const auto first = budget(), second = budget();
  for (int i = 0; i < 120; ++i) submit(spending({first}));
  const auto behind = submit(spending({second}));
  use_up(first);
  use_up(second);
  EXPECT_EQ(claimable(), 0u);
  pass(1ms);
  EXPECT_EQ(state_of(behind), ExecutionState::rate_limited);
  must(run(ResetBudget{second}));
  pass(1ms);
  EXPECT_EQ(state_of(behind), ExecutionState::waiting);
  EXPECT_EQ(claim().id, behind);
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(Budgets, AllThatWaitIsToldAndLetGo) {
  const auto id = budget();
  std::vector<ExecutionId> executions;
  for (int i = 0; i < 150; ++i) executions.push_back(submit(spending({id})));
  use_up(id);
  pass(1ms);
  for (const auto& execution : executions)
    ASSERT_EQ(reason_of(execution), BlockingReason::waiting_for_budget);
  EXPECT_EQ(text(must(run(CountExecutions{}))), "default rate_limited 150");
  must(run(ResetBudget{id}));
  pass(1ms);
  EXPECT_EQ(text(must(run(CountExecutions{}))), "default waiting 150");
}

TEST_P(Budgets, ListsTellWaitingFromRateLimited) {
  const auto id = budget();
  use_up(id);
  std::vector<ExecutionId> limited;
  std::vector<ExecutionId> waiting;
  for (int i = 0; i < 12; ++i) {
    auto& which = i % 4 == 0 ? waiting : limited;
    which.push_back(submit(i % 4 == 0 ? Submit{.kind = greet} : spending({id})));
  }
  const auto listed = [&](ExecutionState state) {
    std::vector<ExecutionId> all;
    ListExecutions page{.state = state, .limit = 2};
    do {
      const auto list = must(run(page));
      for (const auto& each : list.executions) {
        EXPECT_EQ(each.state, state);
        all.push_back(each.id);
      }
      page.cursor = list.next;
    } while (page.cursor);
    return all;
  };
  EXPECT_THAT(listed(ExecutionState::rate_limited), UnorderedElementsAreArray(limited));
  EXPECT_THAT(listed(ExecutionState::waiting), UnorderedElementsAreArray(waiting));
}

TEST_P(Budgets, AllClaimsThatWaitWakeWhenTheBudgetHasRoom) {
  constexpr std::size_t many = 80;
  const auto id = budget();
  use_up(id);
  for (std::size_t i = 0; i < many; ++i) submit(spending({id}));
  std::vector<decltype(start(claim_by("w1")))> waiting;
  for (std::size_t i = 0; i < many; ++i) waiting.push_back(start(claim_by("w1", wake_up_max)));
  EXPECT_EQ(claimable(), 0u);
  must(run(ResetBudget{id}));
  for (auto& each : waiting) EXPECT_EQ(must(each.get()).executions.size(), 1u);
}

TEST_P(Budgets, AClaimThatWaitsWakesWhenTheBudgetHasRoom) {
  const auto id = budget();
  use_up(id);
  const auto execution = submit(spending({id}));
  auto waiting = start(claim_by("w1", wake_up_max));
  EXPECT_EQ(claimable(), 0u);
  must(run(ResetBudget{id}));
  home_->run_scanners();
  EXPECT_EQ(woken(waiting).id, execution);
}

TEST_P(Budgets, AClaimByIdIsRefusedByABudget) {
  const auto id = budget();
  const auto execution = submit(spending({id}));
  use_up(id);
  EXPECT_EQ(error_of(claim_of(execution)), Errc::budget_exceeded);
  EXPECT_EQ(must(run(Grant{.worker = worker("w1")})).execution, std::nullopt);
  must(run(ResetBudget{id}));
  EXPECT_EQ(must(run(claim_of(execution))).id, execution);
}

TEST_P(Budgets, WaitingExecutionsCanBeCancelledAndExpire) {
  const auto id = budget();
  use_up(id);
  const auto cancelled = submit(spending({id}));
  auto short_lived = spending({id});
  short_lived.deadline = now() + 1s;
  const auto expired = submit(std::move(short_lived));
  pass(1ms);
  must(run(Cancel{.id = cancelled}));
  pass(1s);
  EXPECT_EQ(state_of(cancelled), ExecutionState::cancelled);
  EXPECT_EQ(state_of(expired), ExecutionState::expired);
  must(run(ResetBudget{id}));
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(Budgets, ABudgetThatIsNotThereCannotBeAttached) {
  const BudgetId nobodys{id_in(0, 77).uuid()};
  EXPECT_EQ(error_of(spending({nobodys})), Errc::budget_not_found);
  const auto elsewhere =
      must(run(CreateBudget{.ns = ns("other"), .spec = {.hard_limits = {{"tokens", 1}}}})).id;
  EXPECT_EQ(error_of(spending({elsewhere})), Errc::budget_not_found);
  const auto mine = budget();
  EXPECT_EQ(error_of(spending({mine, mine})), Errc::invalid_input);
  const auto many = must(run(SubmitMany{{spending({nobodys}), spending({mine})}})).results;
  EXPECT_FALSE(many[0]);
  EXPECT_TRUE(many[1]);
}

TEST_P(Budgets, WorkOfADeletedBudgetWaitsUntilThereIsOneAgain) {
  const auto id = budget();
  const auto execution = submit(spending({id}));
  must(run(DeleteBudget{id}));
  EXPECT_EQ(claimable(), 0u);
  EXPECT_THAT(*info(execution).blocking_detail, HasSubstr("does not exist"));
  EXPECT_EQ(error_of(GetBudget{id}), Errc::budget_not_found);
  EXPECT_EQ(error_of(DeleteBudget{id}), Errc::budget_not_found);
  EXPECT_EQ(error_of(spending({id})), Errc::budget_not_found);
  must(run(CreateBudget{.id = id, .spec = {.hard_limits = {{"tokens", 1}}}}));
  EXPECT_EQ(claim().id, execution);
}

TEST_P(Budgets, RetriesAndReplaysPassTheGateAgain) {
  const auto id = budget();
  auto retried = spending({id});
  retried.policy.retry = RetryPolicy{.max_retries = 1, .backoff = FixedBackoff{1s}};
  const auto execution = submit(std::move(retried));
  const auto first = claim();
  use_up(id);
  must(run(failure(first)));
  pass(1s);
  EXPECT_EQ(claimable(), 0u);
  EXPECT_EQ(reason_of(execution), BlockingReason::waiting_for_budget);
  must(run(ResetBudget{id}));
  EXPECT_EQ(claim().attempt_type, AttemptType::retry);
}

// ---- Reports ------------------------------------------------------------------------------------

TEST_P(Budgets, UsageMayReachTheLimitButNotPassIt) {
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

TEST_P(Budgets, AReportCountsAsAWholeOrNotAtAll) {
  const auto id = budget({.hard_limits = {{"b", 5}, {"c", 1}}});
  must(run(ReportUsage{.id = id, .amounts = {{"a", 1}, {"b", 5}, {"c", 1}}}));
  EXPECT_EQ(outcome_of({.id = id, .amounts = {{"a", 1}, {"c", 1}}}), UsageOutcome::hard_breach);
  EXPECT_EQ(usage_of(id), (Amounts{{"a", 1}, {"b", 5}, {"c", 1}}));
}

TEST_P(Budgets, ARepeatedReportCountsOnce) {
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

TEST_P(Budgets, ARefusedReportMayBeRepeated) {
  const auto id = budget();
  must(run(report(id, 8)));
  auto late = report(id, 3);
  late.dedup_key = must(DedupKey::parse("k"));
  EXPECT_EQ(outcome_of(late), UsageOutcome::hard_breach);
  must(run(ResetBudget{id}));
  EXPECT_EQ(outcome_of(late), UsageOutcome::applied);
}

TEST_P(Budgets, AReportToABudgetThatIsNotThereLeavesNothingBehind) {
  const BudgetId id{id_in(0, 78).uuid()};
  EXPECT_EQ(error_of(report(id, 1)), Errc::budget_not_found);
  EXPECT_EQ(error_of(ResetBudget{id}), Errc::budget_not_found);
  EXPECT_FALSE(
      must(run(CreateBudget{.id = id, .spec = {.hard_limits = {{"tokens", 5}}}})).duplicate);
  EXPECT_EQ(usage_of(id), Amounts{});
  EXPECT_EQ(outcome_of(report(id, 6)), UsageOutcome::hard_breach);
}

TEST_P(Budgets, LargeAmountsAreExact) {
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

TEST_P(Budgets, ReleasedUsageIsExactAboveTenToTheFourteen) {
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

TEST_P(Budgets, ASoftLimitIsToldAndCounted) {
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

TEST_P(Budgets, AnAdvisoryBudgetRefusesNothing) {
  const auto id = budget({.enforcement = Enforcement::advisory, .hard_limits = {{"tokens", 10}}});
  submit(spending({id}));
  EXPECT_EQ(outcome_of(report(id, 12)), UsageOutcome::hard_breach);
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", 12}}));
  EXPECT_EQ(budget_info(id).breach_count, 1u);
  EXPECT_EQ(budget_info(id).exhausted, std::nullopt);
  EXPECT_EQ(claimable(), 1u);
}

TEST_P(Budgets, ReportsOfManyAtOnceAddUpExactly) {
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

TEST_P(Budgets, ABudgetCountsOnlySoManyDimensions) {
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

TEST_P(Budgets, AReportUnderALostLeaseIsRefused) {
  const auto id = budget();
  submit(spending({id}));
  const auto claimed = claim();
  must(run(complete(claimed)));
  EXPECT_EQ(error_of(report(id, 1, claimed)), Errc::execution_not_active);
  EXPECT_EQ(usage_of(id), Amounts{});
}

TEST_P(Budgets, ABreachFailsTheAttempt) {
  const auto id = budget(OnHardLimit::fail);
  auto retried = spending({id});
  retried.policy.retry = RetryPolicy{.max_retries = 1, .backoff = FixedBackoff{1s}};
  const auto execution = submit(std::move(retried));
  const auto told = must(run(report(id, 11, claim())));
  EXPECT_EQ(told.outcome, UsageOutcome::hard_breach);
  EXPECT_EQ(told.action, OnHardLimit::fail);
  EXPECT_EQ(state_of(execution), ExecutionState::delayed);
  EXPECT_THAT(attempts_of(execution), HasSubstr("exceeded: tokens 0/10"));
  pass(1s);
  must(run(report(id, 11, claim())));
  EXPECT_EQ(state_of(execution), ExecutionState::failed);
  EXPECT_EQ(info(execution).failure_category, "budget_exceeded");
}

TEST_P(Budgets, ABreachSuspendsUntilThereIsRoom) {
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

TEST_P(Budgets, ExecutionPausesWhenItsReportExceedsTheRemainingBudget) {
  const auto id = budget(OnHardLimit::suspend);
  must(run(report(id, 8)));
  const auto execution = submit(spending({id}));
  must(run(report(id, 5, claim())));
  EXPECT_EQ(state_of(execution), ExecutionState::delayed);
  pass(limits::suspend_pause);
  EXPECT_TRUE(claim().resumed);
}

TEST_P(Budgets, ABreachCanBeLeftToTheWorker) {
  for (const auto action : {OnHardLimit::reject, OnHardLimit::warn}) {
    const auto id = budget(action);
    submit(spending({id}));
    const auto claimed = claim();
    EXPECT_EQ(must(run(report(id, 11, claimed))).action, action);
    EXPECT_EQ(usage_of(id).contains("tokens"), action == OnHardLimit::warn);
    must(run(complete(claimed)));
  }
}

TEST_P(Budgets, RunningWorkGoesOnWhenOthersUseUpTheBudget) {
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

TEST_P(Budgets, SpendingOfAnExecutionIsReleasedOnce) {
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

TEST_P(Budgets, SpendingBeforeAResetIsNotReleased) {
  const auto id = budget();
  const auto execution = submit(spending({id}));
  must(run(report(id, 4, claim())));
  must(run(ResetBudget{id}));
  must(run(report(id, 5)));
  EXPECT_EQ(must(run(ReleaseUsage{.id = id, .execution = execution})).released, Amounts{});
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", 5}}));
}

TEST_P(Budgets, TheLedgerOfAnExecutionGoesWithIt) {
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

TEST_P(Budgets, UsageIsResetOnSchedule) {
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

TEST_P(Budgets, PeriodsDoNotDrift) {
  const auto id = budget({.hard_limits = {{"tokens", 10}}, .reset_interval = 10s});
  const auto made = now();
  pass(37s);
  EXPECT_EQ(budget_info(id).next_reset_at, made + 40s);
  pass(9s);
  EXPECT_EQ(budget_info(id).next_reset_at, made + 50s);
}

TEST_P(Budgets, AResetThatIsDueCountsEvenBeforeAScannerComesRound) {
  const auto id = budget({.hard_limits = {{"tokens", 10}}, .reset_interval = 10s});
  const auto execution = submit(spending({id}));
  use_up(id);
  EXPECT_EQ(claimable(), 0u);
  advance(10s);
  EXPECT_EQ(claim().id, execution);
  EXPECT_EQ(outcome_of(report(id, 10)), UsageOutcome::applied);
  EXPECT_EQ(usage_of(id), (Amounts{{"tokens", 10}}));
}

// ---- The budgets themselves ---------------------------------------------------------------------

TEST_P(Budgets, ABudgetIsAsItWasMade) {
  const BudgetSpec spec{.scope_type = "tenant",
                        .scope_id = "acme",
                        .enforcement = Enforcement::strict,
                        .on_hard_limit = OnHardLimit::suspend,
                        .on_soft_limit = OnSoftLimit::ignore,
                        .hard_limits = {{"cost_cents", 500}, {"tokens", 10}},
                        .soft_limits = {{"tokens", 8}},
                        .reset_interval = 1h};
  const auto id = budget(spec);
  for (int i = 0; i < 2; ++i) {
    const auto told = budget_info(id);
    EXPECT_EQ(told.spec, spec);
    EXPECT_EQ(told.ns, default_namespace());
    EXPECT_EQ(told.created_at, now());
    EXPECT_EQ(told.next_reset_at, now() + 1h);
    EXPECT_EQ(told.usage, Amounts{});
    home_->restart();
  }
}

TEST_P(Budgets, CreatingTheSameAgainChangesNothing) {
  const CreateBudget create{.id = BudgetId{id_in(0, 7).uuid()},
                            .spec = {.hard_limits = {{"tokens", 10}}}};
  EXPECT_FALSE(must(run(create)).duplicate);
  use_up(*create.id);
  EXPECT_TRUE(must(run(create)).duplicate);
  EXPECT_EQ(usage_of(*create.id), (Amounts{{"tokens", 10}}));
  auto other = create;
  other.spec.hard_limits["tokens"] = 11;
  EXPECT_EQ(error_of(other), Errc::duplicate_mismatch);
}

TEST_P(Budgets, AreListedByNamespaceInPages) {
  std::vector<BudgetId> mine;
  for (int i = 0; i < 5; ++i) mine.push_back(budget());
  must(run(CreateBudget{.ns = ns("other"), .spec = {.hard_limits = {{"tokens", 1}}}}));
  std::ranges::sort(mine);
  std::vector<BudgetId> listed;
  ListBudgets query{.limit = 2};
  while (true) {
    const auto page = must(run(query));
    EXPECT_LE(page.budgets.size(), 2u);
    for (const auto& each : page.budgets) listed.push_back(each.id);
    if (!page.next) break;
    query.after = page.next;
  }
  EXPECT_EQ(listed, mine);
}

TEST_P(Budgets, BadOnesAreRefused) {
  const auto refused = [&](BudgetSpec spec) {
    return error_of(CreateBudget{.spec = std::move(spec)});
  };
  EXPECT_EQ(refused({}), Errc::invalid_input);
  EXPECT_EQ(refused({.hard_limits = {{"tokens", 0}}}), Errc::invalid_input);
  EXPECT_EQ(refused({.hard_limits = {{"tokens", limits::amount_max + 1}}}), Errc::invalid_input);
  EXPECT_EQ(refused({.hard_limits = {{"", 1}}}), Errc::invalid_input);
  EXPECT_EQ(refused({.hard_limits = {{"a b", 1}}}), Errc::invalid_input);
  EXPECT_EQ(refused({.hard_limits = {{std::string(65, 'a'), 1}}}), Errc::invalid_input);
  EXPECT_EQ(refused({.hard_limits = {{"t", 5}}, .soft_limits = {{"t", 6}}}), Errc::invalid_input);
  EXPECT_EQ(refused({.hard_limits = {{"t", 5}}, .reset_interval = 0ms}), Errc::invalid_input);
  Amounts many;
  for (std::size_t i = 0; i <= limits::dimensions_max; ++i) many[fmt::format("d{}", i)] = 1;
  EXPECT_EQ(refused({.hard_limits = many}), Errc::invalid_input);

  const auto id = budget();
  EXPECT_EQ(error_of(ReportUsage{.id = id, .amounts = {}}), Errc::invalid_input);
  EXPECT_EQ(error_of(ReportUsage{.id = id, .amounts = many}), Errc::invalid_input);
  EXPECT_EQ(usage_of(id), Amounts{});
}

INSTANTIATE_TEST_SUITE_P(, Budgets, ::testing::ValuesIn(home_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ff::conformance
