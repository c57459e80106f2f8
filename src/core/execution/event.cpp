#include "core/execution/event.hpp"

namespace ff::core {

namespace {

std::optional<Happening::Freed> freed(const Execution* before, const Execution& after) {
  const auto held = before ? held_admission(*before) : std::nullopt;
  if (!held || held == held_admission(after)) return std::nullopt;
  return Happening::Freed{.quota = *before->policy.quota, .admission = *held};
}

}  // namespace

Happening make_happening(EventType type, const Execution* before, const Execution& execution,
                         TimePoint now) {
  return {.event = {.type = type,
                    .at = now,
                    .id = execution.id,
                    .ns = execution.ns,
                    .lane = execution.lane,
                    .kind = execution.kind,
                    .state = public_state(execution),
                    .attempts = execution.attempt_count},
          .claimable = is_claimable(execution, now),
          .required = execution.policy.required_capabilities,
          .freed = freed(before, execution),
          .timer = next_timer(execution)};
}

}  // namespace ff::core
