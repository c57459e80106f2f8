#include "store/embedded/desk.hpp"

#include <flowfabric/limits.hpp>

#include <latch>

#include "store/embedded/keys.hpp"
#include "store/embedded/test_support.hpp"
#include "tests/support/faulty_env.hpp"

namespace ff::embedded {
namespace {

using test::DiskFault;
using test::Unsynced;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

DedupKey dedup(const std::string& text) { return *DedupKey::parse(text); }
WorkerId worker(const char* name) { return *WorkerId::parse(name); }
AdmissionId token() { return AdmissionId{random_uuid()}; }

class DeskTest : public StoreTest {
 protected:
  ~DeskTest() override { close(); }  // before the disk goes

  EmbeddedStore& open_on_disk(store::Durability durability = store::Durability::standard) {
    auto faulty = options();
    faulty.env = disk_.env();
    faulty.durability = durability;
    return open(faulty);
  }
  void cut_power() {
    disk_.fail(DiskFault::power_cut);
    close();
    disk_.power_on(Unsynced::lost);
  }

  BudgetId budget(BudgetSpec spec = {}) {
    const BudgetId id{random_uuid()};
    must(run(CreateBudget{.id = id, .spec = std::move(spec)}));
    return id;
  }
  QuotaId quota(QuotaSpec spec) {
    const QuotaId id{random_uuid()};
    must(run(CreateQuota{.id = id, .spec = spec}));
    return id;
  }
  UsageOutcome report(const BudgetId& id, Amounts amounts, std::optional<DedupKey> key = {},
                      std::optional<ExecutionId> execution = {}) {
    return must(run(ReportUsage{.id = id,
                                .amounts = std::move(amounts),
                                .dedup_key = std::move(key),
                                .execution = execution}))
        .outcome;
  }
  Amounts usage(const BudgetId& id) { return must(run(GetBudget{id})).usage; }
  Amounts release(const BudgetId& id, const ExecutionId& execution) {
    return must(run(ReleaseUsage{.id = id, .execution = execution})).released;
  }
  std::optional<core::Admission> admit(const QuotaId& id, AdmissionId admission = token()) {
    return must(run(core::Admit{.quota = id, .admission = admission, .execution = create().id}))
        .admission;
  }
  QuotaInfo info(const QuotaId& id) { return must(run(GetQuota{id})); }

  // An execution that runs under a quota.
  ExecutionId start_under(const QuotaId& id) {
    const auto execution = submit({.policy = {.quota = id}});
    auto lease = lease_grant(execution);
    lease.admission = admit(id);
    must(run(std::move(lease)));
    return execution;
  }

  std::vector<std::string> openings_of(EmbeddedStore& store, const std::function<void()>& change) {
    std::mutex mutex;
    std::vector<std::string> told;
    store.set_opening_sink([&](const store::Opening& opening) {
      const std::lock_guard lock(mutex);
      told.push_back(std::visit([](const auto& id) { return id.str(); }, opening.of));
    });
    change();
    close();
    return told;
  }

  template <class Op>
  Errc error_of(Op operation) {
    const auto reply = run(std::move(operation));
    return reply ? Errc::internal : reply.error().code;
  }

