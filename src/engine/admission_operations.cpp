// What an engine does about budgets, quotas and workers.
#include <algorithm>

#include <fmt/format.h>

#include "core/refusals.hpp"
#include "engine/local_engine.hpp"
#include "engine/starting/explain.hpp"

namespace ff {
namespace {

// What each worker of a namespace runs. Looks at so many of those that run, and no more.
constexpr std::size_t running_seen_max = 10'000;

}  // namespace

// ---- Budgets ------------------------------------------------------------------------------------

Async<CreateBudgetReply> LocalEngine::handle(CreateBudget operation) {
  if (!operation.id) operation.id = BudgetId{make_uuid(store_->now(), *options_.random)};
  return store_->run(std::move(operation));
}
Async<Done> LocalEngine::handle(DeleteBudget operation) {
  gate_.forget(operation.id);
  return store_->run(operation);
}

Async<UsageReply> LocalEngine::handle(ReportUsage operation) {
  if (operation.fence) {
    core::CheckLease lease{.id = *operation.execution, .fence = *operation.fence};
    if (auto held = co_await store_->run(lease); !held) co_return std::unexpected(held.error());
  }
  auto reply = co_await store_->run(operation);
  if (!reply || reply->outcome != UsageOutcome::hard_breach || !operation.fence) co_return reply;
  const auto budget = co_await store_->run(GetBudget{operation.id});
  if (!budget) co_return std::unexpected(budget.error());
  const auto& spec = budget->spec;
  reply->action =
      spec.enforcement == Enforcement::advisory ? OnHardLimit::warn : spec.on_hard_limit;
  if (auto acted = co_await act_on_breach(operation, *reply, *budget); !acted)
    co_return std::unexpected(acted.error());
  co_return reply;
}

// The running execution that would break a hard limit.
Async<void> LocalEngine::act_on_breach(const ReportUsage& report, const UsageReply& reply,
                                       const BudgetInfo& budget) {
  const auto& breach = *reply.breach;
  const auto why = fmt::format("budget {} exceeded: {} {}/{}", report.id.str(), breach.dimension,
                               breach.usage, breach.limit);
  if (*reply.action == OnHardLimit::fail) {
    Fail failure{.id = *report.execution,
                 .fence = *report.fence,
                 .reason = why,
                 .category = "budget_exceeded"};
    if (auto failed = co_await store_->run(std::move(failure)); !failed)
      co_return std::unexpected(failed.error());
  } else if (*reply.action == OnHardLimit::suspend && !budget.exhausted) {
    // There is room, only not enough: it would be back at once, for nothing.
    const auto soon = store_->now() + limits::suspend_pause;
    Delay pause{.id = *report.execution,
                .fence = *report.fence,
                .until = std::min(soon, budget.next_reset_at.value_or(soon))};
    if (auto paused = co_await store_->run(std::move(pause)); !paused)
      co_return std::unexpected(paused.error());
  } else if (*reply.action == OnHardLimit::suspend) {
    HandBack back{.id = *report.execution, .fence = *report.fence, .reason = why};
    if (auto given = co_await store_->run(std::move(back)); !given)
      co_return std::unexpected(given.error());
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
  fleet_.changed(ns);
  if (reply) look_at_blocked();
  co_return reply;
}
Async<Done> LocalEngine::handle(DeregisterWorker operation) {
  const auto ns = operation.ns;
  auto reply = co_await store_->run(std::move(operation));
  fleet_.changed(ns);
  co_return reply;
}
Async<WorkerInfo> LocalEngine::handle(DrainWorker operation) {
  const auto ns = operation.ns;
  auto reply = co_await store_->run(std::move(operation));
  fleet_.changed(ns);
  co_return reply;
}

Async<WorkerList> LocalEngine::handle(ListWorkers operation) {
  core::LiveWorkers alive{operation.ns};
  auto workers = co_await store_->run(std::move(alive));
  if (!workers) co_return std::unexpected(workers.error());
  WorkerList list;
  for (auto& info : *workers) list.workers.push_back({.info = std::move(info)});

  ListExecutions query{
      .ns = operation.ns, .state = ExecutionState::active, .limit = limits::list_page_max};
  for (std::size_t seen = 0; seen < running_seen_max;) {
    const auto page = co_await store_->run(query);
    if (!page) co_return std::unexpected(page.error());
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
  if (!list) co_return std::unexpected(list.error());
  for (auto& each : list->workers)
    if (each.info.worker == operation.worker) co_return std::move(each);
  co_return core::refusals::not_found(operation.worker, operation.ns);
}

// ---- Why ----------------------------------------------------------------------------------------

Async<Why> LocalEngine::handle(ExplainExecution operation) {
  GetExecution query{operation.id};
  const auto execution = co_await handle(std::move(query));
  if (!execution) co_return std::unexpected(execution.error());
  co_return co_await explain(*store_, fleet_, *execution);
}

}  // namespace ff
