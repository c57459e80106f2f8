// The check that every change by a worker passes first.
#pragma once

#include "core/execution/execution.hpp"

namespace ff::core {

// The state under the lease that `fence` proves, if it holds at `now`. Otherwise, in this order:
// execution_not_active, lease_revoked, lease_expired, stale_lease. A lease that expires at `now` has
// expired.
Result<Active> check_fence(const Execution& execution, const Fence& fence, TimePoint now);

// The error for an execution that no worker holds: reports its state, last lease and attempt.
std::unexpected<Error> not_active(const Execution& execution);

// How the attempt of this fence ended, if it is the newest one and its own worker ended it: a call that
// is repeated because its reply was lost finds here what it did the first time.
const AttemptEnd* ended_by(const Execution& execution, const Fence& fence, AttemptOutcome outcome);

}  // namespace ff::core
