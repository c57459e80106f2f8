// The HTTP API: for each operation its method and path, and the JSON fields of request and reply.
// Server, remote engine, command line and the OpenAPI document all work from here.
#pragma once

#include <flowfabric/engine.hpp>

#include "http/wire/endpoints.hpp"
#include "http/wire/json_fields.hpp"

namespace ff::http {
// The values of a backoff's field `type`.
enum class BackoffType : std::uint8_t { exponential, fixed };
}  // namespace ff::http

namespace ff {
FF_NAMES(http::BackoffType, "exponential", "fixed");
}

namespace ff::http {

namespace detail {
struct AnyField {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): it stands for a field of any type
};
}  // namespace detail

// The field `id` (wire_parts.cpp)
void describe_id(Fields& fields, ExecutionId& id);
void describe_id(Fields& fields, BudgetId& id);
void describe_id(Fields& fields, QuotaId& id);
void describe_id(Fields& fields, FlowId& id);

// True for an operation that has an id and no other field.
template <class Op>
concept HasOnlyId = requires(Op operation) {
  operation.id;
}
&&!requires { Op{detail::AnyField{}, detail::AnyField{}}; };

template <HasOnlyId Op>
void describe(Fields& fields, Op& operation) {
  describe_id(fields, operation.id);
}

// Operations (wire_requests.cpp)
void describe(Fields& fields, Submit& value);
void describe(Fields& fields, SubmitMany& value);
void describe(Fields& fields, GetResult& value);
void describe(Fields& fields, ListExecutions& value);
void describe(Fields& fields, CountExecutions& value);
void describe(Fields& fields, ReadEvents& value);
void describe(Fields& fields, Claim& value);
void describe(Fields& fields, Grant& value);
void describe(Fields& fields, ClaimGranted& value);
void describe(Fields& fields, ClaimExecution& value);
void describe(Fields& fields, Renew& value);
void describe(Fields& fields, UpdateProgress& value);
void describe(Fields& fields, Complete& value);
void describe(Fields& fields, CompleteMany& value);
void describe(Fields& fields, Fail& value);
void describe(Fields& fields, Delay& value);
void describe(Fields& fields, HandBack& value);
void describe(Fields& fields, WaitForChildren& value);
void describe(Fields& fields, Cancel& value);
void describe(Fields& fields, RevokeLease& value);
void describe(Fields& fields, ChangePriority& value);
void describe(Fields& fields, SetTags& value);
void describe(Fields& fields, Replay& value);
void describe(Fields& fields, Backup& value);
void describe(Fields& fields, Health& value);
void describe(Fields& fields, CheckReady& value);
void describe(Fields& fields, GetMetrics& value);

// Replies (wire_replies.cpp)
void describe(Fields& fields, SubmitReply& value);
void describe(Fields& fields, SubmitManyReply& value);
void describe(Fields& fields, CompleteManyReply& value);
void describe(Fields& fields, ExecutionInfo& value);
void describe(Fields& fields, AttemptInfo& value);
void describe(Fields& fields, Attempts& value);
void describe(Fields& fields, LeaseEvent& value);
void describe(Fields& fields, LeaseHistory& value);
void describe(Fields& fields, ExecutionList& value);
void describe(Fields& fields, StateCount& value);
void describe(Fields& fields, StateCounts& value);
void describe(Fields& fields, Event& value);
void describe(Fields& fields, EventPage& value);
void describe(Fields& fields, ClaimedExecution& value);
void describe(Fields& fields, ClaimReply& value);
void describe(Fields& fields, GrantedExecution& value);
void describe(Fields& fields, GrantReply& value);
void describe(Fields& fields, RenewReply& value);
void describe(Fields& fields, Done& value);
void describe(Fields& fields, EndReply& value);
void describe(Fields& fields, StateReply& value);
void describe(Fields& fields, FailReply& value);
void describe(Fields& fields, RevokeReply& value);
void describe(Fields& fields, PriorityReply& value);
void describe(Fields& fields, TagsReply& value);
void describe(Fields& fields, BackupReply& value);
void describe(Fields& fields, ReadyReply& value);
void describe(Fields& fields, HealthReply& value);

