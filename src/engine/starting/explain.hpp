// Why an execution is not running.
#pragma once

#include "engine/scanners/scanner_filter.hpp"
#include "engine/starting/worker_cache.hpp"
#include "store/store.hpp"

namespace ff {

Async<Why> explain(store::Store& store, WorkerCache& workers, const ExecutionInfo& info);

// Adds that a scanner should have acted on it by now, if those of this process leave it to others.
void explain_overdue(Why& why, const ExecutionInfo& info, const ScannerFilter& filter,
                     TimePoint now);

}  // namespace ff
