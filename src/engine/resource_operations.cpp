// An engine's operations on budgets, quotas and workers.
#include <algorithm>

#include <fmt/format.h>

#include "base/try.hpp"
#include "core/refusals.hpp"
#include "engine/local_engine.hpp"
#include "engine/starting/explain.hpp"

namespace ff {
namespace {

// Upper bound on the running executions that are listed with the workers of a namespace.
constexpr std::size_t running_max = 10'000;

// The usage of an append counts once, however often the call is repeated under its lease.
DedupKey usage_key(const AppendFrames& append) {
  return *DedupKey::parse(fmt::format("stream/{}/{}/{}/{}", append.fence.attempt_id.str(),
                                      std::to_underlying(append.fence.lease_epoch),
                                      append.stream.str(), append.written));
}

}  // namespace

// ---- Budgets ------------------------------------------------------------------------------------

Async<CreateBudgetReply> LocalEngine::handle(CreateBudget operation) {
  if (!operation.id) operation.id = BudgetId{make_uuid(store_->now(), *options_.random)};
  const auto id = *operation.id;
  auto reply = co_await store_->run(std::move(operation));
  if (reply) gate_.opened(id);  // work may have waited for a budget that was deleted
  co_return reply;
}
Async<Done> LocalEngine::handle(DeleteBudget operation) {
  gate_.forget(operation.id);
  auto done = co_await store_->run(operation);
  gate_.changed(operation.id);
  co_return done;
}

Async<UsageReply> LocalEngine::handle(ReportUsage operation) {
  if (operation.fence) {
    core::CheckLease lease{.id = *operation.execution, .fence = *operation.fence};
    FF_CO_TRY(co_await store_->run(lease));
  }
  auto reply = co_await store_->run(operation);
  gate_.changed(operation.id);
  if (!reply || !reply->action) co_return reply;
  FF_CO_TRY(co_await act_on_breach(operation, *reply));
  co_return reply;
}

// The frames first: if the process dies before it reports their usage, the writer repeats the call.
Async<AppendReply> LocalEngine::handle(AppendFrames operation) {
  GetExecution read{operation.id};
  const auto execution = co_await store_->run(read);
  FF_CO_TRY(execution);
  ReportUsage report{.id = {},
                     .amounts = std::move(operation.usage),
                     .dedup_key = usage_key(operation),
                     .execution = operation.id,
                     .fence = operation.fence};
  auto reply = co_await store_->run(std::move(operation));
  FF_CO_TRY(reply);
  for (const auto& budget : execution->policy.budgets) {
    report.id = budget;
    const auto used = co_await handle(report);
    if (!used && used.error().code == Errc::budget_not_found) continue;
    FF_CO_TRY(used);
    if (!used->action) continue;
    reply->action = used->action;
    if (ends_attempt(*used->action)) break;  // the lease is gone
  }
  co_return reply;
}

// If the process dies before the action, the lease still holds, and the next report breaks the limit again.
Async<void> LocalEngine::act_on_breach(const ReportUsage& report, const UsageReply& reply) {
  auto breach = *reply.breach;
  const auto& id = *report.execution;
  // The report was not counted; with it, the usage would be this.
  breach.usage += report.amounts.at(breach.dimension);
  const auto why = breach_reason(report.id, breach);
  auto action = *reply.action;
  if (action == OnHardLimit::deny_child || action == OnHardLimit::close_scope) {
    GetExecution read{id};
    const auto execution = co_await store_->run(read);
    FF_CO_TRY(execution);
    const auto& budgets = execution->policy.budgets;
    const bool spends = std::ranges::find(budgets, report.id) != budgets.end();
    if (execution->flow && spends) co_return co_await stop_flow(*execution->flow, action, why);
    action = action == OnHardLimit::close_scope ? OnHardLimit::fail : OnHardLimit::reject;
  }
  if (action == OnHardLimit::fail) {
    Fail failure{.id = id, .fence = *report.fence, .reason = why, .category = "budget_exceeded"};
    FF_CO_TRY(co_await store_->run(std::move(failure)));
  } else if (action == OnHardLimit::suspend && reply.resume_at) {
    Delay pause{.id = id, .fence = *report.fence, .until = *reply.resume_at};
    FF_CO_TRY(co_await store_->run(std::move(pause)));
  } else if (action == OnHardLimit::suspend) {
    HandBack back{.id = id, .fence = *report.fence, .reason = why};
    FF_CO_TRY(co_await store_->run(std::move(back)));
  }
  co_return Result<void>{};
}

// A flow that is paused or ends already needs no more.
Async<void> LocalEngine::stop_flow(FlowId id, OnHardLimit action, std::string why) {
  Result<void> stopped;
  if (action == OnHardLimit::deny_child) {
    PauseFlow pause{.id = id, .reason = std::move(why)};
    const auto paused = co_await store_->run(std::move(pause));
    if (!paused) stopped = std::unexpected(paused.error());
  } else {
    core::BeginCancel cancel{
        .id = id, .reason = std::move(why), .policy = CancelPolicy::cancel_all};
    const auto cancelled = co_await store_->run(std::move(cancel));
    if (!cancelled) stopped = std::unexpected(cancelled.error());
  }
  if (!stopped && stopped.error().code == Errc::flow_already_terminal) co_return Result<void>{};
  co_return stopped;
}

// ---- Quotas -------------------------------------------------------------------------------------

Async<CreateQuotaReply> LocalEngine::handle(CreateQuota operation) {
  if (!operation.id) operation.id = QuotaId{make_uuid(store_->now(), *options_.random)};
  return store_->run(std::move(operation));
}
Async<Done> LocalEngine::handle(DeleteQuota operation) {
  gate_.forget(operation.id);
  return store_->run(operation);
}

// ---- Workers ------------------------------------------------------------------------------------

Async<RegisterReply> LocalEngine::handle(RegisterWorker operation) {
  const auto ns = operation.ns;
  auto reply = co_await store_->run(std::move(operation));
  workers_.changed(ns);
  if (reply) look_at_blocked();
  co_return reply;
}
Async<Done> LocalEngine::handle(DeregisterWorker operation) {
  const auto ns = operation.ns;
  auto reply = co_await store_->run(std::move(operation));
  workers_.changed(ns);
  co_return reply;
}
Async<WorkerInfo> LocalEngine::handle(DrainWorker operation) {
  const WorkerName name{operation.ns, operation.worker};
  auto reply = co_await store_->run(std::move(operation));
  workers_.changed(name.first);
  drained_claims_.wake_all(name);
  co_return reply;
}

Async<WorkerList> LocalEngine::handle(ListWorkers operation) {
  core::LiveWorkers alive{operation.ns};
  auto workers = co_await store_->run(std::move(alive));
  FF_CO_TRY(workers);
  store::FindHeld query{.ns = operation.ns, .max = running_max};
  auto held = co_await store_->run(std::move(query));
  FF_CO_TRY(held);
  std::ranges::sort(*held);
  WorkerList list;
  for (auto& info : *workers) {
    WorkerStatus status{.info = std::move(info)};
    for (const auto& each :
         std::ranges::equal_range(*held, status.info.worker, {}, &store::HeldExecution::worker))
      status.running.push_back(each.id);
    list.workers.push_back(std::move(status));
  }
  co_return list;
}

Async<WorkerStatus> LocalEngine::handle(GetWorker operation) {
  core::LiveWorkers alive{operation.ns};
  auto workers = co_await store_->run(std::move(alive));
  FF_CO_TRY(workers);
  const auto found = std::ranges::find(*workers, operation.worker, &WorkerInfo::worker);
  if (found == workers->end()) co_return core::refusals::not_found(operation.worker, operation.ns);
  WorkerStatus status{.info = std::move(*found)};
  store::FindHeld query{.ns = operation.ns, .worker = operation.worker, .max = running_max};
  auto held = co_await store_->run(std::move(query));
  FF_CO_TRY(held);
  std::ranges::sort(*held);
  for (const auto& each : *held) status.running.push_back(each.id);
  co_return status;
}

// ---- Why ----------------------------------------------------------------------------------------

Async<Why> LocalEngine::handle(ExplainExecution operation) {
  GetExecution query{operation.id};
  const auto execution = co_await handle(std::move(query));
  FF_CO_TRY(execution);
  auto why = co_await explain(*store_, workers_, *execution);
  if (why) explain_overdue(*why, *execution, options_.filter, store_->now());
  co_return why;
}

}  // namespace ff
