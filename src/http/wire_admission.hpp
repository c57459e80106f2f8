// JSON fields of what is asked and told about budgets, quotas and workers.
#pragma once

#include <flowfabric/engine.hpp>

#include "http/wire_parts.hpp"

namespace ff::http {

// ---- Budgets ------------------------------------------------------------------------------------

// A spec has no object of its own: its fields stand beside those of whom it belongs to.
template <class V, Is<BudgetSpec> T>
void describe(V& fields, T& spec) {
  fields.defaulted("scope_type", spec.scope_type);
  fields.defaulted("scope_id", spec.scope_id);
  fields.defaulted("enforcement_mode", spec.enforcement);
  fields.defaulted("on_hard_limit", spec.on_hard_limit);
  fields.defaulted("on_soft_limit", spec.on_soft_limit);
  fields.defaulted("hard_limits", spec.hard_limits);
  fields.defaulted("soft_limits", spec.soft_limits);
  fields.optional("reset_interval_ms", spec.reset_interval);
}

template <class V, Is<Breach> T>
void describe(V& fields, T& breach) {
  fields.required("dimension", breach.dimension);
  fields.required("usage", breach.usage);
  fields.required("limit", breach.limit);
}

template <class V, class T>
requires Is<T, CreateBudget> || Is<T, CreateQuota>
void describe(V& fields, T& create) {
  fields.optional("id", create.id);
  fields.defaulted("namespace", create.ns);
  describe(fields, create.spec);
}

template <class V, class T>
requires Is<T, CreateBudgetReply> || Is<T, CreateQuotaReply>
void describe(V& fields, T& reply) {
  fields.required("id", reply.id);
  fields.required("duplicate", reply.duplicate);
}

template <class V, class T>
requires Is<T, GetBudget> || Is<T, ResetBudget> || Is<T, DeleteBudget> || Is<T, GetQuota> ||
    Is<T, DeleteQuota>
void describe(V& fields, T& operation) { fields.required("id", operation.id); }

template <class V, class T>
requires Is<T, ListBudgets> || Is<T, ListQuotas>
void describe(V& fields, T& list) {
  fields.defaulted("namespace", list.ns);
  fields.defaulted("limit", list.limit);
  fields.optional("after", list.after);
}

template <class V, Is<BudgetInfo> T>
void describe(V& fields, T& budget) {
  fields.required("id", budget.id);
  fields.required("namespace", budget.ns);
  describe(fields, budget.spec);
  fields.required("usage", budget.usage);
  fields.optional("exhausted", budget.exhausted);
  fields.required("breach_count", budget.breach_count);
  fields.required("soft_breach_count", budget.soft_breach_count);
  fields.optional("last_breach_at_ms", budget.last_breach_at);
  fields.optional("last_breach_dimension", budget.last_breach_dimension);
  fields.required("reset_count", budget.reset_count);
  fields.optional("last_reset_at_ms", budget.last_reset_at);
  fields.optional("next_reset_at_ms", budget.next_reset_at);
  fields.required("created_at_ms", budget.created_at);
}

template <class V, Is<BudgetList> T>
void describe(V& fields, T& list) {
  fields.required("budgets", list.budgets);
  fields.optional("next", list.next);
}

template <class V, Is<ReportUsage> T>
void describe(V& fields, T& report) {
  fields.required("id", report.id);
  fields.required("dimensions", report.amounts);
  fields.optional("dedup_key", report.dedup_key);
  fields.optional("execution_id", report.execution);
  fields.fence(report.fence);
}

template <class V, Is<UsageReply> T>
void describe(V& fields, T& reply) {
  fields.required("outcome", reply.outcome);
  fields.optional("breach", reply.breach);
  fields.optional("action", reply.action);
}

template <class V, Is<ReleaseUsage> T>
void describe(V& fields, T& release) {
  fields.required("id", release.id);
  fields.required("execution_id", release.execution);
}

template <class V, Is<ReleaseUsageReply> T>
void describe(V& fields, T& reply) {
  fields.required("released", reply.released);
}

template <class V, Is<ResetBudgetReply> T>
void describe(V& fields, T& reply) {
  fields.optional("next_reset_at_ms", reply.next_reset_at);
}

// ---- Quotas -------------------------------------------------------------------------------------

template <class V, Is<QuotaSpec> T>
void describe(V& fields, T& spec) {
  fields.defaulted("window_ms", spec.window);
  fields.optional("max_per_window", spec.max_per_window);
  fields.optional("max_concurrent", spec.max_concurrent);
  fields.defaulted("jitter_ms", spec.jitter);
}

template <class V, Is<QuotaInfo> T>
void describe(V& fields, T& quota) {
  fields.required("id", quota.id);
  fields.required("namespace", quota.ns);
  describe(fields, quota.spec);
  fields.required("in_window", quota.in_window);
  fields.required("running", quota.running);
  fields.optional("next_start_at_ms", quota.next_start_at);
  fields.required("created_at_ms", quota.created_at);
}

template <class V, Is<QuotaList> T>
void describe(V& fields, T& list) {
  fields.required("quotas", list.quotas);
  fields.optional("next", list.next);
}

// ---- Workers ------------------------------------------------------------------------------------

template <class V, Is<RegisterWorker> T>
void describe(V& fields, T& worker) {
  fields.required("worker", worker.worker);
  fields.defaulted("namespace", worker.ns);
  fields.defaulted("lanes", worker.lanes);
  fields.defaulted("capabilities", worker.capabilities);
  fields.defaulted("ttl_ms", worker.ttl);
}

template <class V, class T>
requires Is<T, HeartbeatWorker> || Is<T, DeregisterWorker> || Is<T, GetWorker>
void describe(V& fields, T& operation) {
  fields.required("worker", operation.worker);
  fields.defaulted("namespace", operation.ns);
}

template <class V, Is<DrainWorker> T>
void describe(V& fields, T& drain) {
  fields.required("worker", drain.worker);
  fields.defaulted("namespace", drain.ns);
  fields.defaulted("draining", drain.draining);
}

template <class V, Is<ListWorkers> T>
void describe(V& fields, T& list) {
  fields.defaulted("namespace", list.ns);
}

template <class V, Is<RegisterReply> T>
void describe(V& fields, T& reply) {
  fields.required("known", reply.known);
  fields.required("draining", reply.draining);
  fields.required("expires_at_ms", reply.expires_at);
}

template <class V, Is<WorkerInfo> T>
void describe(V& fields, T& info) {
  fields.required("worker", info.worker);
  fields.required("namespace", info.ns);
  fields.required("lanes", info.lanes);
  fields.required("capabilities", info.capabilities);
  fields.required("draining", info.draining);
  fields.required("registered_at_ms", info.registered_at);
  fields.required("last_seen_at_ms", info.last_seen_at);
  fields.required("expires_at_ms", info.expires_at);
}

template <class V, Is<WorkerStatus> T>
void describe(V& fields, T& worker) {
  describe(fields, worker.info);
  fields.required("running", worker.running);
}

template <class V, Is<WorkerList> T>
void describe(V& fields, T& list) {
  fields.required("workers", list.workers);
}

// ---- Why ----------------------------------------------------------------------------------------

template <class V, Is<Obstacle> T>
void describe(V& fields, T& obstacle) {
  fields.required("reason", obstacle.reason);
  fields.required("detail", obstacle.detail);
  fields.required("remedy", obstacle.remedy);
}

template <class V, Is<Why> T>
void describe(V& fields, T& why) {
  fields.required("id", why.id);
  fields.required("state", why.state);
  fields.required("summary", why.summary);
  fields.required("obstacles", why.obstacles);
}

}  // namespace ff::http
