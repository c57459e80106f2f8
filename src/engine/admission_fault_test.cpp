// A claim that breaks off between any two of its steps leaves nothing behind.
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "engine/local_engine.hpp"
#include "store/embedded/embedded.hpp"
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
  bool broke() const { return until_ < 0; }
  void mend() {
    until_ = std::numeric_limits<int>::max();
    broken_kind_ = std::variant_npos;
  }

  void start(std::vector<store::AnyCall> calls) override {
    for (auto& any : calls) {
      const bool broken = any.index() == broken_kind_;
      any.visit([&](auto& call) { start_one(std::move(call), broken); });
    }
  }
  void set_event_sink(store::EventSink sink) override { inner_->set_event_sink(std::move(sink)); }
  void set_opening_sink(store::OpeningSink sink) override {
    inner_->set_opening_sink(std::move(sink));
  }
  PartitionIndex partition_count() const override { return inner_->partition_count(); }
  TimePoint now() const override { return inner_->now(); }
  Result<void> health() const override { return inner_->health(); }

 private:
  // What is asked of this process's own memory always answers.
  template <class Op>
  static constexpr bool is_local = store::OneOf<Op, store::TakeReady, store::PutBack>;

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

TEST_F(Unreadable, BudgetsLetNothingGo) {
  must(run(ReportUsage{.id = budget_, .amounts = {{"tokens", 9}}}));
  pass(1ms);
  must(run(ResetBudget{budget_}));
  store_->break_all<core::CheckBudget>();
  static_cast<void>(test::run_blocking(engine_->executor(), engine_->scanners().run_once()));
  store_->mend();
  const auto counts = must(run(CountExecutions{})).counts;
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts[0].state, ExecutionState::rate_limited);
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
