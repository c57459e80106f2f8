// Events: the changes of executions, as they happen.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/states.hpp>
#include <flowfabric/time.hpp>

#include <optional>

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
  skipped,           // nodes before it in its flow ended otherwise than it needs
  reset,             // by a redrive of its flow: it runs once more
  // Of a flow, not of an execution.
  flow_submitted,
  flow_sealed,
  flow_paused,
  flow_resumed,
  flow_redriven,
  flow_completed,
  flow_failed,
  flow_cancelled,
  flow_expired,
  flow_removed,
};
FF_NAMES(EventType, "submitted", "granted", "claimed", "progressed", "retry_scheduled", "delayed",
         "handed_back", "waiting_children", "blocked", "unblocked", "promoted", "lease_expired",
         "lease_revoked", "priority_changed", "tags_changed", "completed", "failed", "cancelled",
         "expired", "replayed", "removed", "suspended", "signalled", "resumed", "escalated",
         "waitpoint_opened", "waitpoint_closed", "skipped", "reset", "flow_submitted", "flow_sealed",
         "flow_paused", "flow_resumed", "flow_redriven", "flow_completed", "flow_failed",
         "flow_cancelled", "flow_expired", "flow_removed");

constexpr bool is_of_flow(EventType type) { return type >= EventType::flow_submitted; }

struct Event {
  EventType type{};
  TimePoint at;
  ExecutionId id;  // of the execution; of a flow: its partition and UUID
  Namespace ns;
  LaneId lane;
  Kind kind;
  ExecutionState state{};  // after it
  std::uint32_t attempts = 0;
  std::optional<FlowId> flow = {};  // that it belongs to
  bool operator==(const Event&) const = default;
};

}  // namespace ff
