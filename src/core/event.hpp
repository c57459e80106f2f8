// What happened to an execution, for those who wait for it or watch it.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/time.hpp>

#include <cstdint>
#include <string_view>

namespace ff::core {

enum class EventType : std::uint8_t { submitted, claimed, lease_expired, completed, failed };

std::string_view to_string(EventType type);

struct Execution;

struct Event {
  EventType type;
  TimePoint at;
  ExecutionId id;
  Namespace ns;
  LaneId lane;
  bool claimable;  // a worker can claim it now
  bool terminal;   // it has ended
};

// What to tell of `execution` as it is after the change.
Event make_event(EventType type, const Execution& execution, TimePoint now);

}  // namespace ff::core
