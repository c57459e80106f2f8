// What every operation is checked for before it reaches a store, whichever way it came.
#pragma once

#include <flowfabric/operations.hpp>

namespace ff::core {

// Ids name a partition that exists; texts are there and in size; numbers are in range.
Result<void> validate(const Submit& operation, PartitionIndex partition_count);
Result<void> validate(const GetExecution& operation, PartitionIndex partition_count);
Result<void> validate(const GetResult& operation, PartitionIndex partition_count);
Result<void> validate(const Claim& operation, PartitionIndex partition_count);
Result<void> validate(const Renew& operation, PartitionIndex partition_count);
Result<void> validate(const Complete& operation, PartitionIndex partition_count);
Result<void> validate(const Fail& operation, PartitionIndex partition_count);

}  // namespace ff::core
