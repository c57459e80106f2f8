// The submitting side, for programs that do not use coroutines: calls block and answer.
#pragma once

#include <flowfabric/operations.hpp>

#include <concepts>
#include <functional>
#include <stop_token>

namespace ff {

class Engine;
class Flow;

// An execution to submit. Only the kind is required; docs/executions.md explains the rest.
struct NewExecution {
  std::string kind;
  std::string payload = {};  // bytes, untouched
  std::string lane = "default";
  std::string ns = "default";
  std::int32_t priority = 0;         // 0 to 9000, higher runs first
  std::string id = {};               // empty: the client mints one
  std::string idempotency_key = {};  // instead of an id: makes the submit safe to call again
  std::optional<TimePoint> delay_until = {};
  std::optional<TimePoint> deadline = {};
  Tags tags = {};
  Policy policy = {};
  std::string content_type = {};  // of the payload, such as application/json
  std::string traceparent = {};   // W3C trace context, handed on to the worker
  // Makes it a node of a flow that has not ended. The name is that of the node; empty: the idempotency key, or made up.
  std::optional<FlowId> flow = {};
  std::string node = {};
  std::vector<Dependency> after = {};
};

struct ClientOptions {
  // How long a call may take, beyond what it is told to wait. Then it fails with timed_out, and whether
  // it was done is not known.
  Millis timeout = std::chrono::seconds{30};
  // How long a submit, a signal or an answer is repeated while the engine cannot be reached or its reply is lost; never beyond
  // `timeout`. A repetition creates no second execution. 0: no repetition.
  Millis submit_retry = std::chrono::seconds{10};
};

// A signal to send. Only the name is required.
struct NewSignal {
  std::string name;
  std::string payload = {};       // bytes, untouched
  std::string content_type = {};  // of the payload, such as application/json
  SignalSource source = {};       // for conditions that count sources, and for those who read it
  std::string category = {};
  std::string correlation_id = {};
  std::string idempotency_key = {};           // makes the signal safe to send again by another call
  std::optional<WaitpointId> waitpoint = {};  // none: for the execution itself
};

// An answer to a waitpoint.
struct NewAnswer {
  std::string signal;  // one of the question's choices, if it has any
  std::string payload = {};
  std::string content_type = {};
  std::string comment = {};
};

struct Subscriber {
  std::function<bool(const Event&)> on_event;  // false: that was the last one
  std::function<void()> on_missed = {};        // events are gone: look at what you watch anew
};

// May be used from any thread but the engine's own. The engine must outlive it.
class Client {
 public:
  explicit Client(Engine& engine, ClientOptions options = {})
      : engine_(engine), options_(options) {}

  // The execution is on disk when this returns.
  Result<SubmitReply> submit(NewExecution execution);

  // Any number, in as few calls as possible. One answer each, in the same order: each is accepted or
  // refused on its own.
  std::vector<Result<SubmitReply>> submit_many(std::vector<NewExecution> executions);

  // The result of an execution, waiting for it up to `timeout`, also while the engine cannot be
  // reached. Fails with execution_failed if it ended without one, with execution_not_terminal if it
  // has not ended.
  Result<std::string> result(const ExecutionId& id, Millis timeout);

  // The same with the result's content type.
  Result<Bytes> result_bytes(const ExecutionId& id, Millis timeout);

  // The same for an execution's end, whichever it is.
  Result<ExecutionInfo> wait(const ExecutionId& id, Millis timeout);

  Result<ExecutionInfo> get(const ExecutionId& id);
  Result<ExecutionState> state(const ExecutionId& id);
  Result<std::string> payload(const ExecutionId& id);
  Result<Bytes> payload_bytes(const ExecutionId& id);                    // with its content type
  Result<std::vector<AttemptInfo>> attempts(const ExecutionId& id);      // the oldest first
  Result<std::vector<LeaseEvent>> lease_history(const ExecutionId& id);  // the oldest first
  Result<std::vector<StateCount>> counts(CountExecutions which = {});

  // One page, the newest first; `next` is the cursor of the next one.
  Result<ExecutionList> list(ListExecutions which = {});
  // All pages, until `each` returns false.
  Result<void> for_each(ListExecutions which,
                        const std::function<bool(const ExecutionInfo&)>& each);

  Result<ExecutionState> cancel(const ExecutionId& id, std::string reason = {});
  Result<ExecutionState> replay(const ExecutionId& id, std::string reason = {},
                                std::string requested_by = {});
  Result<PriorityReply> change_priority(const ExecutionId& id, std::int32_t priority);
  Result<Tags> set_tags(const ExecutionId& id, Tags set, std::vector<std::string> remove = {});
  Result<RevokeStatus> revoke_lease(const ExecutionId& id, std::string reason = {});

  // ---- Executions that wait ------------------------------------------------------------------------

  // Repeated while the engine cannot be reached, as submit() is; a repetition counts once.
  Result<SignalReply> signal(const ExecutionId& id, NewSignal signal);
  Result<SignalReply> signal(const ExecutionId& id, std::string name, std::string payload = {}) {
    return signal(id, NewSignal{.name = std::move(name), .payload = std::move(payload)});
  }
  // Resumes a suspended execution, whatever it waits for.
  Result<ExecutionState> resume(const ExecutionId& id, std::string reason = {});

