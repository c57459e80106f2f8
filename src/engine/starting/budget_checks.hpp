// Checks of budgets for claims that are in flight at the same time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "store/store.hpp"

namespace ff {

// A check that is under way is shared: who asks meanwhile gets its reply, and the store hears of one. After a change of
// the budget (`changed`) it is shared with nobody else, so that a reply is never older than a change that its caller can
// know of. Thread-safe.
class BudgetChecks {
 public:
  using Reply = Result<core::BudgetCheck>;

  explicit BudgetChecks(store::Store& store) : store_(store) {}

  // The replies in the order of the budgets, which are distinct.
  asio::awaitable<std::vector<Reply>> ask(std::vector<BudgetId> budgets);

  // There is more or less room than a check that is under way may have found.
  void changed(const BudgetId& budget);

 private:
  struct Check {
    std::vector<std::move_only_function<void(const Reply&)>> listeners;
  };

  void end(const BudgetId& budget, Check& check, const Reply& reply);

  store::Store& store_;
  std::mutex mutex_;
  // A check belongs to its call: if the store drops that, it drops those who listen.
  std::map<BudgetId, std::weak_ptr<Check>> under_way_;
};

}  // namespace ff
