#include "core/refusals.hpp"
#include "core/transitions/ending.hpp"
#include "core/transitions/transitions.hpp"

namespace ff::core {

Decision<Replay> apply(const Execution& execution, Replay command, TimePoint now) {
  if (!has_ended(execution)) return refusals::not_terminal(execution.id, public_state(execution));
  if (execution.replay_count >= execution.policy.max_replay_count)
    return refusals::replays_exhausted(execution.id, execution.policy.max_replay_count);

  Execution next = execution;
  next.state = Waiting{};
  begin_replay(next, {.reason = std::move(command.reason),
                      .requested_by = std::move(command.requested_by),
                      .at = now});
  return Step<EndReply>{.reply = {public_state(next)},
                        .next = std::move(next),
                        .event = EventType::replayed,
                        .drop_result = true,
                        .start_anew = true};
}

}  // namespace ff::core
