// The executions that a bulk job acts on, a page at a time.
#pragma once

#include "core/bulks/bulk.hpp"
#include "engine/starting/worker_cache.hpp"
#include "store/store.hpp"

namespace ff {

// The list of matches, the newest first. `where` is a filter with absolute times.
ListExecutions matches_of(const Namespace& ns, std::string where, std::uint32_t limit);

// A page of it: which of `waiting` and `rate_limited` an execution is has been derived where the filter asks.
Async<ExecutionList> read_matches(store::Store& store, WorkerCache& workers, ListExecutions list);

struct MatchCount {
  std::uint64_t count = 0;
  bool at_least = false;  // the look was cut after limits::bulk_looks_max
};
Async<MatchCount> count_matches(store::Store& store, WorkerCache& workers, ListExecutions list);

}  // namespace ff
