// Events: the changes of executions, as they happen.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/states.hpp>
#include <flowfabric/time.hpp>

namespace ff {

enum class EventType : std::uint8_t {
  submitted,
  granted,
  claimed,
  progressed,
  retry_scheduled,
  delayed,
  handed_back,
  waiting_children,
  blocked,    // by another scheduler on the same store
  unblocked,  // it can be claimed again
  promoted,   // a delay or a grant ran out: waiting for a worker again
  lease_expired,
  lease_revoked,
  priority_changed,
  tags_changed,
  completed,
  failed,
  cancelled,
  expired,
  replayed,
  removed,  // its retention ran out
  suspended,
  signalled,  // a signal arrived that did not resume it
  resumed,
  escalated,         // its suspension timed out: an operator must resume it
  waitpoint_opened,  // before a suspension
  waitpoint_closed,  // expired, or closed by its owner
};
FF_NAMES(EventType, "submitted", "granted", "claimed", "progressed", "retry_scheduled", "delayed",
         "handed_back", "waiting_children", "blocked", "unblocked", "promoted", "lease_expired",
         "lease_revoked", "priority_changed", "tags_changed", "completed", "failed", "cancelled",
         "expired", "replayed", "removed", "suspended", "signalled", "resumed", "escalated",
         "waitpoint_opened", "waitpoint_closed");

struct Event {
  EventType type{};
  TimePoint at;
  ExecutionId id;
  Namespace ns;
  LaneId lane;
  Kind kind;
  ExecutionState state{};  // after it
  std::uint32_t attempts = 0;
  bool operator==(const Event&) const = default;
};

}  // namespace ff
