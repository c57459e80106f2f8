// What the function library tells of a change: in the reply to whoever made it, and to everyone else on
// the partition's channel.
#pragma once

#include "core/event.hpp"
#include "store/ready_queue.hpp"

namespace ff::valkey {

struct EventMessage {
  std::string origin;  // who made the change
  core::Happening happening;
  store::Ready ready;  // what to know of it if it is claimable
};

// None if it is not one of ours.
std::optional<EventMessage> parse_event(std::string_view text);

CapabilitySet capabilities_in(std::string_view csv);
// Other programs may write a fraction; the whole part counts.
std::int32_t priority_in(const std::string& text);
std::optional<core::TimerKind> timer_kind_from(std::string_view name);
std::string_view name_of(core::TimerKind kind);

}  // namespace ff::valkey
