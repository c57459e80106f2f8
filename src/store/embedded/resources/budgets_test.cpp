#include "store/embedded/resources/budgets.hpp"

#include <flowfabric/limits.hpp>

#include <latch>

#include "core/execution/partitions.hpp"
#include "records.pb.h"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/resources/test_support.hpp"

namespace ff::embedded {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class BudgetsTest : public DeskTest {
 protected:
  // Of a store that it closes.
  std::size_t ledger_entries(const BudgetId& id) {
    std::size_t count = 0;
    close();
    edit([&](Database& database, Changes&) {
      must(database.for_each({.prefix = keys::ledger_of(id)}, [&](auto, auto) {
        ++count;
        return Result<Database::Next>(Database::Next::go_on);
      }));
    });
    return count;
  }
};

TEST_F(BudgetsTest, MakesABudgetOnce) {
  open();
  const CreateBudget command{.id = BudgetId{random_uuid()}, .spec = {.hard_limits = {{"t", 9}}}};
  EXPECT_FALSE(must(run(command)).duplicate);
  report(*command.id, {{"t", 4}});
  EXPECT_TRUE(must(run(command)).duplicate);
  EXPECT_EQ(usage(*command.id), (Amounts{{"t", 4}}));
  auto other = command;
  other.spec.hard_limits["t"] = 10;
  EXPECT_EQ(error_of(other), Errc::duplicate_mismatch);
  other = command;
  other.ns = *Namespace::parse("other");
  EXPECT_EQ(error_of(other), Errc::duplicate_mismatch);
}

TEST_F(BudgetsTest, KnowsNoBudgetThatWasNotMade) {
  open();
  const BudgetId unknown{random_uuid()};
  EXPECT_EQ(error_of(GetBudget{unknown}), Errc::budget_not_found);
  EXPECT_EQ(error_of(ReportUsage{.id = unknown, .amounts = {{"t", 1}}}), Errc::budget_not_found);
  EXPECT_EQ(error_of(ReleaseUsage{.id = unknown, .execution = work_}), Errc::budget_not_found);
  EXPECT_EQ(error_of(ResetBudget{unknown}), Errc::budget_not_found);
  EXPECT_EQ(error_of(DeleteBudget{unknown}), Errc::budget_not_found);
  EXPECT_EQ(error_of(core::CheckBudget{unknown}), Errc::budget_not_found);
  EXPECT_EQ(error_of(core::ResetIfDue{unknown}), Errc::budget_not_found);
  EXPECT_THAT(must(run(core::AllBudgets{})), IsEmpty()) << "a report makes none";
  EXPECT_TRUE(run(core::ForgetSpending{.budget = unknown, .execution = work_}));
  EXPECT_THAT(must(run(core::LedgerOf{.budget = unknown})), IsEmpty());
}

TEST_F(BudgetsTest, ListsTheBudgetsOfANamespace) {
  open();
  std::set<BudgetId> ids;
  for (int i = 0; i < 5; ++i) ids.insert(budget());
  must(run(
      CreateBudget{.id = BudgetId{random_uuid()}, .ns = *Namespace::parse("other"), .spec = {}}));
  std::vector<BudgetId> listed;
  ListBudgets query{.limit = 2};
  do {
    const auto page = must(run(query));
    EXPECT_LE(page.budgets.size(), 2u);
    for (const auto& each : page.budgets) listed.push_back(each.id);
    query.after = page.next;
  } while (query.after);
  EXPECT_THAT(listed, ::testing::ElementsAreArray(ids));
  EXPECT_THAT(must(run(core::AllBudgets{})), SizeIs(6));
  EXPECT_THAT(must(run(core::AllBudgets{.after = *ids.rbegin(), .max = 1})),
              SizeIs(testing::Le(1u)));
}

TEST_F(BudgetsTest, CountsWhatManyReportAtOnce) {
  open();
  const auto id = budget({.hard_limits = {{"t", 1'000}}});
  std::atomic<int> applied = 0;
  {
    std::vector<std::jthread> reporters;
    for (int i = 0; i < 4; ++i)
      reporters.emplace_back([&] {
        for (int round = 0; round < 100; ++round)
          if (report(id, {{"all", 1}, {"t", 3}}) == UsageOutcome::applied) ++applied;
      });
  }
  EXPECT_EQ(applied, 333);
  EXPECT_EQ(usage(id), (Amounts{{"all", 333}, {"t", 999}}));
  EXPECT_EQ(must(run(GetBudget{id})).breach_count, 67u);
}

TEST_F(BudgetsTest, AppliesAReportWithADedupKeyOnce) {
  open();
  const auto id = budget();
  EXPECT_EQ(report(id, {{"t", 5}}, dedup("a"), work_), UsageOutcome::applied);
  EXPECT_EQ(report(id, {{"t", 5}}, dedup("a"), work_), UsageOutcome::already_applied);
  EXPECT_EQ(report(id, {{"t", 5}}, dedup("b"), work_), UsageOutcome::applied);
  EXPECT_EQ(error_of(ReportUsage{.id = id, .amounts = {{"t", 6}}, .dedup_key = dedup("a")}),
            Errc::duplicate_mismatch);
  EXPECT_EQ(error_of(ReportUsage{.id = id, .amounts = {{"t", 5}}, .dedup_key = dedup("a")}),
            Errc::duplicate_mismatch)
      << "that is of no execution";
  EXPECT_EQ(report(budget(), {{"t", 5}}, dedup("a")), UsageOutcome::applied)
      << "another budget has keys of its own";
  EXPECT_EQ(usage(id), (Amounts{{"t", 10}}));
}

TEST_F(BudgetsTest, SeesTheDedupKeysOfTheSameBatch) {
  auto& store = open();
  const auto id = budget();
  std::atomic<int> applied = 0;
  std::vector<store::AnyCall> calls;
  std::latch answered(20);
  for (int i = 0; i < 20; ++i)
    calls.push_back(store::Call<ReportUsage>{
        {.id = id, .amounts = {{"t", 1}}, .dedup_key = dedup("same"), .execution = work_},
        [&](Result<UsageReply> reply) {
          if (must(reply).outcome == UsageOutcome::applied) ++applied;
          answered.count_down();
        }});
  store.start(std::move(calls));
  answered.wait();
  EXPECT_EQ(applied, 1);
  EXPECT_EQ(release(id, work_), (Amounts{{"t", 1}}));
}

TEST_F(BudgetsTest, ARefusedReportDoesNotUseItsDedupKeyUp) {
  open();
  const auto id = budget({.hard_limits = {{"t", 10}}});
  report(id, {{"t", 8}});
  EXPECT_EQ(report(id, {{"t", 5}}, dedup("a"), work_), UsageOutcome::hard_breach);
  EXPECT_THAT(must(run(core::LedgerOf{.budget = id})), IsEmpty());
  must(run(ResetBudget{id}));
  EXPECT_EQ(report(id, {{"t", 5}}, dedup("a"), work_), UsageOutcome::applied);
}

TEST_F(BudgetsTest, ForgetsDedupKeysInTime) {
  open();
  const auto id = budget();
  report(id, {{"t", 1}}, dedup("a"));
  clock_->advance(limits::usage_dedup_window - 1ms);
  EXPECT_EQ(report(id, {{"t", 1}}, dedup("a")), UsageOutcome::already_applied);
  clock_->advance(1ms);
  EXPECT_EQ(report(id, {{"t", 1}}, dedup("a")), UsageOutcome::applied);
  report(id, {{"t", 1}}, dedup("b"));
  clock_->advance(limits::usage_dedup_window - 1ms);
  must(run(core::ReconcileBudgets{}));
  EXPECT_EQ(report(id, {{"t", 1}}, dedup("a")), UsageOutcome::already_applied);
  EXPECT_EQ(check().index_entries, 2u);
  clock_->advance(1ms);
  open();
  must(run(core::ReconcileBudgets{}));
  const auto checked = check();
  EXPECT_THAT(checked.problems, IsEmpty());
  EXPECT_EQ(checked.index_entries, 0u);
}

TEST_F(BudgetsTest, ForgetsManyDedupKeysInSlices) {
  open();
  const auto id = budget();
  constexpr int reports = 5'001;
  std::vector<std::future<Result<UsageReply>>> answers;
  for (int i = 0; i < reports; ++i)
    answers.push_back(start(
        *store_,
        ReportUsage{.id = id, .amounts = {{"t", 1}}, .dedup_key = dedup(fmt::format("k{}", i))}));
  for (auto& each : answers) must(each.get());
  clock_->advance(limits::usage_dedup_window);
  EXPECT_TRUE(must(run(core::ReconcileBudgets{}))) << "there are more";
  EXPECT_FALSE(must(run(core::ReconcileBudgets{})));
  report(id, {{"t", 1}}, dedup("k1"));
  clock_->advance(limits::usage_dedup_window);
  EXPECT_FALSE(must(run(core::ReconcileBudgets{})));
  EXPECT_EQ(check().index_entries, 0u);
}

TEST_F(BudgetsTest, TakesBackWhatAnExecutionSpentOnce) {
  open();
  const auto id = budget();
  const auto other = create().id;
  report(id, {{"t", 3}}, {}, work_);
  report(id, {{"c", 1}, {"t", 4}}, {}, work_);
  report(id, {{"t", 10}}, {}, other);
  report(id, {{"t", 100}});
  EXPECT_THAT(must(run(core::LedgerOf{.budget = id})),
              ::testing::UnorderedElementsAre(work_, other));
  EXPECT_EQ(release(id, work_), (Amounts{{"c", 1}, {"t", 7}}));
  EXPECT_THAT(release(id, work_), IsEmpty());
  EXPECT_EQ(usage(id), (Amounts{{"t", 110}}));
  must(run(core::ForgetSpending{.budget = id, .execution = other}));
  EXPECT_THAT(release(id, other), IsEmpty());
  EXPECT_EQ(usage(id), (Amounts{{"t", 110}}));
}

TEST_F(BudgetsTest, PagesThroughALedger) {
  open();
  const auto id = budget();
  std::set<ExecutionId> spent;
  for (int i = 0; i < 7; ++i) {
    const auto execution = create().id;
    report(id, {{"t", 1}}, {}, execution);
    spent.insert(execution);
  }
  std::vector<ExecutionId> found;
  core::LedgerOf query{.budget = id, .max = 3};
  for (auto page = must(run(query)); !page.empty(); page = must(run(query))) {
    found.insert(found.end(), page.begin(), page.end());
    query.after = page.back();
  }
  EXPECT_THAT(found, ::testing::ElementsAreArray(spent));
}

TEST_F(BudgetsTest, AResetForgetsWhatWasSpent) {
  open();
  const auto id = budget({.hard_limits = {{"t", 10}}});
  report(id, {{"t", 10}}, {}, work_);
  EXPECT_TRUE(must(run(core::CheckBudget{id})).breach);
  EXPECT_FALSE(must(run(ResetBudget{id})).next_reset_at);
  EXPECT_FALSE(must(run(core::CheckBudget{id})).breach);
  report(id, {{"t", 6}});
  EXPECT_THAT(release(id, work_), IsEmpty()) << "what the reset took away is not taken twice";
  EXPECT_EQ(usage(id), (Amounts{{"t", 6}}));
  EXPECT_EQ(must(run(GetBudget{id})).reset_count, 1u);
}

// It would take as long as there are executions that spent something.
TEST_F(BudgetsTest, AResetErasesNoLedger) {
  open();
  const auto id = budget();
  report(id, {{"t", 10}}, {}, work_);
  report(id, {{"t", 20}}, {}, create().id);
  must(run(ResetBudget{id}));
  EXPECT_THAT(must(run(core::LedgerOf{.budget = id})), IsEmpty());
  EXPECT_EQ(ledger_entries(id), 2u);
  open();
  report(id, {{"t", 1}}, dedup("k"), work_);
  clock_->advance(limits::usage_dedup_window);
  EXPECT_FALSE(must(run(core::ReconcileBudgets{})));
  EXPECT_EQ(ledger_entries(id), 1u) << "erased in slices, later";
  open();
  EXPECT_EQ(release(id, work_), (Amounts{{"t", 1}})) << "only what was spent after the reset";
}

TEST_F(BudgetsTest, LedgerOfAnOlderFormatCountsSinceTheLastReset) {
  open();
  const auto id = budget();
  must(run(ResetBudget{id}));
  report(id, {{"t", 10}}, {}, work_);
  close();
  edit([&](Database&, Changes& changes) {
    proto::Store store;
    store.set_format_version(4);
    store.set_partition_count(core::partition_count_default);
    changes.put(keys::store, store.SerializeAsString());
    changes.put(keys::ledger(id, work_), encode(Spending{{{"t", 10}}, 0}));
  });
  open();
  EXPECT_EQ(release(id, work_), (Amounts{{"t", 10}}));
}

TEST_F(BudgetsTest, ResetsBudgetsWhenTheirTimeHasCome) {
  open();
  const auto start = clock_->now();
  const auto slow = budget({.reset_interval = 100s});
  const auto fast = budget({.reset_interval = 10s});
  budget();
  report(fast, {{"t", 5}}, {}, work_);
  EXPECT_THAT(must(run(core::ResetsDue{.max = 9})).due, IsEmpty());
  EXPECT_EQ(must(run(core::ResetsDue{.max = 9})).next, start + 10s);
  EXPECT_EQ(must(run(core::ResetIfDue{fast})).next_reset_at, start + 10s);
  EXPECT_EQ(usage(fast), (Amounts{{"t", 5}}));

  clock_->advance(25s);
  EXPECT_THAT(must(run(core::ResetsDue{.max = 9})).due, ElementsAre(fast));
  EXPECT_EQ(must(run(core::ResetIfDue{fast})).next_reset_at, start + 30s);
  EXPECT_EQ(must(run(core::ResetIfDue{fast})).next_reset_at, start + 30s);
  EXPECT_EQ(must(run(GetBudget{fast})).reset_count, 1u);
  EXPECT_THAT(release(fast, work_), IsEmpty());

  clock_->advance(100s);
  EXPECT_THAT(must(run(core::ResetsDue{.max = 9})).due, ElementsAre(fast, slow));
  const auto some = must(run(core::ResetsDue{.max = 1}));
  EXPECT_THAT(some.due, ElementsAre(fast));
  EXPECT_EQ(some.next, clock_->now()) << "there is more at once";
}

TEST_F(BudgetsTest, AReportAfterTheTimeOfAResetDoesItFirst) {
  auto& store = open();
  const auto id = budget({.hard_limits = {{"t", 10}}, .reset_interval = 10s});
  report(id, {{"t", 10}}, {}, work_);
  clock_->advance(10s);
  EXPECT_FALSE(must(run(core::CheckBudget{id})).breach);
  const auto told = openings_of(store, [&] {
    EXPECT_EQ(report(id, {{"t", 4}}, {}, work_), UsageOutcome::applied);
    EXPECT_EQ(release(id, work_), (Amounts{{"t", 4}}));
  });
  EXPECT_THAT(told, ElementsAre(id.str(), id.str()));
}

TEST_F(BudgetsTest, DeletesABudgetWithAllThatBelongsToIt) {
  open();
  const auto id = budget({.reset_interval = 10s});
  report(id, {{"t", 5}}, dedup("a"), work_);
  must(run(DeleteBudget{id}));
  EXPECT_EQ(error_of(GetBudget{id}), Errc::budget_not_found);
  EXPECT_THAT(must(run(ListBudgets{})).budgets, IsEmpty());
  EXPECT_FALSE(must(run(core::ResetsDue{.max = 9})).next);
  must(run(CreateBudget{.id = id, .spec = {}}));
  EXPECT_EQ(report(id, {{"t", 5}}, dedup("a")), UsageOutcome::applied);
  EXPECT_THAT(release(id, work_), IsEmpty());
  must(run(DeleteBudget{id}));
  const auto checked = check();
  EXPECT_THAT(checked.problems, IsEmpty());
  EXPECT_EQ(checked.budgets + checked.index_entries, 0u);
}

TEST_F(BudgetsTest, TellsWhenABudgetMayHaveRoom) {
  auto& store = open();
  BudgetId id;
  const auto told = openings_of(store, [&] {
    id = budget({.reset_interval = 10s});  // 1
    report(id, {{"t", 5}}, {}, work_);
    release(id, work_);  // 2
    release(id, work_);
    must(run(ResetBudget{id}));  // 3
    must(run(core::ResetIfDue{id}));
    clock_->advance(10s);
    must(run(core::ResetIfDue{id}));  // 4
    must(run(CreateBudget{.id = id, .spec = {.reset_interval = 10s}}));
    must(run(DeleteBudget{id}));  // 5
  });
  EXPECT_THAT(told, SizeIs(5));
  EXPECT_THAT(told, ::testing::Each(id.str()));
}

}  // namespace
}  // namespace ff::embedded
