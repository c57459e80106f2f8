// The check that every change by a worker passes first.
#pragma once

#include "core/execution.hpp"

namespace ff::core {

// The lease that `fence` proves, if it holds at `now`. Otherwise, in this order:
// execution_not_active, lease_expired, stale_lease. A lease that expires at `now` has expired.
Result<Lease> check_fence(const Execution& execution, const Fence& fence, TimePoint now);

}  // namespace ff::core
