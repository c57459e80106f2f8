// Scanners that look after budgets and quotas.
#pragma once

#include "engine/scanner.hpp"
#include "store/store.hpp"

namespace ff {

// Resets budgets whose time has come.
class BudgetReset final : public Scanner {
 public:
  explicit BudgetReset(store::Store& store) : store_(store) {}
  std::string_view name() const override { return "budget_reset"; }
  Async<Scan> run_once() override;

 private:
  static constexpr std::size_t batch_max = 100;
  store::Store& store_;
};

// Forgets dedup keys that are past their time. Every half hour it also looks for ledger entries of executions
// that are gone; the outbox forgets those that spent from a budget of their policy.
class BudgetReconciler final : public Scanner {
 public:
  explicit BudgetReconciler(store::Store& store) : store_(store) {}
  std::string_view name() const override { return "budget_reconciler"; }
  Async<Scan> run_once() override;

 private:
  static constexpr Millis prune_interval = std::chrono::minutes{30};
  Async<Scan> prune(const BudgetId& budget);
  store::Store& store_;
  std::optional<TimePoint> prune_at_;
};

// Gives back what nobody holds: the process that was let in, or that should have given it back, died.
class QuotaReconciler final : public Scanner {
 public:
  explicit QuotaReconciler(store::Store& store) : store_(store) {}
  std::string_view name() const override { return "quota_reconciler"; }
  Async<Scan> run_once() override;

 private:
  Async<Scan> give_back_lost(const QuotaId& quota);
  store::Store& store_;
};

}  // namespace ff
