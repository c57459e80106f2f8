#include "base/try.hpp"
#include "core/execution/fence.hpp"
#include "core/transitions/ending.hpp"
#include "core/transitions/transitions.hpp"

namespace ff::core {
namespace {

const Cancelled* cancelled(const Execution& execution) {
  const auto* ended = std::get_if<Ended>(&execution.state);
  return ended ? std::get_if<Cancelled>(&ended->outcome) : nullptr;
}

}  // namespace

Decision<Cancel> apply(const Execution& execution, Cancel command, TimePoint now) {
  if (const auto* before = cancelled(execution);
      before && (!command.fence || before->by == command.fence))
    return Step<EndReply>{.reply = {ExecutionState::cancelled}};
  if (command.fence) FF_TRY(check_fence(execution, *command.fence, now));
  if (has_ended(execution)) return not_active(execution);

  Execution next = execution;
  end_open_attempt(
      next, {.at = now, .how = LeaseEnd::cancelled},
      {.at = now, .outcome = AttemptOutcome::cancelled, .reason = "cancelled: " + command.reason});
  end_execution(next, now, Cancelled{.reason = std::move(command.reason), .by = command.fence});
  return Step<EndReply>{
      .reply = {ExecutionState::cancelled}, .next = std::move(next), .event = EventType::cancelled};
}

}  // namespace ff::core
