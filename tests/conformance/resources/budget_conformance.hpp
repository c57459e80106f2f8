// The common parts of the tests of budgets and of their usage.
#pragma once

#include "tests/conformance/conformance.hpp"

namespace ff::conformance {

class BudgetConformance : public Conformance {
 protected:
  BudgetId budget(BudgetSpec spec = {.hard_limits = {{"tokens", 10}}}) {
    return must(run(CreateBudget{.spec = std::move(spec)})).id;
  }
  BudgetId budget(OnHardLimit on_hard_limit) {
    return budget({.on_hard_limit = on_hard_limit, .hard_limits = {{"tokens", 10}}});
  }
  BudgetInfo budget_info(const BudgetId& id) { return must(run(GetBudget{id})); }
  Amounts usage_of(const BudgetId& id) { return budget_info(id).usage; }

  ReportUsage report(const BudgetId& id, std::uint64_t tokens) {
    return {.id = id, .amounts = {{"tokens", tokens}}};
  }
  ReportUsage report(const BudgetId& id, std::uint64_t tokens, const ClaimedExecution& by) {
    return {.id = id, .amounts = {{"tokens", tokens}}, .execution = by.id, .fence = by.fence};
  }
  UsageOutcome outcome_of(ReportUsage operation) { return must(run(std::move(operation))).outcome; }
  void use_up(const BudgetId& id) { must(run(report(id, 10))); }

  Submit spending(std::vector<BudgetId> budgets, std::string payload = "in") {
    return {
        .kind = greet, .payload = std::move(payload), .policy = {.budgets = std::move(budgets)}};
  }
  BlockingReason reason_of(const ExecutionId& id) { return info(id).state_vector.blocking_reason; }
};

}  // namespace ff::conformance
