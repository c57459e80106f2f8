// An event, and what the engine makes of it.
#pragma once

#include <flowfabric/events.hpp>

#include <optional>

#include "core/execution/execution.hpp"

namespace ff::core {

struct Happening {
  Event event;
  bool claimable = false;       // a worker can claim it now
  CapabilitySet required = {};  // of that worker
  // What it held of its quota and lost by this; whoever hears of it first-hand gives it back.
  struct Freed {
    QuotaId quota;
    AdmissionId admission;
    bool operator==(const Freed&) const = default;
  };
  std::optional<Freed> freed = {};
  std::optional<Timer> timer = {};  // what comes due next
  // Nothing happened just now: it can be claimed, and someone may not have heard of it.
  bool reminder = false;
};

// What to tell of `execution` as it is after the change.
// `before` is what it was; null: it is new.
Happening make_happening(EventType type, const Execution* before, const Execution& execution,
                         TimePoint now);

}  // namespace ff::core