// Budgets, quotas and workers (wire_resources.cpp)
void describe(Fields& fields, BudgetSpec& value);
void describe(Fields& fields, Breach& value);
void describe(Fields& fields, CreateBudget& value);
void describe(Fields& fields, CreateQuota& value);
void describe(Fields& fields, CreateBudgetReply& value);
void describe(Fields& fields, CreateQuotaReply& value);
void describe(Fields& fields, ListBudgets& value);
void describe(Fields& fields, ListQuotas& value);
void describe(Fields& fields, BudgetInfo& value);
void describe(Fields& fields, BudgetList& value);
void describe(Fields& fields, ReportUsage& value);
void describe(Fields& fields, UsageReply& value);
void describe(Fields& fields, ReleaseUsage& value);
void describe(Fields& fields, ReleaseUsageReply& value);
void describe(Fields& fields, ResetBudgetReply& value);
void describe(Fields& fields, QuotaSpec& value);
void describe(Fields& fields, QuotaInfo& value);
void describe(Fields& fields, QuotaList& value);
void describe(Fields& fields, RegisterWorker& value);
void describe(Fields& fields, HeartbeatWorker& value);
void describe(Fields& fields, DeregisterWorker& value);
void describe(Fields& fields, GetWorker& value);
void describe(Fields& fields, DrainWorker& value);
void describe(Fields& fields, ListWorkers& value);
void describe(Fields& fields, RegisterReply& value);
void describe(Fields& fields, WorkerInfo& value);
void describe(Fields& fields, WorkerStatus& value);
void describe(Fields& fields, WorkerList& value);
void describe(Fields& fields, Obstacle& value);
void describe(Fields& fields, Why& value);

// Suspensions, waitpoints, signals and steps (wire_suspensions.cpp)
void describe(Fields& fields, Question::Choice& value);
void describe(Fields& fields, Question& value);
void describe(Fields& fields, WaitpointInfo& value);
void describe(Fields& fields, WaitpointToken& value);
void describe(Fields& fields, IssuedWaitpoint& value);
void describe(Fields& fields, NewWaitpoint& value);
void describe(Fields& fields, CreateWaitpoint& value);
void describe(Fields& fields, CreateWaitpointReply& value);
void describe(Fields& fields, CloseWaitpoint& value);
void describe(Fields& fields, CloseWaitpointReply& value);
void describe(Fields& fields, ListWaitpoints& value);
void describe(Fields& fields, WaitpointList& value);
void describe(Fields& fields, GetWaitpointTokens& value);
void describe(Fields& fields, Suspend& value);
void describe(Fields& fields, SuspendReply& value);
void describe(Fields& fields, Resume& value);
void describe(Fields& fields, SuspensionInfo& value);
void describe(Fields& fields, SuspensionReply& value);
void describe(Fields& fields, Wake& value);
void describe(Fields& fields, SignalSource& value);
void describe(Fields& fields, SendSignal& value);
void describe(Fields& fields, SignalReply& value);
void describe(Fields& fields, GetSignals& value);
void describe(Fields& fields, ReceivedSignal& value);
void describe(Fields& fields, SignalPage& value);
void describe(Fields& fields, ReadWaitpoint& value);
void describe(Fields& fields, WaitpointView& value);
void describe(Fields& fields, AnswerWaitpoint& value);
void describe(Fields& fields, AnswerReply& value);
void describe(Fields& fields, DeliverSignal& value);
void describe(Fields& fields, DeliveredSignal& value);
void describe(Fields& fields, PutStep& value);
void describe(Fields& fields, PutStepReply& value);
void describe(Fields& fields, GetStep& value);
void describe(Fields& fields, StepInfo& value);
void describe(Fields& fields, StepList& value);