  Result<SuspensionReply> suspension(const ExecutionId& id);             // the newest
  Result<std::vector<WaitpointInfo>> waitpoints(const ExecutionId& id);  // the open ones
  Result<IssuedWaitpoint> tokens(const ExecutionId& id, const WaitpointId& waitpoint);
  Result<std::vector<ReceivedSignal>> signals(const ExecutionId& id);  // the oldest first
  Result<std::vector<StepInfo>> steps(const ExecutionId& id);          // by name
  Result<Bytes> step(const ExecutionId& id, std::string name);

  // ---- Streams of executions -----------------------------------------------------------------------

  Result<std::vector<StreamInfo>> streams(const ExecutionId& id);
  Result<StreamPage> read_stream(ReadStream which);
  // Calls `each` for every frame from `which.from` on, and waits for more, until the execution has ended or `each`
  // returns false. Returns where to go on. A server that restarts is waited for, two minutes at most.
  Result<std::uint64_t> tail(ReadStream which, const std::function<bool(const Frame&)>& each);

  // For the holder of a waitpoint's token, who needs no other right. An answer is repeated as a signal is.
  Result<WaitpointView> waitpoint(std::string token);
  Result<AnswerReply> answer(std::string token, NewAnswer answer);

  // ---- Flows ---------------------------------------------------------------------------------------

  // The flow is on disk, and its first nodes can be claimed, when this returns. A graph of more than
  // limits::flow_call_nodes_max nodes takes several calls; its nodes start after the last.
  template <std::same_as<Flow> Graph>
  Result<FlowReply> submit(const Graph& flow) {
    return submit_graph(flow);
  }
  Result<FlowReply> submit_flow(SubmitFlow flow);

  Result<FlowInfo> flow(const FlowId& id);
  // Its end, waiting for it up to `timeout`, also while the engine cannot be reached; then its state as it is.
  Result<FlowInfo> wait(const FlowId& id, Millis timeout);
  // The result of the node that Flow::result() names, waiting as wait() does. Fails with execution_failed if the
  // flow ended otherwise than completed, with execution_not_terminal if it has not ended.
  Result<Bytes> flow_result(const FlowId& id, Millis timeout);
  Result<std::vector<FlowNodeInfo>> flow_nodes(const FlowId& id);  // in the order of submission
  Result<FlowList> flows(ListFlows which = {});                    // one page, the newest first
  // The results of the nodes before a node, in the order of its dependencies.
  Result<std::vector<NodeInput>> inputs(const ExecutionId& node);

  // With `wait`, answers when the nodes are cancelled or the time is over.
  Result<CancelFlowReply> cancel_flow(CancelFlow which);
  Result<CancelFlowReply> cancel_flow(const FlowId& id, std::string reason = {}) {
    return cancel_flow(CancelFlow{.id = id, .reason = std::move(reason)});
  }
  Result<FlowInfo> pause_flow(const FlowId& id, std::string reason = {});
  Result<FlowInfo> resume_flow(const FlowId& id);
  // Runs nodes that failed once more, or the node `from`, and all nodes after them.
  Result<RedriveReply> redrive_flow(RedriveFlow which);
  Result<RedriveReply> redrive_flow(const FlowId& id) {
    return redrive_flow(RedriveFlow{.id = id});
  }

  // Why an execution is not running now, and what would let it run.
  Result<Why> why(const ExecutionId& id);

  Result<CreateBudgetReply> create_budget(CreateBudget budget);
  Result<BudgetInfo> budget(const BudgetId& id);
  Result<BudgetList> budgets(ListBudgets which = {});  // one page, by id
  Result<UsageReply> report_usage(ReportUsage report);
  Result<Amounts> release_usage(const BudgetId& id, const ExecutionId& execution);
  Result<void> reset_budget(const BudgetId& id);
  Result<void> delete_budget(const BudgetId& id);

  Result<CreateQuotaReply> create_quota(CreateQuota quota);
  Result<QuotaInfo> quota(const QuotaId& id);
  Result<QuotaList> quotas(ListQuotas which = {});  // one page, by id
  Result<void> delete_quota(const QuotaId& id);

  Result<std::vector<WorkerStatus>> workers(ListWorkers which = {});  // those that are alive
  Result<WorkerStatus> worker(GetWorker which);
  Result<WorkerInfo> drain_worker(DrainWorker which);

  // Gives workers no more work of a lane, until it is resumed. Both are safe to repeat.
  Result<LanePauseReply> pause_lane(PauseLane which);
  Result<LanePauseReply> resume_lane(ResumeLane which);
  Result<LaneList> lanes(ListLanes which = {});  // one page, by name

  // One page of the audit log, the newest first; `next` is `after` of the next one.
  Result<AuditPage> audit(ReadAudit which = {});
  Result<Identity> whoami();

  // One page of events. Without `which.after` there are none, but `next` is the place from now on.
  Result<EventPage> events(ReadEvents which = {});
  // Every event from now on, or after `which.after`, as it happens: blocks until on_event returns false
  // or `stop` is requested. Goes on where it was when the engine could not be reached for a while.
  Result<void> subscribe(ReadEvents which, const Subscriber& subscriber, std::stop_token stop = {});

 private:
  template <class Op>
  Result<typename Op::Reply> call(Op operation);
  Result<FlowReply> submit_graph(const Flow& flow);

  Engine& engine_;
  ClientOptions options_;
};

}  // namespace ff
