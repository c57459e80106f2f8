// A budget: how much may be spent, and what has been. What each execution spent (its ledger) is kept
// beside it; so is which reports are known already.
#pragma once

#include "core/budgets/commands.hpp"

namespace ff::core {

struct Budget {
  BudgetId id;
  Namespace ns;
  BudgetSpec spec;
  Amounts usage = {};  // no zeros
  std::uint64_t breach_count = 0;
  std::uint64_t soft_breach_count = 0;
  std::optional<TimePoint> last_breach_at = {};
  std::optional<std::string> last_breach_dimension = {};
  std::uint64_t reset_count = 0;
  std::optional<TimePoint> last_reset_at = {};
  std::optional<TimePoint> next_reset_at = {};
  TimePoint created_at;
  bool operator==(const Budget&) const = default;
};

// `command` has an id.
Budget make_budget(const CreateBudget& command, TimePoint now);

// One whose reset is due counts as reset, whether or not somebody came round to it.
BudgetInfo info_of(const Budget& budget, TimePoint now);
BudgetCheck check(const Budget& budget, TimePoint now);
bool is_reset_due(const Budget& budget, TimePoint now);

// All that was spent is forgotten: a ledger's entries count only for the reset count of their time.
void reset(Budget& budget, TimePoint now);

// The same, and the schedule goes on by whole periods. Only of a budget whose reset is due.
void reset_by_schedule(Budget& budget, TimePoint now);

struct Report {
  UsageReply reply;
  bool applied = false;
};
// Adds to the usage of a budget whose reset is not due. Fails with invalid_input if that would be more
// than can be counted; the budget is then as it was.
Result<Report> report(Budget& budget, const Amounts& amounts, TimePoint now);

// The action on a running execution whose report breaks a hard limit.
struct BreachAction {
  OnHardLimit action{};
  std::optional<TimePoint> resume_at = {};
};
BreachAction action_on_breach(const Budget& budget, TimePoint now);
// With room left, only not enough, a suspended execution would be back at once, for nothing.
TimePoint resume_time(const std::optional<TimePoint>& next_reset_at, TimePoint now);

// Takes back what was spent.
void take_back(Budget& budget, const Amounts& amounts);

// The sum, dimension by dimension; zeros are left out.
void add(Amounts& sum, const Amounts& amounts);

}  // namespace ff::core
