// The engine: the one interface between those who use FlowFabric (SDK, HTTP, CLI) and what runs it.
#pragma once

#include <flowfabric/async.hpp>
#include <flowfabric/operations.hpp>

namespace ff {

// Everything that an engine does. HTTP routes and the remote engine follow from this list.
template <class... Ops>
struct OperationList {};
using EngineOperations =
    OperationList<Submit, SubmitMany, ListExecutions, CountExecutions, GetExecution, GetState,
                  GetPayload, GetResult, GetAttempts, GetLeaseHistory, ReadEvents, Claim, Grant,
                  ClaimGranted, ClaimExecution, Renew, UpdateProgress, Complete, CompleteMany, Fail,
                  Delay, HandBack, WaitForChildren, Cancel, RevokeLease, ChangePriority, SetTags,
                  Replay, ExplainExecution, CreateBudget, ListBudgets, GetBudget, ReportUsage,
                  ReleaseUsage, ResetBudget, DeleteBudget, CreateQuota, ListQuotas, GetQuota,
                  DeleteQuota, RegisterWorker, HeartbeatWorker, DeregisterWorker, DrainWorker,
                  ListWorkers, GetWorker, Backup, Health, CheckReady, GetMetrics>;

template <class Op>
struct Runs {
  virtual ~Runs() = default;
  virtual Async<typename Op::Reply> run(Op operation) = 0;
};

template <class Operations>
struct RunsEach;
template <class... Ops>
struct RunsEach<OperationList<Ops...>> : Runs<Ops>... {
  using Runs<Ops>::run...;
};

// co_await engine.run(Submit{…}). A local engine works on a store; a remote one speaks HTTP to a
// server. Calls may come from any thread and run on the caller's executor; a call that waits ends early
// when its coroutine is cancelled. All calls must have ended when the engine goes. Get one from open().
class Engine : public RunsEach<EngineOperations> {
 public:
  // Where the engine's own work runs; blocking callers start their coroutines here.
  virtual asio::any_io_executor executor() = 0;
};

}  // namespace ff
