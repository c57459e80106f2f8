// Why an execution is not running.
#pragma once

#include "engine/starting/worker_cache.hpp"
#include "store/store.hpp"

namespace ff {

Async<Why> explain(store::Store& store, WorkerCache& workers, const ExecutionInfo& info);

}  // namespace ff
