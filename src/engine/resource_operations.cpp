// An engine's operations on budgets, quotas and workers.
#include <algorithm>

#include <fmt/format.h>

#include "base/try.hpp"
#include "core/refusals.hpp"
#include "engine/local_engine.hpp"
#include "engine/starting/explain.hpp"

namespace ff {
namespace {

// Upper bound on running executions scanned to find those of each worker of a namespace.
constexpr std::size_t running_seen_max = 10'000;

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
  return store_->run(operation);
}

Async<UsageReply> LocalEngine::handle(ReportUsage operation) {
  if (operation.fence) {
    core::CheckLease lease{.id = *operation.execution, .fence = *operation.fence};
    FF_CO_TRY(co_await store_->run(lease));
  }
  auto reply = co_await store_->run(operation);
  if (!reply || !reply->action) co_return reply;
  FF_CO_TRY(co_await act_on_breach(operation, *reply));
  co_return reply;
}

// If the process dies before the action, the lease still holds, and the next report breaks the limit again.
Async<void> LocalEngine::act_on_breach(const ReportUsage& report, const UsageReply& reply) {
  const auto& breach = *reply.breach;
  const auto& id = *report.execution;
  const auto why = fmt::format("budget {} exceeded: {} {}/{}", report.id.str(), breach.dimension,
                               breach.usage, breach.limit);
  switch (*reply.action) {
    case OnHardLimit::reject:
    case OnHardLimit::warn: break;
    case OnHardLimit::fail: {
      Fail failure{.id = id, .fence = *report.fence, .reason = why, .category = "budget_exceeded"};
      FF_CO_TRY(co_await store_->run(std::move(failure)));
      break;
    }
    case OnHardLimit::suspend:
      if (reply.resume_at) {
        Delay pause{.id = id, .fence = *report.fence, .until = *reply.resume_at};
        FF_CO_TRY(co_await store_->run(std::move(pause)));
      } else {
        HandBack back{.id = id, .fence = *report.fence, .reason = why};
        FF_CO_TRY(co_await store_->run(std::move(back)));
      }
      break;
  }
  co_return Result<void>{};
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
  WorkerList list;
  for (auto& info : *workers) list.workers.push_back({.info = std::move(info)});

  ListExecutions query{
      .ns = operation.ns, .state = ExecutionState::active, .limit = limits::list_page_max};
  for (std::size_t seen = 0; seen < running_seen_max;) {
    const auto page = co_await store_->run(query);
    FF_CO_TRY(page);
    for (const auto& execution : page->executions) {
      const auto holder = std::ranges::find_if(list.workers, [&](const WorkerStatus& each) {
        return execution.worker == each.info.worker;
      });
      if (holder != list.workers.end()) holder->running.push_back(execution.id);
    }
    if (!page->next) break;
    seen += page->executions.size();
    query.cursor = page->next;
  }
  co_return list;
}

Async<WorkerStatus> LocalEngine::handle(GetWorker operation) {
  ListWorkers all{operation.ns};
  auto list = co_await handle(std::move(all));
  FF_CO_TRY(list);
  for (auto& each : list->workers)
    if (each.info.worker == operation.worker) co_return std::move(each);
  co_return core::refusals::not_found(operation.worker, operation.ns);
}

// ---- Why ----------------------------------------------------------------------------------------

Async<Why> LocalEngine::handle(ExplainExecution operation) {
  GetExecution query{operation.id};
  const auto execution = co_await handle(std::move(query));
  FF_CO_TRY(execution);
  co_return co_await explain(*store_, workers_, *execution);
}

}  // namespace ff
