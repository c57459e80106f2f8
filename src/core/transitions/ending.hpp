// The parts that every way of ending an attempt or an execution has in common.
#pragma once

#include "core/execution/execution.hpp"

namespace ff::core {

// The lease goes and the attempt has ended. `execution` must be active.
void end_attempt(Execution& execution, LeaseEnding ending, AttemptEnd end);

// The same for an attempt that may be paused, so that there is no lease; does nothing if none is open.
void end_open_attempt(Execution& execution, LeaseEnding ending, AttemptEnd end);

// The lease goes and the execution waits for a worker; the same attempt can resume, with the time it has left.
Execution paused(const Execution& execution, const Active& active, LeaseEnding ending);

// The execution has ended.
void end_execution(Execution& execution, TimePoint now, Outcome outcome);

// The execution runs once more, from the start; its state is left to the caller.
void begin_replay(Execution& execution, ReplayRequest request);

// When the policy lets another attempt begin if the running one fails at `now`. None: never.
std::optional<TimePoint> retry_at(const Execution& execution, std::string_view category,
                                  TimePoint now);

// The attempt has failed, and another one may begin at `at`.
void schedule_retry(Execution& execution, TimePoint now, TimePoint at);

}  // namespace ff::core
