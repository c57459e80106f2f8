#include "core/transitions/ending.hpp"

#include <algorithm>
#include <cmath>

#include "base/assert.hpp"
#include "base/overloaded.hpp"

namespace ff::core {
namespace {

// A number from 0 to 1 that is as random as the attempt's id, and the same wherever it is computed.
double fraction_of(const AttemptId& id) {
  std::uint32_t tail = 0;
  for (std::size_t i = 12; i < 16; ++i) tail = tail << 8 | id.uuid().bytes()[i];
  return tail / 4294967295.0;
}

Millis delay_before(const Backoff& backoff, std::uint32_t retry, const AttemptId& attempt) {
  return std::visit(Overloaded{
                        [](const FixedBackoff& fixed) { return fixed.delay; },
                        [&](const ExponentialBackoff& growing) {
                          // The power may be infinite, and 0 times that is not a number.
                          if (growing.initial_delay == Millis{0}) return Millis{0};
                          const auto limit = static_cast<double>(growing.max_delay.count());
                          const double grown = static_cast<double>(growing.initial_delay.count()) *
                                               std::pow(growing.multiplier, retry);
                          double delay = std::min(grown, limit);
                          if (growing.jitter) delay *= 0.5 + 0.5 * fraction_of(attempt);
                          return Millis{std::llround(delay)};
                        },
                    },
                    backoff);
}

bool is_retryable(const RetryPolicy& policy, std::string_view category) {
  if (!policy.retryable_categories.empty())
    return std::ranges::find(policy.retryable_categories, category) !=
           policy.retryable_categories.end();
  return category != "permanent" && category != "cancelled";
}

}  // namespace

void end_attempt(Execution& execution, LeaseEnding ending, AttemptEnd end) {
  const auto* active = std::get_if<Active>(&execution.state);
  FF_ASSERT(active);
  FF_ASSERT(execution.attempt);
  end_lease(*execution.attempt, active->lease, std::move(ending));
  execution.attempt->end = std::move(end);
}

void end_open_attempt(Execution& execution, LeaseEnding ending, AttemptEnd end) {
  if (std::holds_alternative<Active>(execution.state))
    end_attempt(execution, std::move(ending), std::move(end));
  else if (execution.attempt && !execution.attempt->end)
    execution.attempt->end = std::move(end);
}

void end_execution(Execution& execution, TimePoint now, Outcome outcome) {
  execution.state = Ended{.at = now, .outcome = std::move(outcome)};
}

// A new run queues behind what waits already, and has as much time as the first one had.
void begin_replay(Execution& execution, ReplayRequest request) {
  const auto now = request.at;
  execution.pending_replay = std::move(request);
  execution.replay_count += 1;
  execution.retry_count = 0;
  execution.reclaim_count = 0;
  execution.signal_count = 0;
  execution.step_count = 0;
  execution.step_bytes = 0;
  execution.has_waits = false;
  execution.waitpoint_expiry.reset();
  execution.wake.reset();
  if (execution.deadline) execution.deadline = now + (*execution.deadline - execution.queued_at);
  execution.queued_at = now;
}

std::optional<TimePoint> retry_at(const Execution& execution, std::string_view category,
                                  TimePoint now) {
  const auto& policy = execution.policy.retry;
  const bool retry =
      policy && execution.retry_count < policy->max_retries && is_retryable(*policy, category);
  if (!retry) return std::nullopt;
  FF_ASSERT(execution.attempt);
  return now +
         delay_before(policy->backoff, execution.retry_count, execution.attempt->fence.attempt_id);
}

void schedule_retry(Execution& execution, TimePoint now, TimePoint at) {
  execution.retry_count += 1;
  if (at > now)
    execution.state = Delayed{at};
  else
    execution.state = Waiting{};
}

}  // namespace ff::core