  test::FaultyEnv disk_;
  const ExecutionId work_ = create().id;
};

// ---- Budgets -------------------------------------------------------------------------------------

TEST_F(DeskTest, MakesABudgetOnce) {
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

TEST_F(DeskTest, KnowsNoBudgetThatWasNotMade) {
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

TEST_F(DeskTest, ListsTheBudgetsOfANamespace) {
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

TEST_F(DeskTest, CountsWhatManyReportAtOnce) {
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

TEST_F(DeskTest, AppliesAReportWithADedupKeyOnce) {
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

TEST_F(DeskTest, SeesTheDedupKeysOfTheSameBatch) {
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

TEST_F(DeskTest, ARefusedReportDoesNotUseItsDedupKeyUp) {
  open();
  const auto id = budget({.hard_limits = {{"t", 10}}});
  report(id, {{"t", 8}});
  EXPECT_EQ(report(id, {{"t", 5}}, dedup("a"), work_), UsageOutcome::hard_breach);
  EXPECT_THAT(must(run(core::LedgerOf{.budget = id})), IsEmpty());
  must(run(ResetBudget{id}));
  EXPECT_EQ(report(id, {{"t", 5}}, dedup("a"), work_), UsageOutcome::applied);
}

TEST_F(DeskTest, ForgetsDedupKeysInTime) {
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

TEST_F(DeskTest, TakesBackWhatAnExecutionSpentOnce) {
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

TEST_F(DeskTest, PagesThroughALedger) {
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

TEST_F(DeskTest, AResetEmptiesTheLedgers) {
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

TEST_F(DeskTest, ResetsBudgetsWhenTheirTimeHasCome) {
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

TEST_F(DeskTest, AReportAfterTheTimeOfAResetDoesItFirst) {
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

TEST_F(DeskTest, DeletesABudgetWithAllThatBelongsToIt) {
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

TEST_F(DeskTest, TellsWhenABudgetMayHaveRoom) {
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

// ---- Quotas --------------------------------------------------------------------------------------

TEST_F(DeskTest, MakesAQuotaOnce) {
  open();
  const CreateQuota command{.id = QuotaId{random_uuid()}, .spec = {.max_concurrent = 1}};
  EXPECT_FALSE(must(run(command)).duplicate);
  EXPECT_TRUE(must(run(command)).duplicate);
  auto other = command;
  other.spec.max_concurrent = 2;
  EXPECT_EQ(error_of(other), Errc::duplicate_mismatch);
  EXPECT_THAT(must(run(ListQuotas{})).quotas, SizeIs(1));
  EXPECT_THAT(must(run(core::AllQuotas{})), ElementsAre(*command.id));
}

TEST_F(DeskTest, KnowsNoQuotaThatWasNotMade) {
  open();
  const QuotaId unknown{random_uuid()};
  EXPECT_EQ(error_of(GetQuota{unknown}), Errc::quota_not_found);
  EXPECT_EQ(error_of(DeleteQuota{unknown}), Errc::quota_not_found);
  EXPECT_EQ(error_of(core::Admit{.quota = unknown, .admission = token(), .execution = work_}),
            Errc::quota_not_found);
  EXPECT_TRUE(run(core::ReleaseAdmission{.quota = unknown, .admission = token()}));
  EXPECT_THAT(must(run(core::HeldAdmissions{.quota = unknown, .before = clock_->now()})),
              IsEmpty());
}

TEST_F(DeskTest, LetsNoMoreInThanAQuotaAllows) {
  open();
  const auto id = quota({.window = 60s, .max_per_window = 100, .max_concurrent = 7});
  std::atomic<int> let_in = 0;
  {
    std::vector<std::jthread> starters;
    for (int i = 0; i < 4; ++i)
      starters.emplace_back([&] {
        for (int round = 0; round < 50; ++round) {
          const auto admitted = admit(id);
          if (!admitted) continue;
          ++let_in;
          EXPECT_LE(info(id).running, 7u);
          must(run(core::ReleaseAdmission{.quota = id, .admission = admitted->id}));
        }
      });
  }
  EXPECT_LE(let_in, 100);
  EXPECT_EQ(info(id).running, 0u);
  EXPECT_EQ(info(id).in_window, static_cast<std::uint64_t>(let_in));
}

TEST_F(DeskTest, DeletesAQuotaWithItsWindow) {
  open();
  const auto id = quota({.window = 60s, .max_per_window = 1});
  EXPECT_TRUE(admit(id));
  must(run(DeleteQuota{id}));
  must(run(CreateQuota{.id = id, .spec = {.window = 60s, .max_per_window = 1}}));
  open();
  EXPECT_TRUE(admit(id));
  EXPECT_FALSE(admit(id));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(DeskTest, ForgetsStartsThatArePast) {
  open();
  const auto id = quota({.window = 60s, .max_per_window = 5});
  admit(id);
  clock_->advance(30s);
  admit(id);
  EXPECT_EQ(check().index_entries, 2u);
  open();
  clock_->advance(30s);
  must(run(core::ReconcileQuotas{}));
  EXPECT_EQ(check().index_entries, 1u);
  open();
  clock_->advance(60s);
  admit(id);
  EXPECT_EQ(check().index_entries, 1u) << "an admission forgets them, too";
}

TEST_F(DeskTest, TellsWhenAQuotaMayHaveRoom) {
  auto& store = open();
  QuotaId id;
  const auto told = openings_of(store, [&] {
    id = quota({.max_per_window = 5, .max_concurrent = 5});  // 1
    const auto used = *admit(id);
    const auto unused = *admit(id);
    must(run(core::ReleaseAdmission{.quota = id, .admission = used.id}));  // 2
    must(run(core::ReleaseAdmission{.quota = id, .admission = used.id}));
    must(run(core::ReleaseAdmission{.quota = id, .admission = unused.id, .unused = true}));  // 3
    must(run(DeleteQuota{id}));                                                              // 4
  });
  EXPECT_THAT(told, SizeIs(4));
  EXPECT_THAT(told, ::testing::Each(id.str()));
}

// ---- Workers -------------------------------------------------------------------------------------

TEST_F(DeskTest, KnowsTheWorkersThatAreAlive) {
  open();
  const auto start = clock_->now();
  const auto registered = must(run(RegisterWorker{
      .worker = worker("a"), .capabilities = *CapabilitySet::parse({"gpu"}), .ttl = 10s}));
  EXPECT_EQ(registered, (RegisterReply{.known = false, .expires_at = start + 10s}));
  must(run(RegisterWorker{.worker = worker("b"), .ttl = 30s}));
  must(run(RegisterWorker{.worker = worker("c"), .ns = *Namespace::parse("other")}));

  clock_->advance(9s);
  EXPECT_EQ(must(run(HeartbeatWorker{.worker = worker("a")})),
            (RegisterReply{.known = true, .expires_at = start + 19s}));
  clock_->advance(9s);
  const auto both = must(run(core::LiveWorkers{default_namespace()}));
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_EQ(both[0].worker, worker("a"));
  EXPECT_EQ(both[0].capabilities.csv(), "gpu");
  EXPECT_EQ(both[0].registered_at, start);
  EXPECT_EQ(both[0].last_seen_at, start + 9s);

  clock_->advance(1s);
  EXPECT_EQ(error_of(HeartbeatWorker{.worker = worker("a")}), Errc::worker_not_found);
  EXPECT_THAT(must(run(core::LiveWorkers{default_namespace()})), SizeIs(1));
  EXPECT_FALSE(must(run(RegisterWorker{.worker = worker("a")})).known);
  must(run(DeregisterWorker{.worker = worker("b")}));
  must(run(DeregisterWorker{.worker = worker("b")}));
  EXPECT_EQ(error_of(HeartbeatWorker{.worker = worker("b")}), Errc::worker_not_found);
  EXPECT_THAT(must(run(core::LiveWorkers{default_namespace()})), SizeIs(1));
}

TEST_F(DeskTest, RemembersThatAWorkerDrains) {
  open();
  must(run(RegisterWorker{.worker = worker("a"), .ttl = 10s}));
  EXPECT_TRUE(must(run(DrainWorker{.worker = worker("a")})).draining);
  EXPECT_TRUE(must(run(HeartbeatWorker{.worker = worker("a")})).draining);
  const auto again = must(run(RegisterWorker{.worker = worker("a"), .ttl = 10s}));
  EXPECT_TRUE(again.known);
  EXPECT_TRUE(again.draining);
  EXPECT_FALSE(must(run(DrainWorker{.worker = worker("a"), .draining = false})).draining);
  must(run(DrainWorker{.worker = worker("a")}));
  clock_->advance(10s);
  EXPECT_EQ(error_of(DrainWorker{.worker = worker("a")}), Errc::worker_not_found);
  EXPECT_FALSE(must(run(RegisterWorker{.worker = worker("a")})).draining) << "it is a new one";
}

TEST_F(DeskTest, HasRoomForSoManyWorkersThatAreAlive) {
  auto& store = open();
  std::vector<std::future<Result<RegisterReply>>> replies;
  for (std::size_t i = 0; i < limits::workers_max; ++i)
    replies.push_back(
        start(store, RegisterWorker{.worker = *WorkerId::parse(fmt::format("w{}", i)), .ttl = 9s}));
  for (auto& reply : replies) ASSERT_TRUE(reply.get());
  EXPECT_EQ(error_of(RegisterWorker{.worker = worker("one-more")}), Errc::resource_exhausted);
  EXPECT_TRUE(run(RegisterWorker{.worker = worker("w7"), .ttl = 9s}));
  EXPECT_TRUE(run(RegisterWorker{.worker = worker("one-more"), .ns = *Namespace::parse("other")}));
  clock_->advance(9s);
  EXPECT_TRUE(run(RegisterWorker{.worker = worker("one-more")}));
}

// ---- What is left after a restart ----------------------------------------------------------------

TEST_F(DeskTest, KeepsBudgetsOverARestart) {
  open();
  const auto id = budget({.hard_limits = {{"t", 10}}, .reset_interval = 60s});
  report(id, {{"t", 8}}, dedup("a"), work_);
  report(id, {{"t", 8}});
  const auto before = must(run(GetBudget{id}));
  open();
  EXPECT_EQ(must(run(GetBudget{id})), before);
  EXPECT_EQ(report(id, {{"t", 8}}, dedup("a"), work_), UsageOutcome::already_applied);
  EXPECT_EQ(must(run(core::ResetsDue{.max = 1})).next, before.next_reset_at);
  EXPECT_EQ(release(id, work_), (Amounts{{"t", 8}}));
}

TEST_F(DeskTest, KeepsTheWindowsOfQuotasOverARestart) {
  open();
  const auto id = quota({.window = 60s, .max_per_window = 2});
  const auto first = token();
  const auto admitted = admit(id, first);
  clock_->advance(5s);
  admit(id);
  open();
  EXPECT_FALSE(admit(id));
  EXPECT_EQ(admit(id, first), admitted);
  clock_->advance(55s);
  EXPECT_TRUE(admit(id));
  EXPECT_FALSE(admit(id));
}

TEST_F(DeskTest, SlotsAreHeldByThoseThatRunAfterARestart) {
  open();
  const auto id = quota({.max_concurrent = 3});
  const auto running = start_under(id);
  const auto lease_start = clock_->now();
  const auto set_aside = submit({.policy = {.quota = id}});
  must(run(core::GrantIssue{
      .id = set_aside, .worker = worker("w"), .admission = admit(id), .grant_ttl = 10s}));
  EXPECT_TRUE(admit(id)) << "and never starts";
  EXPECT_EQ(info(id).running, 3u);

  clock_->advance(5s);
  open();
  EXPECT_EQ(info(id).running, 2u);
  const auto held = must(run(core::HeldAdmissions{.quota = id, .before = clock_->now() + 1ms}));
  ASSERT_THAT(held, SizeIs(2));
  for (const auto& each : held) {
    EXPECT_TRUE(must(run(core::HoldsAdmission{.id = each.execution, .admission = each.admission})));
    EXPECT_EQ(each.admitted_at, each.execution == running ? lease_start : clock_->now());
    must(run(core::ReleaseAdmission{.quota = id, .admission = each.admission}));
  }
  EXPECT_EQ(info(id).running, 0u);
}

TEST_F(DeskTest, KnowsNoWorkersAfterARestart) {
  open();
  must(run(RegisterWorker{.worker = worker("a")}));
  open();
  EXPECT_EQ(error_of(HeartbeatWorker{.worker = worker("a")}), Errc::worker_not_found);
}

// ---- When the disk fails -------------------------------------------------------------------------

TEST_F(DeskTest, APowerCutLosesNoReport) {
  open_on_disk();
  const auto id = budget({.reset_interval = 1h});
  const auto limited = quota({.max_concurrent = 1});
  report(id, {{"t", 8}}, dedup("a"), work_);
  cut_power();
  open();
  EXPECT_EQ(usage(id), (Amounts{{"t", 8}}));
  EXPECT_EQ(report(id, {{"t", 8}}, dedup("a"), work_), UsageOutcome::already_applied);
  EXPECT_EQ(release(id, work_), (Amounts{{"t", 8}}));
  EXPECT_TRUE(admit(limited));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(DeskTest, APowerCutMayCostAPlaceInAWindowUnlessAllIsToBeKept) {
  for (const auto& [durability, kept] :
       {std::pair{store::Durability::standard, false}, {store::Durability::strict, true}}) {
    open_on_disk(durability);
    const auto id = quota({.window = 60s, .max_per_window = 1});
    ASSERT_TRUE(admit(id));
    cut_power();
    open();
    EXPECT_EQ(admit(id).has_value(), !kept);
    EXPECT_THAT(problems(), IsEmpty());
  }
}

TEST_F(DeskTest, AnswersNothingThatTheDiskDidNotTake) {
  open_on_disk();
  const auto id = budget();
  report(id, {{"t", 1}});
  std::atomic<int> told = 0;
  store_->set_opening_sink([&](const auto&) { ++told; });
  disk_.fail(DiskFault::sync_fails);
  EXPECT_EQ(error_of(ReportUsage{.id = id, .amounts = {{"t", 1}}}), Errc::store_unavailable);
  EXPECT_EQ(error_of(ResetBudget{id}), Errc::store_unavailable);
  EXPECT_EQ(error_of(GetBudget{id}), Errc::store_unavailable);
  EXPECT_EQ(error_of(core::LiveWorkers{default_namespace()}), Errc::store_unavailable);
  EXPECT_EQ(told, 0);
  close();
  disk_.power_on(Unsynced::lost);
  open();
  EXPECT_EQ(usage(id), (Amounts{{"t", 1}}));
}

TEST_F(DeskTest, AFullDiskStopsTheDeskForGood) {
  open_on_disk();
  const auto id = budget();
  disk_.fail(DiskFault::full);
  EXPECT_EQ(error_of(ReportUsage{.id = id, .amounts = {{"t", 1}}}), Errc::store_unavailable);
  disk_.power_on(Unsynced::kept);
  EXPECT_EQ(error_of(GetBudget{id}), Errc::store_unavailable);
  EXPECT_FALSE(store_->health());
  open();
  EXPECT_THAT(usage(id), IsEmpty());
}

// A power cut at any of the disk's calls: what was acknowledged is there, all of it or none of the rest.
TEST_F(DeskTest, APowerCutAtAnyCallLosesNothingThatWasAcknowledged) {
  const BudgetId id{random_uuid()};
  const auto work = [&](std::uint64_t& acknowledged, bool& made) {
    made = run(CreateBudget{.id = id, .spec = {.reset_interval = 1h}}).has_value();
    if (!made) return;
    for (int i = 0; i < 10; ++i) {
      const auto reply = run(ReportUsage{.id = id,
                                         .amounts = {{"a", 1}, {"b", 1}},
                                         .dedup_key = dedup(std::to_string(i)),
                                         .execution = work_});
      if (!reply) return;
      ++acknowledged;
    }
  };
  for (std::size_t call = 0;; call += 3) {
    std::filesystem::remove_all(directory());
    disk_.fail(DiskFault::power_cut, call);
    std::uint64_t acknowledged = 0;
    bool made = false;
    auto faulty = options();
    faulty.env = disk_.env();
    if (auto opened = EmbeddedStore::open(faulty)) {
      store_ = std::move(*opened);
      work(acknowledged, made);
    }
    close();
    const bool failed = disk_.has_failed();
    disk_.power_on(Unsynced::lost);
    if (made) {
      ASSERT_THAT(problems(), IsEmpty()) << "call " << call;
      open();
      const auto used = usage(id);
      EXPECT_GE(used.contains("a") ? used.at("a") : 0, acknowledged) << "call " << call;
      EXPECT_EQ(release(id, work_), used) << "call " << call;
      EXPECT_THAT(usage(id), IsEmpty());
    }
    if (!failed) break;
  }
}

// ---- Blocked executions --------------------------------------------------------------------------

TEST_F(DeskTest, FindsBlockedExecutionsOverAllShards) {
  open();
  std::vector<ExecutionId> ids;
  for (int i = 0; i < 7; ++i) {
    ids.push_back(submit({.policy = {.budgets = {BudgetId{random_uuid()}}}}));
    must(run(core::Block{.id = ids.back(), .reason = BlockingReason::waiting_for_budget}));
    clock_->advance(1s);
  }
  must(run(core::Block{.id = submit(), .reason = BlockingReason::waiting_for_capable_worker}));
  const auto find_all = [&] {
    std::vector<ExecutionId> found;
    store::FindBlocked query{.reason = BlockingReason::waiting_for_budget, .max = 3};
    do {
      const auto page = must(run(query));
      for (const auto& each : page.executions) {
        EXPECT_THAT(each.needs.budgets, SizeIs(1));
        found.push_back(each.id);
      }
      query.after = page.next;
    } while (query.after);
    return found;
  };
  EXPECT_EQ(find_all(), ids);
  EXPECT_THAT(must(run(store::CountBlocked{})),
              ElementsAre(store::BlockedCount{BlockingReason::waiting_for_budget, 7},
                          store::BlockedCount{BlockingReason::waiting_for_capable_worker, 1}));
  open();
  EXPECT_EQ(find_all(), ids);
  must(run(core::Unblock{.id = ids[0], .reason = BlockingReason::waiting_for_budget}));
  EXPECT_THAT(find_all(), SizeIs(6));
  const auto from_the_start = must(run(store::FindBlocked{
      .reason = BlockingReason::waiting_for_budget, .after = "no cursor", .max = 100}));
  EXPECT_THAT(from_the_start.executions, SizeIs(6));
  EXPECT_FALSE(from_the_start.next);
}

}  // namespace
}  // namespace ff::embedded
