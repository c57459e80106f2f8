// Requirements for the start of an execution, beside its turn.
#pragma once

#include <flowfabric/policy.hpp>

#include <compare>
#include <optional>
#include <vector>

namespace ff::core {

struct Needs {
  CapabilitySet capabilities = {};     // of the worker
  std::vector<BudgetId> budgets = {};  // with room in each; sorted
  std::optional<QuotaId> quota = {};   // that lets it in

  bool empty() const { return capabilities.empty() && budgets.empty() && !quota; }
  auto operator<=>(const Needs&) const = default;
};

Needs needs_of(const Policy& policy);

}  // namespace ff::core
