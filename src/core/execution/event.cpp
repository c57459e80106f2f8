#include "core/execution/event.hpp"

namespace ff::core {

ExecutionChange make_change(EventType type, const Execution& execution, TimePoint now) {
  const bool resumed = type == EventType::resumed && execution.attempt;
  return {.event = {.type = type,
                    .at = now,
                    .id = execution.id,
                    .ns = execution.ns,
                    .lane = execution.lane,
                    .kind = execution.kind,
                    .state = public_state(execution),
                    .attempts = execution.attempt_count,
                    .flow = execution.flow ? std::optional(execution.flow->flow) : std::nullopt},
          .claimable = is_claimable(execution, now),
          .required = execution.policy.required_capabilities,
          .timer = next_timer(execution),
          .preferred = resumed ? std::optional(execution.attempt->worker) : std::nullopt};
}

ExecutionChange make_change(EventType type, const Flow& flow, TimePoint now) {
  return {.event = event_of(type, flow, now), .timer = next_timer(flow)};
}

}  // namespace ff::core
