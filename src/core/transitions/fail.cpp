#include "base/try.hpp"
#include "core/execution/fence.hpp"
#include "core/transitions/ending.hpp"
#include "core/transitions/transitions.hpp"

namespace ff::core {
namespace {

// Told from the end of the attempt, so that a repeated call hears what the first one heard.
FailReply reply_of(const AttemptEnd& end) {
  if (!end.retry_at) return {.state = ExecutionState::failed};
  return {.state = *end.retry_at > end.at ? ExecutionState::delayed : ExecutionState::waiting,
          .retry_at = end.retry_at};
}

}  // namespace

Decision<Fail> apply(const Execution& execution, Fail command, TimePoint now) {
  if (const auto* end = ended_by(execution, command.fence, AttemptOutcome::failure))
    return Step<FailReply>{.reply = reply_of(*end)};
  FF_TRY(check_fence(execution, command.fence, now));

  Execution next = execution;
  const AttemptEnd end{.at = now,
                       .outcome = AttemptOutcome::failure,
                       .reason = command.reason,
                       .category = command.category,
                       .retry_at = retry_at(execution, command.category, now)};
  end_attempt(next,
              {.at = now,
               .how = end.retry_at ? LeaseEnd::failed_retry_scheduled : LeaseEnd::failed_terminal},
              end);
  if (end.retry_at)
    schedule_retry(next, now, *end.retry_at);
  else
    end_execution(next, now,
                  Failed{.reason = std::move(command.reason), .category = command.category});
  return Step<FailReply>{.reply = reply_of(end),
                         .next = std::move(next),
                         .event = end.retry_at ? EventType::retry_scheduled : EventType::failed};
}

}  // namespace ff::core
