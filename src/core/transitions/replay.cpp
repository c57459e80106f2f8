#include "core/refusals.hpp"
#include "core/transitions/transitions.hpp"

namespace ff::core {

Decision<Replay> apply(const Execution& execution, Replay command, TimePoint now) {
  if (!has_ended(execution)) return refusals::not_terminal(execution.id, public_state(execution));
  if (execution.replay_count >= execution.policy.max_replay_count)
    return refusals::replays_exhausted(execution.id, execution.policy.max_replay_count);

  Execution next = execution;
  next.state = Waiting{};
  next.pending_replay = ReplayRequest{.reason = std::move(command.reason),
                                      .requested_by = std::move(command.requested_by),
                                      .at = now};
  next.replay_count += 1;
  next.retry_count = 0;
  next.reclaim_count = 0;
  // A new run: it queues behind what waits already, and has as much time as the first one had.
  next.signal_count = 0;
  next.step_count = 0;
  next.step_bytes = 0;
  next.has_waits = false;
  next.waitpoint_expiry.reset();
  next.wake.reset();
  next.queued_at = now;
  if (execution.deadline) next.deadline = now + (*execution.deadline - execution.queued_at);
  return Step<EndReply>{.reply = {public_state(next)},
                        .next = std::move(next),
                        .event = EventType::replayed,
                        .drop_result = true,
                        .start_anew = true};
}

}  // namespace ff::core
