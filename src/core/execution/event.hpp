// An event, and what the engine makes of it.
#pragma once

#include <flowfabric/events.hpp>

#include <optional>
#include <vector>

#include "core/effects/effect.hpp"
#include "core/execution/execution.hpp"

namespace ff::core {

struct ExecutionChange {
  Event event;
  bool claimable = false;            // a worker can claim it now
  CapabilitySet required = {};       // of that worker
  std::vector<Effect> effects = {};  // that it caused; only in the process that made the change
  std::optional<Timer> timer = {};   // the next one to come due
  std::optional<WorkerId> preferred =
      {};  // of a resumed one: its worker before the suspension, if known
};

// Describes a change; `execution` is the state after it.
ExecutionChange make_change(EventType type, const Execution& execution, TimePoint now);
ExecutionChange make_change(EventType type, const Flow& flow, TimePoint now);

}  // namespace ff::core
