// A claim that breaks off between any two of its steps leaves nothing behind.
#include <gtest/gtest.h>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include "engine/breaking_store.hpp"

namespace ff {
namespace {

class ClaimBreaksOff : public OnABreakingStore, public ::testing::WithParamInterface<Break> {
 protected:
  // `attempt` is made again and again, each time broken off one call later.
  template <class Attempt>
  void break_everywhere(Attempt attempt) {
    for (int number = 0; number < 100; ++number) {
      SCOPED_TRACE(number);
      begin();
      store_->break_call(number, GetParam());
      attempt();
      const bool broke = store_->broke();
      store_->mend();
      if (GetParam() == Break::crash) open();
      EXPECT_LE(quota().running, 2u);

      // Without further calls, leases and grants run out, and lost slots are found.
      for (const auto time : {10s, 60s, 31s}) pass(time);
      EXPECT_EQ(quota().running, 0u);
      EXPECT_LE(quota().in_window, 2u);
      EXPECT_EQ(must(run(claim(3))).executions.size(), 2u) << "two slots, three executions";
      EXPECT_EQ(must(run(claim(3))).executions.size(), 0u);
      if (!broke) {
        EXPECT_GT(number, 3) << "it was broken off at some point";
        return;
      }
    }
    FAIL() << "it never ended";
  }
};

TEST_P(ClaimBreaksOff, AndLeavesNoSlotBehind) {
  break_everywhere([this] { static_cast<void>(run(claim(3))); });
}

TEST_P(ClaimBreaksOff, AsAGrantAndLeavesNoSlotBehind) {
  break_everywhere(
      [this] { static_cast<void>(run(Grant{.worker = *WorkerId::parse("w"), .grant_ttl = 5s})); });
}

TEST_P(ClaimBreaksOff, AfterItsEndAndLeavesNoSlotBehind) {
  break_everywhere([this] {
    const auto claimed = run(claim(2));
    if (!claimed) return;
    for (const auto& each : claimed->executions)
      static_cast<void>(run(HandBack{.id = each.id, .fence = each.fence}));
  });
}

std::string name_of(const ::testing::TestParamInfo<Break>& each) {
  constexpr std::array names{"Before", "After", "Crash"};
  return names[static_cast<std::size_t>(each.param)];
}

INSTANTIATE_TEST_SUITE_P(, ClaimBreaksOff,
                         ::testing::Values(Break::before, Break::after, Break::crash), name_of);

// ---- Openings -----------------------------------------------------------------------------------

TEST_F(OnABreakingStore, ASlotThatIsFreedBeforeTheRefusalArrivesIsTaken) {
  begin();
  const auto running = must(run(claim(2))).executions.at(0);
  store_->hold_replies<core::Admit>();
  auto next = claim(1);
  next.wait = 10s;
  auto waiting = test::start(*engine_, next);
  test::await("the refusal is held", [&] { return store_->held() == 1; });
  const auto openings = store_->openings();
  must(run(Complete{.id = running.id, .fence = running.fence}));
  test::await("the slot is free", [&] { return store_->openings() > openings; });
  store_->let_go();
  EXPECT_EQ(must(waiting.get()).executions.size(), 1u);
}

// Its quota has room again, but its budget has not.
TEST_F(OnABreakingStore, AClaimIsNotWokenForWorkThatSomethingElseHoldsBack) {
  begin();
  const auto running = must(run(claim(2))).executions;
  EXPECT_EQ(must(run(claim(1))).executions.size(), 0u) << "the quota refuses";
  must(run(ReportUsage{.id = budget_, .amounts = {{"tokens", 9}}}));
  const auto openings = store_->openings();
  for (const auto& each : running) must(run(Complete{.id = each.id, .fence = each.fence}));
  test::await("the slots are free", [&] { return store_->openings() >= openings + 2; });
  auto next = claim(1);
  next.wait = 10s;
  const auto looks = store_->calls<store::TakeReady>();
  auto waiting = test::start(*engine_, next);
  test::await("it has looked", [&] { return store_->calls<store::TakeReady>() > looks; });
  const auto before = store_->calls<store::TakeReady>();
  for (int i = 0; i < 20; ++i) pass(1s);
  EXPECT_LT(store_->calls<store::TakeReady>(), before + 5)
      << "it may look a few times before it waits";
  must(run(Submit{.kind = *Kind::parse("plain")}));
  EXPECT_EQ(must(waiting.get()).executions.size(), 1u);
}

// ---- Checks of budgets that claims share --------------------------------------------------------

class SharedChecks : public OnABreakingStore {
 protected:
  SharedChecks() { begin(); }

