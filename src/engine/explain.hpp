// Why an execution is not running.
#pragma once

#include "engine/fleet.hpp"
#include "store/store.hpp"

namespace ff {

Async<Why> explain(store::Store& store, Fleet& fleet, ExecutionId id);

}  // namespace ff
