#include "tests/conformance/resources/budget_conformance.hpp"

namespace ff::conformance {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

class Budgets : public BudgetConformance {};

// ---- Work that a budget holds back -------------------------------------------------------------

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
