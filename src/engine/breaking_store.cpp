#include "engine/breaking_store.hpp"

#include "store/embedded/embedded.hpp"

namespace ff {
namespace {

// Operations on this process's own memory never break.
template <class Op>
constexpr bool is_local = store::OneOf<Op, store::TakeReady, store::PutBack>;

}  // namespace

void BreakingStore::start(std::vector<store::AnyCall> calls) {
  for (auto& any : calls) {
    const bool broken = any.index() == broken_kind_;
    const bool held = any.index() == held_kind_;
    ++calls_[any.index()];
    any.visit([&](auto& call) {
      if (held) hold_reply(call);
      start_one(std::move(call), broken);
    });
  }
}

template <class Op>
void BreakingStore::hold_reply(store::Call<Op>& call) {
  call.done = [this, done = std::move(call.done)](Result<typename Op::Reply> reply) mutable {
    const std::lock_guard lock(held_mutex_);
    held_.push_back(
        [done = std::move(done), reply = std::move(reply)]() mutable { done(std::move(reply)); });
  };
}

template <class Op>
void BreakingStore::start_one(store::Call<Op> call, bool broken) {
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

void OnABreakingStore::open() {
  engine_.reset();
  auto breaking = std::make_unique<BreakingStore>(must(embedded::open(
      {.directory = temp_->path(), .clock = clock_, .durability = store::Durability::relaxed})));
  store_ = breaking.get();
  engine_ = std::make_unique<LocalEngine>(std::move(breaking), LocalEngineOptions{.scan = false});
}

void OnABreakingStore::begin() {
  engine_.reset();
  temp_.emplace();
  open();
  budget_ = must(run(CreateBudget{.spec = {.hard_limits = {{"tokens", 9}}}})).id;
  quota_ =
      must(run(CreateQuota{.spec = {.window = 1h, .max_per_window = 20, .max_concurrent = 2}})).id;
  for (int i = 0; i < 3; ++i)
    must(run(Submit{.kind = *Kind::parse("k"), .policy = {.budgets = {budget_}, .quota = quota_}}));
}

void OnABreakingStore::pass(Millis time) {
  clock_->advance(time);
  must(test::run_blocking(engine_->executor(), engine_->scanners().run_once()));
}

}  // namespace ff
