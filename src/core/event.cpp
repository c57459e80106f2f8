#include "core/event.hpp"

#include "core/execution.hpp"

namespace ff::core {

std::string_view to_string(EventType type) {
  switch (type) {
    case EventType::submitted: return "submitted";
    case EventType::claimed: return "claimed";
    case EventType::lease_expired: return "lease_expired";
    case EventType::completed: return "completed";
    case EventType::failed: return "failed";
  }
  return "";
}

Event make_event(EventType type, const Execution& execution, TimePoint now) {
  const auto place = placement(execution);
  return {.type = type,
          .at = now,
          .id = execution.id,
          .ns = execution.ns,
          .lane = execution.lane,
          .claimable = std::holds_alternative<Ready>(place),
          .terminal = std::holds_alternative<Ended>(place)};
}

}  // namespace ff::core
