// The engine on a store in reach: scheduler, scanners and waiting around it.
#pragma once

#include <flowfabric/engine.hpp>

#include <functional>
#include <memory>

#include "base/async/runtime.hpp"
#include "base/random.hpp"
#include "core/validation/validate.hpp"
#include "engine/audit/audit_entry.hpp"
#include "engine/engine_metrics.hpp"
#include "engine/events/event_feed.hpp"
#include "engine/events/wait_list.hpp"
#include "engine/events/work_waiters.hpp"
#include "engine/outbox/outbox.hpp"
#include "engine/scanners/flow_cancels.hpp"
#include "engine/scanners/unblock_scanner.hpp"
#include "engine/starting/claim_turns.hpp"
#include "engine/starting/scheduler.hpp"
#include "engine/starting/start_gate.hpp"
#include "engine/starting/worker_cache.hpp"
#include "engine/streams/flow_tail.hpp"
#include "engine/supervisor.hpp"
#include "engine/waitpoint_keys.hpp"
#include "store/store.hpp"

namespace ff {

struct ScanIntervals {
  Millis lease_expiry{1500};
  Millis delayed_promoter{750};
  Millis attempt_timeout{2000};
  Millis execution_deadline{5000};
  Millis grant_expiry{1000};
  Millis suspension_timeout{2000};
  Millis waitpoint_expiry{5000};
  Millis flow_deadline{5000};
  Millis dependency_reconciler{15'000};
  Millis flow_projector{15'000};
  Millis cancel_reconciler{15'000};
  Millis edge_cancel_dispatcher{1'000};
  Millis edge_cancel_reconciler{10'000};
  Millis outbox{30'000};
  Millis retention_trimmer{60'000};
  Millis index_reconciler{45'000};
  Millis unblock{5'000};
  Millis openings{5'000};
  Millis budget_reset{15'000};
  Millis budget_reconciler{30'000};
  Millis quota_reconciler{30'000};
  Millis audit_trimmer{60'000};
};

struct LocalEngineOptions {
  std::size_t threads = 2;
  bool scan = true;  // run the scanners; tests run them by hand
  ScanIntervals intervals = {};
  // Of executions and flows; scanners of indexes, effects, budgets and quotas look after all of them.
  ScannerFilter filter = {};
  Millis retention_default = limits::retention_default;
  // How long tokens of a waitpoint secret stay valid after a rotation.
  Millis waitpoint_secret_grace = limits::waitpoint_secret_grace_default;
  // How many entries the audit log keeps, and for how long.
  std::uint64_t audit_entries_max = limits::audit_entries_default;
  Millis audit_retention = limits::audit_retention_default;
  std::size_t events_max = 65'536;  // that are remembered for those who follow them
  // Every lifecycle event, from any thread; must not block.
  std::function<void(const Event&)> on_event = {};
  std::shared_ptr<Random> random = std::make_shared<SystemRandom>();  // tests: one that repeats
};

class LocalEngine final : public Engine {
 public:
  explicit LocalEngine(std::unique_ptr<store::Store> store, LocalEngineOptions options = {});
  ~LocalEngine() override;

  asio::awaitable<void> perform(EngineCall& call) override;
  asio::any_io_executor executor() override { return runtime_.executor(); }

  Supervisor& scanners() { return scanners_; }
  Outbox& outbox() { return outbox_; }

  // Calls that wait for the store's server, and later ones, fail at once. Any thread.
  void break_off() { store_->break_off(); }

 private:
  template <class Op>
  asio::awaitable<void> answer(OperationCall<Op>& call);
  template <class Op>
  asio::awaitable<void> answer_valid(OperationCall<Op>& call);
  template <class Op>
  asio::awaitable<void> answer_audited(OperationCall<Op>& call);
  template <class Op>
  asio::awaitable<void> answer_by_handling(OperationCall<Op>& call);
  template <class Op>
  asio::awaitable<void> answer_by_store(OperationCall<Op>& call);
  template <class Op>
  void pass_to_store(OperationCall<Op>& call, Continuation resume);
  Async<SubmitReply> handle(Submit operation);
  Async<SubmitManyReply> handle(SubmitMany operation);
  Async<ExecutionInfo> handle(GetExecution operation);
  Async<StateReply> handle(GetState operation);
  Async<ExecutionList> handle(ListExecutions operation);
  Async<StateCounts> handle(CountExecutions operation);
  Async<Bytes> handle(GetResult operation);
  Async<EventPage> handle(ReadEvents operation);
  Async<EventPage> read_events(ReadEvents query, std::chrono::steady_clock::time_point deadline);
  Async<StreamPage> handle(ReadStream operation);
  Async<AttemptFrames> handle(ReadAttemptStream operation);
  Async<AttemptFrames> handle(TailAttemptStream operation);
  Async<StreamTicket> handle(CreateStreamTicket operation);
  Async<FlowStreamPage> handle(ReadFlowStream operation);
  Async<ClaimReply> handle(Claim operation);
  Async<GrantReply> handle(Grant operation);
  Async<GrantReply> grant(Grant operation);
  Async<ClaimedExecution> handle(ClaimGranted operation);
  Async<ClaimedExecution> handle(ClaimExecution operation);
  Async<RenewReply> handle(Renew operation);
  Async<CompleteManyReply> handle(CompleteMany operation);
  Async<EndReply> handle(Complete operation);
  Async<EndReply> handle(WaitForChildren operation);
  Async<NodeInputs> handle(GetInputs operation);
  Async<CreateBudgetReply> handle(CreateBudget operation);
  Async<UsageReply> handle(ReportUsage operation);
  Async<AppendReply> handle(AppendFrames operation);
  Async<Done> handle(DeleteBudget operation);
  Async<CreateQuotaReply> handle(CreateQuota operation);
  Async<Done> handle(DeleteQuota operation);
  Async<RegisterReply> handle(RegisterWorker operation);
  Async<Done> handle(DeregisterWorker operation);
  Async<WorkerInfo> handle(DrainWorker operation);
  Async<WorkerList> handle(ListWorkers operation);
  Async<WorkerStatus> handle(GetWorker operation);
  Async<Why> handle(ExplainExecution operation);
  Async<SuspendReply> handle(Suspend operation);
  Async<CreateWaitpointReply> handle(CreateWaitpoint operation);
  Async<WaitpointList> handle(ListWaitpoints operation);
  Async<IssuedWaitpoint> handle(GetWaitpointTokens operation);
  Async<SignalReply> handle(SendSignal operation);
  Async<DeliveredSignal> handle(DeliverSignal operation);
  Async<WaitpointView> handle(ReadWaitpoint operation);
  Async<AnswerReply> handle(AnswerWaitpoint operation);
  Async<RotateSecretReply> handle(RotateWaitpointSecret operation);
  Async<WaitpointKeyList> handle(ListWaitpointKeys operation);
  Async<FlowReply> handle(SubmitFlow operation);
  Async<FlowInfo> handle(ExtendFlow operation);
  Async<FlowView> handle(GetFlow operation);
  Async<CancelFlowReply> handle(CancelFlow operation);
  Async<RedriveReply> handle(RedriveFlow operation);
  Async<OpenFlowReply> handle(OpenFlow operation);
  Async<CancelMembersReply> handle(CancelMembers operation);
  Async<LanePauseReply> handle(PauseLane operation, const Caller& caller);
  Async<LanePauseReply> handle(ResumeLane operation);
  Async<LaneList> handle(ListLanes operation);
  Async<Identity> handle(WhoAmI operation, const Caller& caller);
  Async<HealthReply> handle(Health operation);
  Async<ReadyReply> handle(CheckReady operation);
  Async<Bytes> handle(GetMetrics operation);

  template <class Command, class Op, class ToCommand>
  asio::awaitable<std::vector<Result<typename Command::Reply>>> run_each(std::vector<Op> operations,
                                                                         ToCommand to_command);
  core::Create to_create(Submit operation);
  Async<SubmitReply> submit_node(Submit operation);
  Async<ClaimReply> claim_or_wait(Claim operation);
  Async<bool> wait_for_undrain(const Claim& operation, Wakeup& wakeup, const ClaimTurns::Turn& turn,
                               std::chrono::steady_clock::time_point deadline);
  Async<Bytes> read_result_or_wait(GetResult operation);
  Async<FlowInfo> read_flow_or_wait(GetFlow operation);
  template <class Read, class HasNews>
  Async<typename Read::Reply> read_frames_or_wait(Read read, Millis wait, HasNews has_news);
  Async<FlowStreamPage> read_flow_stream_or_wait(ReadFlowStream operation);
  void on_frames(const ExecutionId& id);
  Async<std::vector<FlowNodeInfo>> all_nodes(FlowId id);
  Async<std::optional<ExecutionId>> parent_of(ExecutionId id);
  Async<void> check_attachments(const Namespace& ns, const std::vector<BudgetId>& budgets,
                                const std::vector<FlowNode>& nodes);
  template <class End>
  Async<EndReply> grow(End end, std::vector<FlowNode> nodes, std::string_view field);
  static const Caller& caller_of(const EngineCall& call);
  template <class Op>
  Async<std::optional<AuditEntry>> audit_entry(const Op& operation, const Caller& caller);
  Async<std::optional<AuditEntry>> audit_entry(const AnswerWaitpoint& operation, const Caller& caller);
  asio::awaitable<void> keep_in_audit_log(AuditEntry entry);
  Async<void> probe_store();
  template <class Id>
  void mint_if_absent(std::optional<Id>& id);
  Async<void> add_tokens(const ExecutionId& id, std::span<IssuedWaitpoint> waitpoints);
  struct OpenedByToken {
    core::WaitpointClaims claims;
    std::optional<WaitpointInfo> waitpoint = {};  // none: of an earlier suspension
    std::string progress = {};                    // of the suspension that it is bound to
  };
  Async<OpenedByToken> open_with(std::string token);
  Async<std::optional<core::FoundSignal>> answer_of(const core::WaitpointClaims& claims);
  Async<AnswerReply> repeat_answer(const OpenedByToken& opened, SignalName name);
  Async<void> act_on_breach(const ReportUsage& report, const UsageReply& reply);
  Async<void> stop_flow(FlowId id, OnHardLimit action, std::string why);
  template <class Op>
  Async<bool> may_work(const Op& operation, Millis wait);
  void on_opening(const store::Opening& opening);
  void look_at_blocked();
  void offer(const store::ReadyGroup& group, std::size_t room);
  void add_scanners();
  void on_events(std::span<const core::ExecutionChange> changes);
  void on_changes(std::span<const core::ExecutionChange> changes);
  void on_paused_lanes();
  void on_gap();

  // In the order in which they may go: each uses those above it.
  LocalEngineOptions options_;
  Runtime runtime_;
  EngineMetrics metrics_;
  EventFeed events_;
  WorkWaiters waiting_for_work_;
  WaitList<ExecutionId> waiting_for_end_;
  WaitList<ExecutionId> waiting_for_frames_;
  FlowTails flow_tails_;
  using WorkerName = std::pair<Namespace, WorkerId>;
  WaitList<WorkerName> drained_claims_;
  ClaimTurns claim_turns_;
  std::map<core::TimerKind, Supervisor::Handle> timer_scanners_;
  WorkerCache workers_;
  WaitpointKeys waitpoint_keys_;
  StartGate gate_;
  UnblockScanner unblock_;
  CancelReconciler cancel_reconciler_;
  EdgeCancelDispatcher edge_cancels_;
  Outbox outbox_;
  Scheduler scheduler_;
  Supervisor scanners_;
  std::optional<Supervisor::Handle> unblock_handle_;
  std::optional<Supervisor::Handle> openings_handle_;
  // As the claims that wait know them.
  std::mutex paused_lanes_mutex_;
  std::shared_ptr<const core::PausedLanes> paused_lanes_ = std::make_shared<const core::PausedLanes>();
  std::atomic<bool> closing_ = false;
  std::atomic<bool> is_rotating_ = false;  // the waitpoint secret

  // Anyone may ask whether the engine is ready; the disk is not asked each time.
  struct Probed {
    std::chrono::steady_clock::time_point at;
    Result<void> result;
  };
  std::mutex probed_mutex_;
  std::optional<Probed> probed_;

  // The members above use the store, and it reports changes to them until it is destroyed.
  std::unique_ptr<store::Store> store_;
};

}  // namespace ff
