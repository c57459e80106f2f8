// Budget operations of the engine, beside those that users have (CreateBudget, ReportUsage, …).
#pragma once

#include <flowfabric/operations.hpp>

namespace ff::core {

struct BudgetCheck {
  std::optional<Breach> breach = {};  // absent: work may start
  std::optional<TimePoint> next_reset_at = {};
  bool operator==(const BudgetCheck&) const = default;
};

// Whether work that spends from a budget may start. Fails with budget_not_found.
struct CheckBudget {
  using Reply = BudgetCheck;
  static constexpr OperationRow row{.owner = Owner::budget};
  BudgetId budget;
};

struct BudgetsDue {
  std::vector<BudgetId> due;           // the longest overdue first
  std::optional<TimePoint> next = {};  // when the first of the others comes due
};

// Budgets whose usage is to be reset by now, at most `max`.
struct ResetsDue {
  using Reply = BudgetsDue;
  static constexpr OperationRow row{.owner = Owner::budget};
  std::size_t max;
};

// Resets a budget whose time has come, and does nothing to another. Safe to repeat. Periods are counted
// from the first one, not from when somebody came round to it.
struct ResetIfDue {
  using Reply = ResetBudgetReply;
  static constexpr OperationRow row{.owner = Owner::budget, .writes = Writes::durable};
  BudgetId budget;
};

// The executions with spending in a budget's ledger, at most `max`, by id after `after`.
struct LedgerOf {
  using Reply = std::vector<ExecutionId>;
  static constexpr OperationRow row{.owner = Owner::budget};
  BudgetId budget;
  std::optional<ExecutionId> after = {};
  std::size_t max = 1'000;
};

// Forgets what an execution spent, without taking it back: the execution is gone.
struct ForgetSpending {
  using Reply = Done;
  static constexpr OperationRow row{.owner = Owner::budget, .writes = Writes::durable};
  BudgetId budget;
  ExecutionId execution;
  bool operator==(const ForgetSpending&) const = default;
};

// Forgets dedup keys that are past their time, a slice of them, and corrects wrong sums. True: there are more.
struct ReconcileBudgets {
  using Reply = bool;
  static constexpr OperationRow row{.owner = Owner::budget, .writes = Writes::durable};
};

// Every budget there is, of all namespaces, by id after `after`.
struct AllBudgets {
  using Reply = std::vector<BudgetId>;
  static constexpr OperationRow row{.owner = Owner::budget};
  std::optional<BudgetId> after = {};
  std::size_t max = 1'000;
};

}  // namespace ff::core
