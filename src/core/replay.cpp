#include <fmt/format.h>

#include "core/transitions.hpp"

namespace ff::core {

Decision<Replay> apply(const Execution& execution, Replay command, TimePoint now) {
  if (!has_ended(execution))
    return fail(Errc::execution_not_terminal,
                fmt::format("execution {} is {}; only one that has ended can be replayed",
                            execution.id.str(), to_string(public_state(execution))),
                {{"state", std::string(to_string(public_state(execution)))}});
  if (execution.replay_count >= execution.policy.max_replay_count)
    return fail(Errc::max_replays_exhausted,
                fmt::format("execution {} was replayed {} times, which its policy allows at most; "
                            "submit a new one",
                            execution.id.str(), execution.replay_count),
                {{"max", std::to_string(execution.policy.max_replay_count)}});

  Execution next = execution;
  next.state = Waiting{};
  next.pending_replay = ReplayRequest{.reason = std::move(command.reason),
                                      .requested_by = std::move(command.requested_by),
                                      .at = now};
  next.replay_count += 1;
  next.retry_count = 0;
  next.reclaim_count = 0;
  // A new run: it queues behind what waits already, and has as much time as the first one had.
  next.queued_at = now;
  if (execution.deadline) next.deadline = now + (*execution.deadline - execution.queued_at);
  return Step<EndReply>{.reply = {public_state(next)},
                        .next = std::move(next),
                        .event = EventType::replayed,
                        .drop_result = true};
}

}  // namespace ff::core
