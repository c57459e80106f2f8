// The engine: the one interface between those who use FlowFabric (SDK, HTTP, CLI) and what runs it.
#pragma once

#include <flowfabric/async.hpp>
#include <flowfabric/operation_list.hpp>
#include <flowfabric/operations.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace ff {

// Everything that an engine does. HTTP routes and the remote engine follow from this list.
using EngineOperations =
    OperationList<Submit, SubmitMany, ListExecutions, CountExecutions, GetExecution, GetState,
                  GetPayload, GetResult, GetAttempts, GetLeaseHistory, ReadEvents, Claim, Grant,
                  ClaimGranted, ClaimExecution, Renew, UpdateProgress, Complete, CompleteMany, Fail,
                  Delay, HandBack, WaitForChildren, Suspend, CreateWaitpoint, CloseWaitpoint,
                  ListWaitpoints, GetWaitpointTokens, GetSuspension, SendSignal, GetSignals, Resume,
                  ReadWaitpoint, AnswerWaitpoint, DeliverSignal, PutStep, GetStep, ListSteps,
                  AppendFrames, ReadStream, ListStreams, ReadAttemptStream, TailAttemptStream, CreateStreamTicket,
                  ReadFlowStream,
                  Cancel, RevokeLease, ChangePriority, SetTags, Replay, ExplainExecution,
                  CreateBudget, ListBudgets, GetBudget, ReportUsage, ReleaseUsage, ResetBudget,
                  DeleteBudget, CreateQuota, ListQuotas, GetQuota, DeleteQuota, RegisterWorker,
                  HeartbeatWorker, DeregisterWorker, DrainWorker, ListWorkers, GetWorker,
                  RotateWaitpointSecret, ListWaitpointKeys, SubmitFlow, ExtendFlow, SealFlow, GetFlow,
                  ListFlowNodes, ListFlows, GetInputs, CancelFlow, PauseFlow, ResumeFlow,
                  RedriveFlow, OpenFlow, AddFlowMember, StageEdge, ApplyEdge, CancelMembers,
                  PauseLane, ResumeLane, ListLanes, ReadAudit, WhoAmI, Backup, Health, CheckReady,
                  GetMetrics>;

template <class Op>
class OperationCall;

// An operation on its way to an engine, whatever it is, with a place for its reply.
class EngineCall {
 public:
  virtual ~EngineCall() = default;
  EngineCall(const EngineCall&) = delete;
  EngineCall& operator=(const EngineCall&) = delete;

  // How long the caller waits for the reply, beyond what the operation itself waits. None: as long as a
  // remote engine waits by default (OpenOptions::timeout).
  std::optional<Millis> timeout = {};

  // Who asks. None: the program that the engine runs in. Must outlive the call.
  const Caller* caller = nullptr;

  // The operation's position in EngineOperations.
  std::size_t index() const { return index_; }

  // Answers with an error.
  virtual void refuse(Error error) = 0;

  // The call with its operation; null if it is of another kind.
  template <class Op>
  OperationCall<Op>* get_if() {
    const bool same = index_ == index_of<EngineOperations, Op>;
    return same ? static_cast<OperationCall<Op>*>(this) : nullptr;
  }

  // Calls `receive` with this call as OperationCall<Op>& and returns its result.
  template <class Receive>
  auto visit(Receive&& receive) {
    return visit_as(EngineOperations{}, receive);
  }

 private:
  template <class Op>
  friend class OperationCall;
  explicit EngineCall(std::size_t index) : index_(index) {}

  template <class First, class... Rest, class Receive>
  auto visit_as(OperationList<First, Rest...>, Receive& receive) {
    using Returned = std::invoke_result_t<Receive&, OperationCall<First>&>;
    using Entry = Returned (*)(EngineCall&, Receive&);
    static constexpr Entry entries[] = {&enter<First, Returned, Receive>,
                                        &enter<Rest, Returned, Receive>...};
    return entries[index_](*this, receive);
  }
  template <class Op, class Returned, class Receive>
  static Returned enter(EngineCall& call, Receive& receive) {
    return receive(static_cast<OperationCall<Op>&>(call));
  }

  std::size_t index_;
};

template <class Op>
class OperationCall final : public EngineCall {
 public:
  explicit OperationCall(Op asked)
      : EngineCall(index_of<EngineOperations, Op>), operation(std::move(asked)) {}
  void refuse(Error error) override { reply.emplace(std::unexpected(std::move(error))); }

  Op operation;
  std::optional<Result<typename Op::Reply>> reply = {};
};

// co_await engine.run(Submit{…}). A local engine works on a store; a remote one speaks HTTP to a
// server. Calls may come from any thread and run on the caller's executor; a call that waits ends early
// when its coroutine is cancelled. All calls must have ended when the engine goes. Get one from open().
class Engine {
 public:
  virtual ~Engine() = default;

  template <ListedIn<EngineOperations> Op>
  Async<typename Op::Reply> run(Op operation) {
    OperationCall<Op> call(std::move(operation));
    co_await perform(call);
    co_return std::move(*call.reply);
  }

  // Carries out an operation of any kind and sets its reply. An engine that stands before another one
  // looks at the calls it cares about and passes the others on.
  virtual asio::awaitable<void> perform(EngineCall& call) = 0;

  // Where the engine's own work runs; blocking callers start their coroutines here.
  virtual asio::any_io_executor executor() = 0;
};

}  // namespace ff
