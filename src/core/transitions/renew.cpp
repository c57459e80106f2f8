#include "base/try.hpp"
#include "core/execution/fence.hpp"
#include "core/transitions/transitions.hpp"

namespace ff::core {

Decision<Renew> apply(const Execution& execution, const Renew& command, TimePoint now) {
  auto active = check_fence(execution, command.fence, now);
  FF_TRY(active);

  active->lease.expires_at = now + command.lease_ttl;
  Execution next = execution;
  next.state = *active;
  return Step<RenewReply>{.reply = {active->lease.expires_at}, .next = std::move(next)};
}

Decision<UpdateProgress> apply(const Execution& execution, UpdateProgress command, TimePoint now) {
  FF_TRY(check_fence(execution, command.fence, now));

  // Fields that the command does not set keep their earlier values.
  auto progress = execution.progress.value_or(Progress{});
  progress.at = now;
  if (command.percent) progress.percent = command.percent;
  if (!command.message.empty()) progress.message = std::move(command.message);
  Execution next = execution;
  next.progress = std::move(progress);
  return Step<Done>{.reply = {}, .next = std::move(next), .event = EventType::progressed};
}

}  // namespace ff::core
