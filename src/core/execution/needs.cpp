#include "core/execution/needs.hpp"

#include <algorithm>

namespace ff::core {

Needs needs_of(const Policy& policy) {
  Needs needs{.capabilities = policy.required_capabilities,
              .budgets = policy.budgets,
              .quota = policy.quota};
  std::ranges::sort(needs.budgets);
  return needs;
}

}  // namespace ff::core
