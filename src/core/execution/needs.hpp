// Requirements for the start of an execution, beside its turn.
#pragma once

#include <flowfabric/policy.hpp>

#include <compare>
#include <optional>
#include <vector>

namespace ff::core {

// Whose share of a lane an execution is.
struct FairShare {
  FairnessKey key;
  std::uint32_t weight = 1;
  auto operator<=>(const FairShare&) const = default;
};

struct Needs {
  CapabilitySet capabilities = {};     // of the worker
  std::vector<BudgetId> budgets = {};  // with room in each; sorted
  std::optional<QuotaId> quota = {};   // that lets it in
  std::optional<FairShare> share = {};  // decides its turn, and holds nothing back

  // It needs nothing but its turn.
  bool empty() const { return capabilities.empty() && budgets.empty() && !quota; }
  auto operator<=>(const Needs&) const = default;
};

Needs needs_of(const Policy& policy);

// Without whose share it is: what may hold it back.
Needs held_back_by(Needs needs);

}  // namespace ff::core
