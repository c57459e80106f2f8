// What every operation is checked for before it reaches a store, whichever way it came.
#pragma once

#include <flowfabric/operations.hpp>

namespace ff::core {

// Ids name a partition that exists; texts are there and in size; numbers are in range.
Result<void> validate(const Submit& operation, PartitionIndex partition_count);
Result<void> validate(const SubmitMany& operation, PartitionIndex partition_count);
Result<void> validate(const GetResult& operation, PartitionIndex partition_count);
Result<void> validate(const ListExecutions& operation, PartitionIndex partition_count);
Result<void> validate(const CountExecutions& operation, PartitionIndex partition_count);
Result<void> validate(const ReadEvents& operation, PartitionIndex partition_count);
Result<void> validate(const Claim& operation, PartitionIndex partition_count);
Result<void> validate(const Grant& operation, PartitionIndex partition_count);
Result<void> validate(const ClaimGranted& operation, PartitionIndex partition_count);
Result<void> validate(const ClaimExecution& operation, PartitionIndex partition_count);
Result<void> validate(const Renew& operation, PartitionIndex partition_count);
Result<void> validate(const UpdateProgress& operation, PartitionIndex partition_count);
Result<void> validate(const Complete& operation, PartitionIndex partition_count);
Result<void> validate(const CompleteMany& operation, PartitionIndex partition_count);
Result<void> validate(const Fail& operation, PartitionIndex partition_count);
Result<void> validate(const Delay& operation, PartitionIndex partition_count);
Result<void> validate(const HandBack& operation, PartitionIndex partition_count);
Result<void> validate(const Cancel& operation, PartitionIndex partition_count);
Result<void> validate(const RevokeLease& operation, PartitionIndex partition_count);
Result<void> validate(const ChangePriority& operation, PartitionIndex partition_count);
Result<void> validate(const SetTags& operation, PartitionIndex partition_count);
Result<void> validate(const Replay& operation, PartitionIndex partition_count);
Result<void> validate(const Backup& operation, PartitionIndex partition_count);

Result<void> validate_id(const ExecutionId& id, PartitionIndex partition_count);

// What has nothing but an id to check.
template <class Op>
Result<void> validate(const Op& operation, PartitionIndex partition_count) {
  return validate_id(operation.id, partition_count);
}

}  // namespace ff::core
