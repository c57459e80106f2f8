#include "base/try.hpp"
#include "core/execution/fence.hpp"
#include "core/transitions/ending.hpp"
#include "core/transitions/transitions.hpp"

namespace ff::core {

Decision<Complete> apply(const Execution& execution, Complete command, TimePoint now) {
  if (ended_by(execution, command.fence, AttemptOutcome::success))
    return Step<EndReply>{.reply = {ExecutionState::completed}};
  FF_TRY(check_fence(execution, command.fence, now));

  Execution next = execution;
  end_attempt(next, {.at = now, .how = LeaseEnd::completed},
              {.at = now, .outcome = AttemptOutcome::success});
  end_execution(next, now, Completed{std::move(command.content_type)});
  return Step<EndReply>{.reply = {ExecutionState::completed},
                        .next = std::move(next),
                        .event = EventType::completed,
                        .result = std::move(command.result)};
}

}  // namespace ff::core
