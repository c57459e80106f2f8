#include "core/execution/needs.hpp"

#include <algorithm>

namespace ff::core {

Needs needs_of(const Policy& policy) {
  Needs needs{.capabilities = policy.required_capabilities,
              .budgets = policy.budgets,
              .quota = policy.quota};
  std::ranges::sort(needs.budgets);
  if (policy.fairness_key)
    needs.share = FairShare{.key = *policy.fairness_key, .weight = policy.fairness_weight.value_or(1)};
  return needs;
}

Needs held_back_by(Needs needs) {
  needs.share.reset();
  return needs;
}

}  // namespace ff::core
