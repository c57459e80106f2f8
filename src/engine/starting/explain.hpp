// Why an execution is not running.
#pragma once

#include "engine/scanners/scanner_filter.hpp"
#include "engine/starting/worker_cache.hpp"
#include "store/store.hpp"

namespace ff {

// The reason for what a budget does to those that exceed it, and whether a text is such a reason.
std::string breach_reason(const BudgetId& budget, const Breach& breach);
bool is_breach_reason(std::string_view text);

Async<Why> explain(store::Store& store, WorkerCache& workers, const ExecutionInfo& info);

// Adds that a scanner should have acted on it by now, if those of this process leave it to others.
void explain_overdue(Why& why, const ExecutionInfo& info, const ScannerFilter& filter,
                     TimePoint now);

}  // namespace ff
