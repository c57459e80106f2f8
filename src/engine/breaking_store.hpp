// A store whose calls break on demand, and an engine on it.
#pragma once

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "engine/local_engine.hpp"
#include "tests/support/await.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff {

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
  // The engine hears of no event and no change, until it is told that it missed some.
  void stop_telling() { tells_ = false; }
  void tell_again() {
    tells_ = true;
    on_gap_();
  }
  int openings() const { return openings_; }  // that the engine has heard of
  template <class Op>
  int calls() const {
    return calls_[index_of<store::StoreOperations, Op>];
  }
  bool broke() const { return until_ < 0; }
  void mend() {
    until_ = std::numeric_limits<int>::max();
    broken_kind_ = std::variant_npos;
  }

  void start(std::vector<store::AnyCall> calls) override;
  void set_sinks(store::Sinks sinks) override {
    sinks.on_opening = [this, tell = std::move(sinks.on_opening)](const store::Opening& opening) {
      tell(opening);
      ++openings_;
    };
    const auto if_told = [this](auto& sink) {
      sink = [this, tell = std::move(sink)](store::Sinks::Changes changes) {
        if (tells_) tell(changes);
      };
    };
    if_told(sinks.on_events);
    if_told(sinks.on_changes);
    on_gap_ = sinks.on_gap;
    inner_->set_sinks(std::move(sinks));
  }
  asio::awaitable<void> catch_up_with_events() override { return inner_->catch_up_with_events(); }
  PartitionIndex partition_count() const override { return inner_->partition_count(); }
  TimePoint now() const override { return inner_->now(); }
  Result<void> health() const override { return inner_->health(); }
  void break_off() override { inner_->break_off(); }
  std::shared_ptr<const core::PausedLanes> paused_lanes() const override {
    return inner_->paused_lanes();
  }
  std::string list_cursor(TimePoint created_at, const ExecutionId& id) const override {
    return inner_->list_cursor(created_at, id);
  }

 private:
  template <class Op>
  void hold_reply(store::Call<Op>& call);
  template <class Op>
  void start_one(store::Call<Op> call, bool broken);

  std::unique_ptr<store::Store> inner_;
  Break how_{};
  std::atomic<std::size_t> broken_kind_ = std::variant_npos;
  std::atomic<int> until_ = std::numeric_limits<int>::max();
  std::atomic<std::size_t> held_kind_ = std::variant_npos;
  mutable std::mutex held_mutex_;
  std::vector<std::move_only_function<void()>> held_;
  std::atomic<int> openings_ = 0;
  std::array<std::atomic<int>, 256> calls_ = {};  // by kind
  std::atomic<bool> tells_ = true;
  std::function<void()> on_gap_;
};

class OnABreakingStore : public ::testing::Test {
 protected:
  template <class Op>
  auto run(Op operation) {
    return test::run(*engine_, std::move(operation));
  }
  void open();
  // With a budget, a quota and three executions that need both.
  void begin();
  void pass(Millis time);
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

}  // namespace ff
