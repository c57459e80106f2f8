#include "core/event.hpp"

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

}  // namespace ff::core
