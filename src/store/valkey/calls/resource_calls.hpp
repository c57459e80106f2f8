// Operations on budgets, quotas and workers as function calls: where each goes, what is sent, and what its
// answer means. Those that concern many partitions are in token.cpp.
#pragma once

#include "store/valkey/calls/calls.hpp"
#include "store/valkey/calls/operator_calls.hpp"

namespace ff::valkey_store {

// Identifies the partition that an operation is sent to.
enum class OfStore : std::uint8_t { lanes, audit };                   // the only ones of a store
using Subject = std::variant<BudgetId, QuotaId, Namespace, OfStore>;  // the namespace: of workers

template <store::OfResource Op>
Subject subject_of(const Op& op) {
  if constexpr (Op::row.owner == Owner::worker)
    return op.ns;
  else if constexpr (Op::row.owner == Owner::lane)
    return OfStore::lanes;
  else if constexpr (Op::row.owner == Owner::audit)
    return OfStore::audit;
  else if constexpr (requires { op.budget; })
    return op.budget;
  else if constexpr (requires { op.quota; })
    return op.quota;
  else if constexpr (requires { *op.id; })
    return *op.id;
  else
    return op.id;
}

// Functions that only read may be asked of a server that takes no writes.
template <class Op>
inline constexpr bool only_reads = Op::row.writes == Writes::nothing;

// `room` says whether the namespace may have one more.
FunctionCall call_for(const CreateBudget& op, bool room);
FunctionCall call_for(const GetBudget& op);
FunctionCall call_for(const ReportUsage& op);
FunctionCall call_for(const ReleaseUsage& op);
FunctionCall call_for(const ResetBudget& op);
FunctionCall call_for(const DeleteBudget& op);
FunctionCall call_for(const core::CheckBudget& op);
FunctionCall call_for(const core::ResetIfDue& op);
FunctionCall call_for(const core::ForgetSpending& op);
FunctionCall call_for(const CreateQuota& op, bool room);
FunctionCall call_for(const GetQuota& op);
FunctionCall call_for(const DeleteQuota& op);
FunctionCall call_for(const core::Admit& op);
FunctionCall call_for(const core::ReleaseToken& op);
FunctionCall call_for(const RegisterWorker& op);
FunctionCall call_for(const HeartbeatWorker& op);
FunctionCall call_for(const DeregisterWorker& op);
FunctionCall call_for(const DrainWorker& op);
FunctionCall call_for(const core::LiveWorkers& op);

CreateBudgetReply read_answer(const CreateBudget& op, Answer& answer);
BudgetInfo read_answer(const GetBudget& op, Answer& answer);
UsageReply read_answer(const ReportUsage& op, Answer& answer);
ReleaseUsageReply read_answer(const ReleaseUsage& op, Answer& answer);
ResetBudgetReply read_answer(const ResetBudget& op, Answer& answer);
Done read_answer(const DeleteBudget& op, Answer& answer);
core::BudgetCheck read_answer(const core::CheckBudget& op, Answer& answer);
ResetBudgetReply read_answer(const core::ResetIfDue& op, Answer& answer);
Done read_answer(const core::ForgetSpending& op, Answer& answer);
CreateQuotaReply read_answer(const CreateQuota& op, Answer& answer);
QuotaInfo read_answer(const GetQuota& op, Answer& answer);
Done read_answer(const DeleteQuota& op, Answer& answer);
core::AdmitReply read_answer(const core::Admit& op, Answer& answer);
Done read_answer(const core::ReleaseToken& op, Answer& answer);
RegisterReply read_answer(const RegisterWorker& op, Answer& answer);
RegisterReply read_answer(const HeartbeatWorker& op, Answer& answer);
Done read_answer(const DeregisterWorker& op, Answer& answer);
WorkerInfo read_answer(const DrainWorker& op, Answer& answer);
std::vector<WorkerInfo> read_answer(const core::LiveWorkers& op, Answer& answer);

// Objects that the refusal of an operation may name.
struct ResourceContext {
  Subject subject;
  Namespace ns = {};
  std::optional<WorkerId> worker = {};
  std::optional<DedupKey> dedup_key = {};
};
template <class Op>
ResourceContext resource_context_of(const Op& op) {
  ResourceContext context{.subject = subject_of(op)};
  if constexpr (requires { op.ns; }) context.ns = op.ns;
  if constexpr (requires { op.worker; }) context.worker = op.worker;
  if constexpr (std::is_same_v<Op, ReportUsage>) context.dedup_key = op.dedup_key;
  return context;
}
std::unexpected<Error> refused(const ResourceContext& context, const std::vector<Reply>& reply);

// `TOKEN`, `EXECUTION ADMITTED_AT`: a slot of a quota as it is stored.
std::optional<core::HeldToken> parse_holder(const std::string& token, const std::string& record);

// Parses a message on the channel of a budget or quota partition; none if it is not an opening.
std::optional<store::Opening> parse_opening(std::string_view text);

}  // namespace ff::valkey_store
