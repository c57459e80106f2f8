// Listing executions, the newest first, over all partitions.
#pragma once

#include <flowfabric/async.hpp>

#include <string>

#include "store/valkey/calls/functions.hpp"

namespace ff::valkey_store {

// When an execution was created: where it stands in a list.
struct Moment {
  TimePoint at;
  ExecutionId id;
  auto operator<=>(const Moment&) const = default;
};

std::string to_cursor(const Moment& moment);

Async<ExecutionList> list_executions(Functions& functions, ListExecutions query);

}  // namespace ff::valkey_store
