// A claim that breaks off between any two of its steps leaves nothing behind.
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "engine/local_engine.hpp"
#include "store/embedded/embedded.hpp"
#include "tests/support/await.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff {
namespace {

using namespace std::chrono_literals;

enum class Break : std::uint8_t {
  before,  // the call does not get there
  after,   // its answer does not come back
  crash,   // nothing gets there any more
};

// Hands calls on, but for one.
class BreakingStore final : public store::Store {
 public:
  explicit BreakingStore(std::unique_ptr<store::Store> inner) : inner_(std::move(inner)) {}

  void break_call(int number, Break how) {
    how_ = how;
    until_ = number;
  }
  // All of a kind.
  template <class Op>
  void break_all() {
    broken_kind_ = index_of<store::StoreOperations, Op>;
  }
  // Keeps back the replies to all of a kind, until they are let go.
  template <class Op>
  void hold_replies() {
    held_kind_ = index_of<store::StoreOperations, Op>;
  }
  std::size_t held() const {
    const std::lock_guard lock(held_mutex_);
    return held_.size();
  }
  void let_go() {
    held_kind_ = std::variant_npos;
    std::vector<std::move_only_function<void()>> replies;
    {
      const std::lock_guard lock(held_mutex_);
      replies.swap(held_);
    }
    for (auto& reply : replies) reply();
  }
  int openings() const { return openings_; }  // that the engine has heard of
  int looks() const { return looks_; }        // for work
  bool broke() const { return until_ < 0; }
  void mend() {
    until_ = std::numeric_limits<int>::max();
    broken_kind_ = std::variant_npos;
  }

  void start(std::vector<store::AnyCall> calls) override {
    for (auto& any : calls) {
      const bool broken = any.index() == broken_kind_;
      const bool held = any.index() == held_kind_;
      looks_ += any.index() == index_of<store::StoreOperations, store::TakeReady> ? 1 : 0;
      any.visit([&](auto& call) {
        if (held) hold_reply(call);
        start_one(std::move(call), broken);
      });
    }
  }
  void set_event_sink(store::EventSink sink) override { inner_->set_event_sink(std::move(sink)); }
  void set_opening_sink(store::OpeningSink sink) override {
    inner_->set_opening_sink([this, sink = std::move(sink)](const store::Opening& opening) {
      sink(opening);
      ++openings_;
    });
  }
  PartitionIndex partition_count() const override { return inner_->partition_count(); }
  TimePoint now() const override { return inner_->now(); }
  Result<void> health() const override { return inner_->health(); }
  void break_off() override { inner_->break_off(); }
  std::string list_cursor(TimePoint created_at, const ExecutionId& id) const override {
    return inner_->list_cursor(created_at, id);
  }

 private:
  // What is asked of this process's own memory always answers.
  template <class Op>
  static constexpr bool is_local = store::OneOf<Op, store::TakeReady, store::PutBack>;

  template <class Op>
  void hold_reply(store::Call<Op>& call) {
    using Reply = Result<typename Op::Reply>;
    call.done = [this,
                 done = std::make_shared<decltype(call.done)>(std::move(call.done))](Reply reply) {
      const std::lock_guard lock(held_mutex_);
      held_.push_back([done, reply = std::move(reply)]() mutable { (*done)(std::move(reply)); });
    };
  }

  template <class Op>
  void start_one(store::Call<Op> call, bool broken) {
    const auto lost = [] { return fail(Errc::store_unavailable, "it broke"); };
    if (broken) return call.done(lost());
    const bool breaks = !is_local<Op> && until_-- <= 0 && (how_ == Break::crash || until_ == -1);
    if (breaks && how_ != Break::after) return call.done(lost());
    if (breaks)
      call.done = [lost, done = std::move(call.done)](const Result<typename Op::Reply>&) mutable {
        done(lost());
      };
    std::vector<store::AnyCall> calls;
    calls.push_back(std::move(call));
    inner_->start(std::move(calls));
  }

  std::unique_ptr<store::Store> inner_;
  Break how_{};
  std::atomic<std::size_t> broken_kind_ = std::variant_npos;
  std::atomic<int> until_ = std::numeric_limits<int>::max();
  std::atomic<std::size_t> held_kind_ = std::variant_npos;
  mutable std::mutex held_mutex_;
  std::vector<std::move_only_function<void()>> held_;
  std::atomic<int> openings_ = 0;
  std::atomic<int> looks_ = 0;
};

class OnABreakingStore : public ::testing::Test {
 protected:
  template <class Op>
  auto run(Op operation) {
    return test::run_blocking(engine_->executor(), engine_->run(std::move(operation)));
  }
  void open() {
    engine_.reset();
    auto breaking = std::make_unique<BreakingStore>(must(embedded::open(
        {.directory = temp_->path(), .clock = clock_, .durability = store::Durability::relaxed})));
    store_ = breaking.get();
    engine_ = std::make_unique<LocalEngine>(std::move(breaking), LocalEngineOptions{.scan = false});
  }
  void begin() {
    engine_.reset();
    temp_.emplace();
    open();
    budget_ = must(run(CreateBudget{.spec = {.hard_limits = {{"tokens", 9}}}})).id;
    quota_ =
        must(run(CreateQuota{.spec = {.window = 1h, .max_per_window = 20, .max_concurrent = 2}}))
            .id;
    for (int i = 0; i < 3; ++i)
      must(run(
          Submit{.kind = *Kind::parse("k"), .policy = {.budgets = {budget_}, .quota = quota_}}));
  }
  void pass(Millis time) {
    clock_->advance(time);
    must(test::run_blocking(engine_->executor(), engine_->scanners().run_once()));
  }
  QuotaInfo quota() { return must(run(GetQuota{quota_})); }
  Claim claim(std::uint32_t max) {
    return {.worker = *WorkerId::parse("w"), .max = max, .lease_ttl = 10s};
  }

  std::optional<test::TempDirectory> temp_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::unique_ptr<LocalEngine> engine_;
  BreakingStore* store_ = nullptr;
  BudgetId budget_;
  QuotaId quota_;
};

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

      // Nobody goes on with it: leases and grants run out, and lost slots are found.
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
  const auto looks = store_->looks();
  auto waiting = test::start(*engine_, next);
  test::await("it has looked", [&] { return store_->looks() > looks; });
  const auto before = store_->looks();
  for (int i = 0; i < 20; ++i) pass(1s);
  EXPECT_LT(store_->looks(), before + 5) << "it may look a few times before it waits";
  must(run(Submit{.kind = *Kind::parse("plain")}));
  EXPECT_EQ(must(waiting.get()).executions.size(), 1u);
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

// ---- What cannot be read ------------------------------------------------------------------------

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
