#include "store/embedded/resources/resource_shard.hpp"

#include "store/embedded/resources/test_support.hpp"

namespace ff::embedded {
namespace {

using test::DiskFault;
using test::Unsynced;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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
      .id = set_aside, .worker = worker("w"), .token = admit(id), .grant_ttl = 10s}));
  EXPECT_TRUE(admit(id)) << "and never starts";
  EXPECT_EQ(info(id).running, 3u);

  clock_->advance(5s);
  open();
  EXPECT_EQ(info(id).running, 2u);
  const auto held = must(run(core::HeldTokens{.quota = id, .before = clock_->now() + 1ms}));
  ASSERT_THAT(held, SizeIs(2));
  for (const auto& each : held) {
    EXPECT_TRUE(must(run(core::HoldsToken{.id = each.execution, .token = each.token})));
    EXPECT_EQ(each.admitted_at, each.execution == running ? lease_start : clock_->now());
    must(run(core::ReleaseToken{.quota = id, .token = each.token}));
  }
  EXPECT_EQ(info(id).running, 0u);
}

TEST_F(DeskTest, KnowsNoWorkersAfterARestart) {
  open();
  must(run(RegisterWorker{.worker = worker("a")}));
  open();
  EXPECT_EQ(error_of(HeartbeatWorker{.worker = worker("a")}), Errc::worker_not_found);
}

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
  store_->set_sinks({.on_opening = [&](const auto&) { ++told; }});
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
    if (auto opened = embedded::open(faulty)) {
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

}  // namespace
}  // namespace ff::embedded
