#include "core/fence.hpp"
#include "core/transitions.hpp"

namespace ff::core {
namespace {

Step<BlockReply> unchanged() { return {.reply = {.changed = false}}; }

}  // namespace

// One whose lease was lost counts as active until another worker has it, and is never called blocked.
Decision<Block> apply(const Execution& execution, Block command, TimePoint now) {
  const auto* blocked = std::get_if<Blocked>(&execution.state);
  const bool waits = state_vector(execution).eligibility_state == EligibilityState::eligible_now &&
                     std::holds_alternative<Waiting>(execution.state);
  if (!waits && !blocked) return unchanged();
  if (blocked && (is_pause(blocked->reason) ||
                  (blocked->reason == command.reason && blocked->detail == command.detail)))
    return unchanged();
  Execution next = execution;
  next.state = Blocked{.reason = command.reason,
                       .detail = std::move(command.detail),
                       .since = blocked ? blocked->since : now};
  // What changes from one reason's detail to another is no news.
  const bool news = !blocked || blocked->reason != command.reason;
  return Step<BlockReply>{.reply = {.changed = true},
                          .next = std::move(next),
                          .event = news ? std::optional(EventType::blocked) : std::nullopt};
}

Decision<Unblock> apply(const Execution& execution, const Unblock& command, TimePoint) {
  const auto* blocked = std::get_if<Blocked>(&execution.state);
  if (!blocked || blocked->reason != command.reason) return unchanged();
  Execution next = execution;
  next.state = Waiting{};
  return Step<BlockReply>{
      .reply = {.changed = true}, .next = std::move(next), .event = EventType::unblocked};
}

Result<Done> check_lease(const Execution& execution, const Fence& fence, TimePoint now) {
  if (auto held = check_fence(execution, fence, now); !held) return std::unexpected(held.error());
  return Done{};
}

}  // namespace ff::core