// Streams (wire_streams.cpp)
void describe(Fields& fields, NewFrame& value);
void describe(Fields& fields, AppendFrames& value);
void describe(Fields& fields, AppendReply& value);
void describe(Fields& fields, ReadStream& value);
void describe(Fields& fields, Frame& value);
void describe(Fields& fields, StreamSnapshot& value);
void describe(Fields& fields, StreamPage& value);
void describe(Fields& fields, StreamInfo& value);
void describe(Fields& fields, StreamList& value);
void describe(Fields& fields, ReadAttemptStream& value);
void describe(Fields& fields, TailAttemptStream& value);
void describe(Fields& fields, AttemptFrame& value);
void describe(Fields& fields, AttemptFrames& value);
void describe(Fields& fields, CreateStreamTicket& value);
void describe(Fields& fields, StreamTicket& value);
void describe(Fields& fields, ReadFlowStream& value);
void describe(Fields& fields, FlowFrame& value);
void describe(Fields& fields, FlowStreamPage& value);

// Secrets of waitpoint tokens (wire_secrets.cpp)
void describe(Fields& fields, RotateWaitpointSecret& value);
void describe(Fields& fields, RotateSecretReply& value);
void describe(Fields& fields, ListWaitpointKeys& value);
void describe(Fields& fields, WaitpointKeyInfo& value);
void describe(Fields& fields, WaitpointKeyList& value);

// The body of a login.
struct Login {
  std::optional<std::string> token = {};
};

// Lanes, the audit log and the caller (wire_operators.cpp)
void describe(Fields& fields, Login& value);
void describe(Fields& fields, PauseLane& value);
void describe(Fields& fields, ResumeLane& value);
void describe(Fields& fields, LanePause& value);
void describe(Fields& fields, LanePauseReply& value);
void describe(Fields& fields, ListLanes& value);
void describe(Fields& fields, LaneStateCount& value);
void describe(Fields& fields, LaneInfo& value);
void describe(Fields& fields, LaneList& value);
void describe(Fields& fields, ReadAudit& value);
void describe(Fields& fields, AuditEntry& value);
void describe(Fields& fields, AuditPage& value);
void describe(Fields& fields, WhoAmI& value);
void describe(Fields& fields, Identity& value);

// Open flows, as the published contract has them (wire_open_flows.cpp)
void describe(Fields& fields, OpenFlow& value);
void describe(Fields& fields, OpenFlowReply& value);
void describe(Fields& fields, AddFlowMember& value);
void describe(Fields& fields, AddFlowMemberReply& value);
void describe(Fields& fields, StageEdge& value);
void describe(Fields& fields, StageEdgeReply& value);
void describe(Fields& fields, ApplyEdge& value);
void describe(Fields& fields, ApplyEdgeReply& value);
void describe(Fields& fields, CancelMembers& value);
void describe(Fields& fields, CancelMembersReply& value);

// Flows (wire_flows.cpp)
void describe_after(Fields& fields, std::vector<Dependency>& after);  // the field `after`
void describe(Fields& fields, Dependency& value);
void describe(Fields& fields, FlowNode& value);
void describe(Fields& fields, MapOver& value);
void describe(Fields& fields, Subflow& value);
void describe(Fields& fields, NodeCounts& value);
void describe(Fields& fields, FlowInfo& value);
void describe(Fields& fields, FlowView& value);
void describe(Fields& fields, FlowReply& value);
void describe(Fields& fields, SubmitFlow& value);
void describe(Fields& fields, ExtendFlow& value);
void describe(Fields& fields, GetFlow& value);
void describe(Fields& fields, ListFlows& value);
void describe(Fields& fields, FlowList& value);
void describe(Fields& fields, DependencyInfo& value);
void describe(Fields& fields, FlowNodeInfo& value);
void describe(Fields& fields, ListFlowNodes& value);
void describe(Fields& fields, FlowNodes& value);
void describe(Fields& fields, GetInputs& value);
void describe(Fields& fields, NodeInput& value);
void describe(Fields& fields, NodeInputs& value);
void describe(Fields& fields, CancelFlow& value);
void describe(Fields& fields, CancelFlowReply& value);
void describe(Fields& fields, PauseFlow& value);
void describe(Fields& fields, RedriveFlow& value);
void describe(Fields& fields, RedriveReply& value);

// Parts that several messages share (wire_parts.cpp)
void describe(Fields& fields, RetryPolicy& value);
void describe(Fields& fields, Policy& value);
void describe(Fields& fields, StateVector& value);
void describe(Fields& fields, Progress& value);

}  // namespace ff::http
