// Lists of executions in an order that no index has.
#pragma once

#include "engine/starting/worker_cache.hpp"
#include "store/store.hpp"

namespace ff {

// Reads all that match, at most limits::sorted_looks_max, and gives a page of them in the order that the list names.
// Fails with invalid_input if there are more, or the cursor is of another list.
Async<ExecutionList> sorted_page(store::Store& store, WorkerCache& workers, ListExecutions list);

}  // namespace ff
