#include "core/transitions.hpp"

namespace ff::core {

Decision<Create> apply(const Execution* existing, Create command, TimePoint now) {
  if (existing)
    return Step<SubmitReply>{
        .reply = {.id = command.id, .duplicate = true, .state = public_state(*existing)}};

  Execution created{.id = command.id,
                    .ns = std::move(command.ns),
                    .lane = std::move(command.lane),
                    .kind = std::move(command.kind),
                    .priority = command.priority,
                    .created_at = now};
  return Step<SubmitReply>{
      .reply = {.id = command.id, .duplicate = false, .state = public_state(created)},
      .next = std::move(created),
      .event = EventType::submitted,
      .payload = std::move(command.payload)};
}

}  // namespace ff::core
