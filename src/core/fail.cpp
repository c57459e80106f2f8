#include "core/fence.hpp"
#include "core/transitions.hpp"

namespace ff::core {

Decision<Fail> apply(const Execution& execution, Fail command, TimePoint now) {
  const auto* failed = std::get_if<Failed>(&execution.state);
  if (failed && failed->by == command.fence)
    return Step<EndReply>{.reply = {ExecutionState::failed}};

  const auto lease = check_fence(execution, command.fence, now);
  if (!lease) return std::unexpected(lease.error());

  Execution next = execution;
  next.state = Failed{.at = now,
                      .by = command.fence,
                      .reason = std::move(command.reason),
                      .category = std::move(command.category)};
  return Step<EndReply>{
      .reply = {ExecutionState::failed}, .next = std::move(next), .event = EventType::failed};
}

}  // namespace ff::core