  // Its check of the budget has been answered, and it has not heard of the answer.
  test::Started<Claim> start_and_hold() {
    const auto held = store_->held();
    auto started = test::start(*engine_, claim(1));
    test::await("the answer is held", [&] { return store_->held() == held + 1; });
    return started;
  }
  static std::size_t started(test::Started<Claim>& claim) {
    return must(claim.get()).executions.size();
  }
};

TEST_F(SharedChecks, AClaimAfterAResetDoesNotGetAnOlderRefusal) {
  must(run(ReportUsage{.id = budget_, .amounts = {{"tokens", 9}}}));
  store_->hold_replies<core::CheckBudget>();
  auto before = start_and_hold();
  must(run(ResetBudget{.id = budget_}));
  auto after = start_and_hold();
  store_->let_go();
  EXPECT_EQ(started(after), 1u);
  EXPECT_EQ(started(before), 1u) << "it heard of the reset, and asked again";
}

TEST_F(SharedChecks, AClaimAfterTheLastUsageStartsNothing) {
  store_->hold_replies<core::CheckBudget>();
  auto before = start_and_hold();
  must(run(ReportUsage{.id = budget_, .amounts = {{"tokens", 9}}}));
  auto after = start_and_hold();
  store_->let_go();
  EXPECT_EQ(started(before), 1u) << "there was room when it asked";
  EXPECT_EQ(started(after), 0u);
}

TEST_F(SharedChecks, ClaimsAtTheSameTimeMakeOneCheckOfABudget) {
  EngineMetrics metrics;
  StartGate gate(
      *store_, metrics, [] { return QuotaTokenId{}; }, [](Millis) {});
  asio::io_context context;
  store_->hold_replies<core::CheckBudget>();
  std::vector<std::future<std::vector<Chosen>>> all;
  std::vector<StartGate::Cycle> cycles(50, {.ns = default_namespace()});
  for (auto& cycle : cycles)
    all.push_back(test::start(context.get_executor(),
                              gate.admit(cycle, {{.id = {}, .needs = {.budgets = {budget_}}}})));
  context.poll();
  test::await("the answer is held", [&] { return store_->held() == 1; });
  EXPECT_EQ(store_->calls<core::CheckBudget>(), 1);
  store_->let_go();
  context.restart();
  context.poll();
  for (auto& each : all) EXPECT_EQ(each.get().size(), 1u);
}

// ---- Workers ------------------------------------------------------------------------------------

// The answer to its first claim was given before the drain, and arrives after it.
TEST_F(OnABreakingStore, ADrainedWorkerGetsNothingThoughAnOlderAnswerArrivesLater) {
  begin();
  store_->hold_replies<RegisterWorker>();
  auto first = test::start(*engine_, claim(1));
  test::await("the answer is held", [&] { return store_->held() == 1; });
  must(run(DrainWorker{.worker = *WorkerId::parse("w")}));
  store_->let_go();
  EXPECT_EQ(must(first.get()).executions.size(), 1u) << "it had begun before";
  EXPECT_EQ(must(run(claim(1))).executions.size(), 0u);
}

// ---- Lists --------------------------------------------------------------------------------------

TEST_F(OnABreakingStore, AListGoesOnBehindWhatItShowed) {
  begin();
  const ListExecutions all{.state = ExecutionState::waiting};
  const auto executions = must(run(all)).executions;
  ASSERT_EQ(executions.size(), 3u);
  store_->hold_replies<ListExecutions>();
  auto page = all;
  page.limit = 1;
  auto first = test::start(*engine_, page);
  test::await("the page was read", [&] { return store_->held() == 1; });
  must(run(Cancel{.id = executions[0].id, .reason = "it leaves the list"}));
  store_->let_go();
  page.cursor = must(first.get()).next;
  EXPECT_EQ(must(run(page)).executions.at(0).id, executions[1].id);
}

// The executions of one page and the calls for it are bounded, whatever the share of those that match.
TEST_F(OnABreakingStore, AListPageThatSiftsOutManyExecutionsIsEmptyAndGoesOn) {
  begin();
  const auto plain = must(run(Submit{.kind = *Kind::parse("plain")})).id;
  clock_->advance(1ms);
  must(run(ReportUsage{.id = budget_, .amounts = {{"tokens", 9}}}));
  const Submit each{.kind = *Kind::parse("k"), .policy = {.budgets = {budget_}}};
  constexpr int held_back = 12'000;
  for (int i = 0; i < held_back / 1'000; ++i) {
    SubmitMany many;
    many.executions.assign(1'000, each);
    must(run(std::move(many)));
  }
  ListExecutions page{.state = ExecutionState::waiting, .limit = 100};
  const auto first = must(run(page));
  EXPECT_TRUE(first.executions.empty());
  ASSERT_TRUE(first.next);
  EXPECT_LE(store_->calls<ListExecutions>(), 25) << "of at most 500 executions each";
  page.cursor = first.next;
  const auto second = must(run(page));
  ASSERT_EQ(second.executions.size(), 1u);
  EXPECT_EQ(second.executions.front().id, plain);
  EXPECT_EQ(second.next, std::nullopt);
}

// ---- Unreadable budgets and quotas --------------------------------------------------------------

class Unreadable : public OnABreakingStore {
 protected:
  Unreadable() { begin(); }

  // Nothing starts, nothing is held, and all is as before once the store can be read.
  void expect_closed() {
    const auto refused = run(claim(3));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::store_unavailable);
    store_->mend();
    EXPECT_EQ(quota().running, 0u);
    EXPECT_EQ(quota().in_window, 0u);
    EXPECT_EQ(must(run(claim(3))).executions.size(), 2u);
  }
  BlockingReason reason_of(const ExecutionId& id) {
    return must(run(GetExecution{id})).state_vector.blocking_reason;
  }
};

TEST_F(Unreadable, BudgetsLetNothingStart) {
  store_->break_all<core::CheckBudget>();
  expect_closed();
}

TEST_F(Unreadable, QuotasLetNothingStart) {
  store_->break_all<core::Admit>();
  expect_closed();
}

TEST_F(Unreadable, BudgetsAndQuotasHoldBackOnlyTheWorkThatNeedsThem) {
  const auto expect_only_the_plain_one = [&] {
    const auto claimed = must(run(claim(4))).executions;
    store_->mend();
    ASSERT_EQ(claimed.size(), 1u);
    EXPECT_EQ(claimed.front().kind, *Kind::parse("plain"));
  };
  const Submit plain{.kind = *Kind::parse("plain")};
  must(run(plain));
  store_->break_all<core::CheckBudget>();
  expect_only_the_plain_one();
  must(run(plain));
  store_->break_all<core::Admit>();
  expect_only_the_plain_one();
}

TEST_F(Unreadable, RegistrationsKeepNoWorkerFromItsWork) {
  store_->break_all<RegisterWorker>();
  EXPECT_EQ(must(run(claim(3))).executions.size(), 2u);
}

// ---- Many budgets -------------------------------------------------------------------------------

TEST_F(OnABreakingStore, WorkBehindVeryManyUsedUpBudgetsIsFound) {
  begin();
  constexpr int budgets = 1'100;
  for (int i = 0; i < budgets; ++i) {
    const auto id = must(run(CreateBudget{.spec = {.hard_limits = {{"t", 1}}}})).id;
    must(run(ReportUsage{.id = id, .amounts = {{"t", 1}}}));
    must(run(Submit{.kind = *Kind::parse("k"), .priority = 9, .policy = {.budgets = {id}}}));
  }
  const auto plain = must(run(Submit{.kind = *Kind::parse("k"), .priority = 5})).id;
  std::set<ExecutionId> found;
  for (int i = 0; i < 5; ++i)
    for (const auto& each : must(run(claim(10))).executions) found.insert(each.id);
  EXPECT_TRUE(found.contains(plain));
  const auto before = store_->calls<core::CheckBudget>();
  must(run(claim(2)));
  EXPECT_LT(store_->calls<core::CheckBudget>(), before + 10) << "they were looked at a moment ago";
}

TEST_F(OnABreakingStore, AGrantWhoseCallerGoesAwayStrandsNothing) {
  begin();
  store_->hold_replies<core::CheckBudget>();
  asio::cancellation_signal gone;
  auto granted = asio::co_spawn(
      engine_->executor(),
      [&]() -> asio::awaitable<void> {
        Grant grant{.worker = *WorkerId::parse("w"), .grant_ttl = 5s};
        static_cast<void>(co_await engine_->run(std::move(grant)));
      },
      asio::bind_cancellation_slot(gone.slot(), asio::use_future));
  test::await("it has taken an execution", [&] { return store_->held() == 1; });
  asio::post(engine_->executor(), [&] { gone.emit(asio::cancellation_type::all); });
  store_->let_go();
  granted.wait();
  pass(10s);
  std::size_t started = 0;
  for (int i = 0; i < 3; ++i) {
    for (const auto& each : must(run(claim(1))).executions) {
      must(run(Complete{.id = each.id, .fence = each.fence}));
      ++started;
    }
  }
  EXPECT_EQ(started, 3u);
}

TEST_F(Unreadable, BudgetsAreNotShownAsAReasonToWait) {
  must(run(ReportUsage{.id = budget_, .amounts = {{"tokens", 9}}}));
  const auto state = [&] { return must(run(CountExecutions{})).counts.at(0).state; };
  EXPECT_EQ(state(), ExecutionState::rate_limited);
  store_->break_all<core::CheckBudget>();
  EXPECT_EQ(state(), ExecutionState::waiting);
}

TEST_F(Unreadable, WorkersHoldNothingBack) {
  const Submit work{.kind = *Kind::parse("k"),
                    .policy = {.required_capabilities = *CapabilitySet::parse({"gpu"})}};
  const auto id = must(run(work)).id;
  pass(1ms);
  ASSERT_EQ(reason_of(id), BlockingReason::waiting_for_capable_worker);
  clock_->advance(2s);
  store_->break_all<core::LiveWorkers>();
  pass(1ms);
  EXPECT_EQ(reason_of(id), BlockingReason::waiting_for_worker);
}

}  // namespace
}  // namespace ff
