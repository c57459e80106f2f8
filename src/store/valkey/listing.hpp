// Listing executions, the newest first, over all partitions.
#pragma once

#include "store/valkey/newest.hpp"

namespace ff::valkey_store {

Async<ExecutionList> list_executions(Functions& functions, ListExecutions query, TimePoint now);

}  // namespace ff::valkey_store
