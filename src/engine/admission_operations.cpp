// What an engine does about budgets, quotas and workers.
#include "engine/local_engine.hpp"

namespace ff {

Async<CreateBudgetReply> LocalEngine::run(CreateBudget) {
  co_return fail(Errc::internal, "not there yet");
}
Async<BudgetInfo> LocalEngine::run(GetBudget) { co_return fail(Errc::internal, "not there yet"); }
Async<BudgetList> LocalEngine::run(ListBudgets) { co_return fail(Errc::internal, "not there yet"); }
Async<UsageReply> LocalEngine::run(ReportUsage) { co_return fail(Errc::internal, "not there yet"); }
Async<ReleaseUsageReply> LocalEngine::run(ReleaseUsage) {
  co_return fail(Errc::internal, "not there yet");
}
Async<ResetBudgetReply> LocalEngine::run(ResetBudget) {
  co_return fail(Errc::internal, "not there yet");
}
Async<Done> LocalEngine::run(DeleteBudget) { co_return fail(Errc::internal, "not there yet"); }
Async<CreateQuotaReply> LocalEngine::run(CreateQuota) {
  co_return fail(Errc::internal, "not there yet");
}
Async<QuotaInfo> LocalEngine::run(GetQuota) { co_return fail(Errc::internal, "not there yet"); }
Async<QuotaList> LocalEngine::run(ListQuotas) { co_return fail(Errc::internal, "not there yet"); }
Async<Done> LocalEngine::run(DeleteQuota) { co_return fail(Errc::internal, "not there yet"); }
Async<RegisterReply> LocalEngine::run(RegisterWorker) {
  co_return fail(Errc::internal, "not there yet");
}
Async<RegisterReply> LocalEngine::run(HeartbeatWorker) {
  co_return fail(Errc::internal, "not there yet");
}
Async<Done> LocalEngine::run(DeregisterWorker) { co_return fail(Errc::internal, "not there yet"); }
Async<WorkerInfo> LocalEngine::run(DrainWorker) { co_return fail(Errc::internal, "not there yet"); }
Async<WorkerList> LocalEngine::run(ListWorkers) { co_return fail(Errc::internal, "not there yet"); }
Async<WorkerStatus> LocalEngine::run(GetWorker) { co_return fail(Errc::internal, "not there yet"); }
Async<Why> LocalEngine::run(ExplainExecution) { co_return fail(Errc::internal, "not there yet"); }

}  // namespace ff
