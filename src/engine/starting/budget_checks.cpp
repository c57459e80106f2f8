#include "engine/starting/budget_checks.hpp"

#include <atomic>
#include <utility>

#include "base/async/suspend.hpp"

namespace ff {

asio::awaitable<std::vector<BudgetChecks::Reply>> BudgetChecks::ask(std::vector<BudgetId> budgets) {
  std::vector<Reply> replies(budgets.size(), std::unexpected(Error{}));
  if (budgets.empty()) co_return replies;
  struct Gather {
    std::atomic<std::size_t> missing;
    Continuation resume;
  };
  co_await suspend_until([&](Continuation resume) {
    const auto gather = std::make_shared<Gather>(budgets.size(), std::move(resume));
    std::vector<store::AnyCall> calls;
    std::unique_lock lock(mutex_);
    for (std::size_t i = 0; i < budgets.size(); ++i) {
      auto& under_way = under_way_[budgets[i]];
      auto check = under_way.lock();
      if (!check) {
        under_way = check = std::make_shared<Check>();
        calls.push_back(store::Call<core::CheckBudget>{
            {budgets[i]}, [this, budget = budgets[i], check](const Reply& reply) {
              end(budget, *check, reply);
            }});
      }
      check->listeners.push_back([gather, &reply = replies[i]](const Reply& given) {
        reply = given;
        if (--gather->missing == 0) gather->resume();
      });
    }
    lock.unlock();
    if (!calls.empty()) store_.start(std::move(calls));
  });
  co_return replies;
}

void BudgetChecks::changed(const BudgetId& budget) {
  const std::lock_guard lock(mutex_);
  under_way_.erase(budget);
}

void BudgetChecks::end(const BudgetId& budget, Check& check, const Reply& reply) {
  std::unique_lock lock(mutex_);
  auto listeners = std::exchange(check.listeners, {});
  const auto under_way = under_way_.find(budget);
  if (under_way != under_way_.end() && under_way->second.lock().get() == &check)
    under_way_.erase(under_way);
  lock.unlock();
  for (auto& listener : listeners) listener(reply);
}

}  // namespace ff
