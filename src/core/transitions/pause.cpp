// The ways in which a worker gives an execution back without ending its attempt.
#include <algorithm>

#include "base/try.hpp"
#include "core/execution/fence.hpp"
#include "core/flows/flow.hpp"
#include "core/transitions/ending.hpp"
#include "core/transitions/transitions.hpp"

namespace ff::core {

Execution paused(const Execution& execution, const Active& active, LeaseEnding ending) {
  Execution next = execution;
  if (active.attempt_deadline)
    next.attempt->timeout_left = std::max(*active.attempt_deadline - ending.at, Millis{1});
  end_lease(*next.attempt, active.lease, std::move(ending));
  next.state = Waiting{};
  return next;
}

namespace {

// A repeated call finds the attempt paused by its own fence.
bool paused_before(const Execution& execution, const Fence& fence, LeaseEnd how) {
  if (std::holds_alternative<Active>(execution.state) || !execution.attempt) return false;
  const auto& attempt = *execution.attempt;
  return !attempt.end && attempt.fence == fence && !attempt.past_leases.empty() &&
         attempt.past_leases.back().end == how;
}

}  // namespace

Decision<Delay> apply(const Execution& execution, const Delay& command, TimePoint now) {
  if (paused_before(execution, command.fence, LeaseEnd::worker_delay))
    return Step<EndReply>{.reply = {public_state(execution)}};
  const auto active = check_fence(execution, command.fence, now);
  FF_TRY(active);

  Execution next = paused(execution, *active, {.at = now, .how = LeaseEnd::worker_delay});
  if (command.until > now) next.state = Delayed{command.until};
  const auto state = public_state(next);
  return Step<EndReply>{.reply = {state}, .next = std::move(next), .event = EventType::delayed};
}

Decision<WaitForChildren> apply(const Execution& execution, const WaitForChildren& command,
                                TimePoint now) {
  if (paused_before(execution, command.fence, LeaseEnd::waiting_children))
    return Step<EndReply>{.reply = {public_state(execution)}};
  const auto active = check_fence(execution, command.fence, now);
  FF_TRY(active);

  Execution next = paused(execution, *active, {.at = now, .how = LeaseEnd::waiting_children});
  if (next.flow && verdict(*next.flow) != Verdict::ready) next.state = WaitingChildren{};
  const auto state = public_state(next);
  return Step<EndReply>{
      .reply = {state}, .next = std::move(next), .event = EventType::waiting_children};
}

Decision<HandBack> apply(const Execution& execution, HandBack command, TimePoint now) {
  if (paused_before(execution, command.fence, LeaseEnd::handed_back))
    return Step<EndReply>{.reply = {public_state(execution)}};
  const auto active = check_fence(execution, command.fence, now);
  FF_TRY(active);

  Execution next = paused(execution, *active,
                          {.at = now, .how = LeaseEnd::handed_back, .reason = command.reason});
  const auto state = public_state(next);
  return Step<EndReply>{.reply = {state}, .next = std::move(next), .event = EventType::handed_back};
}

}  // namespace ff::core
