// Validation of every operation before it reaches a store, from any entry point.
#pragma once

#include <flowfabric/operations.hpp>

#include <limits>

namespace ff::core {

// The partition count to validate with where the store's is unknown: it accepts every partition.
inline constexpr PartitionIndex any_partition = std::numeric_limits<PartitionIndex>::max();

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
Result<void> validate(const WaitForChildren& operation, PartitionIndex partition_count);
Result<void> validate(const HandBack& operation, PartitionIndex partition_count);
Result<void> validate(const Cancel& operation, PartitionIndex partition_count);
Result<void> validate(const RevokeLease& operation, PartitionIndex partition_count);
Result<void> validate(const ChangePriority& operation, PartitionIndex partition_count);
Result<void> validate(const SetTags& operation, PartitionIndex partition_count);
Result<void> validate(const Replay& operation, PartitionIndex partition_count);
Result<void> validate(const Backup& operation, PartitionIndex partition_count);

Result<void> validate(const Suspend& operation, PartitionIndex partition_count);
Result<void> validate(const CreateWaitpoint& operation, PartitionIndex partition_count);
Result<void> validate(const CloseWaitpoint& operation, PartitionIndex partition_count);
Result<void> validate(const ListWaitpoints& operation, PartitionIndex partition_count);
Result<void> validate(const Resume& operation, PartitionIndex partition_count);
Result<void> validate(const SendSignal& operation, PartitionIndex partition_count);
Result<void> validate(const DeliverSignal& operation, PartitionIndex partition_count);
Result<void> validate(const GetSignals& operation, PartitionIndex partition_count);
Result<void> validate(const AnswerWaitpoint& operation, PartitionIndex partition_count);
Result<void> validate(const PutStep& operation, PartitionIndex partition_count);
Result<void> validate(const GetStep& operation, PartitionIndex partition_count);

Result<void> validate(const AppendFrames& operation, PartitionIndex partition_count);
Result<void> validate(const ReadStream& operation, PartitionIndex partition_count);
Result<void> validate(const ReadAttemptStream& operation, PartitionIndex partition_count);
Result<void> validate(const TailAttemptStream& operation, PartitionIndex partition_count);
Result<void> validate(const CreateStreamTicket& operation, PartitionIndex partition_count);
Result<void> validate(const ReadFlowStream& operation, PartitionIndex partition_count);

Result<void> validate(const SubmitFlow& operation, PartitionIndex partition_count);
Result<void> validate(const ExtendFlow& operation, PartitionIndex partition_count);
Result<void> validate(const GetFlow& operation, PartitionIndex partition_count);
Result<void> validate(const ListFlowNodes& operation, PartitionIndex partition_count);
Result<void> validate(const ListFlows& operation, PartitionIndex partition_count);
Result<void> validate(const OpenFlow& operation, PartitionIndex partition_count);
Result<void> validate(const AddFlowMember& operation, PartitionIndex partition_count);
Result<void> validate(const StageEdge& operation, PartitionIndex partition_count);
Result<void> validate(const ApplyEdge& operation, PartitionIndex partition_count);
Result<void> validate(const CancelMembers& operation, PartitionIndex partition_count);
Result<void> validate(const CancelFlow& operation, PartitionIndex partition_count);
Result<void> validate(const PauseFlow& operation, PartitionIndex partition_count);
Result<void> validate(const RedriveFlow& operation, PartitionIndex partition_count);

Result<void> validate(const CreateBudget& operation, PartitionIndex partition_count);
Result<void> validate(const ListBudgets& operation, PartitionIndex partition_count);
Result<void> validate(const ReportUsage& operation, PartitionIndex partition_count);
Result<void> validate(const ReleaseUsage& operation, PartitionIndex partition_count);
Result<void> validate(const CreateQuota& operation, PartitionIndex partition_count);
Result<void> validate(const ListQuotas& operation, PartitionIndex partition_count);
Result<void> validate(const RegisterWorker& operation, PartitionIndex partition_count);
Result<void> validate(const PauseLane& operation, PartitionIndex partition_count);
Result<void> validate(const ResumeLane& operation, PartitionIndex partition_count);
Result<void> validate(const ListLanes& operation, PartitionIndex partition_count);
Result<void> validate(const ReadAudit& operation, PartitionIndex partition_count);
Result<void> validate(const RotateWaitpointSecret& operation, PartitionIndex partition_count);

Result<void> present_namespace(const Namespace& ns);
Result<void> worker_named(const WorkerId& worker, const Namespace& ns);
Result<void> attachments_valid(const Policy& policy);
Result<void> lanes_valid(const std::vector<LaneId>& lanes);
Result<void> validate_id(const ExecutionId& id, PartitionIndex partition_count);
Result<void> tag_condition_valid(const std::optional<std::string>& tag);  // of a filter
Result<void> tag_valid(std::string_view key, std::string_view value);
Result<void> tags_valid(std::string_view field, const Tags& tags);

// An operation with nothing to check but an id, a worker's name or a namespace.
template <class Op>
Result<void> validate(const Op& operation, PartitionIndex partition_count) {
  if constexpr (requires { operation.worker; })
    return worker_named(operation.worker, operation.ns);
  else if constexpr (Op::row.owner == Owner::execution && requires { operation.id; })
    return validate_id(operation.id, partition_count);
  else if constexpr (requires { operation.ns; })
    return present_namespace(operation.ns);
  else
    return {};
}

}  // namespace ff::core
