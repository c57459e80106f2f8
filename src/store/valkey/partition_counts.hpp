// How many partitions a store on Valkey has.
#pragma once

#include <flowfabric/ids.hpp>

namespace ff::valkey_store {

// Fixed when the store is made. 0: as the store has them; of a new one 256 for executions, 32 for the others.
struct PartitionCounts {
  PartitionIndex executions = 0;
  PartitionIndex budgets = 0;
  PartitionIndex quotas = 0;
  bool operator==(const PartitionCounts&) const = default;
};

}  // namespace ff::valkey_store
