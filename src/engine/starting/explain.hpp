// Why an execution is not running.
#pragma once

#include "engine/starting/fleet.hpp"
#include "store/store.hpp"

namespace ff {

Async<Why> explain(store::Store& store, Fleet& fleet, const ExecutionInfo& info);

}  // namespace ff
