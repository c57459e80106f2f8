#include "core/fence.hpp"
#include "core/transitions.hpp"

namespace ff::core {

Decision<Complete> apply(const Execution& execution, Complete command, TimePoint now) {
  const auto* completed = std::get_if<Completed>(&execution.state);
  if (completed && completed->by == command.fence)
    return Step<EndReply>{.reply = {ExecutionState::completed}};

  const auto lease = check_fence(execution, command.fence, now);
  if (!lease) return std::unexpected(lease.error());

  Execution next = execution;
  next.state = Completed{.at = now, .by = command.fence};
  return Step<EndReply>{.reply = {ExecutionState::completed},
                        .next = std::move(next),
                        .event = EventType::completed,
                        .result = std::move(command.result)};
}

}  // namespace ff::core
