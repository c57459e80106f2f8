// JSON fields of what is asked and told about budgets, quotas and workers.
#include "http/wire/json_codec.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {

// ---- Budgets ------------------------------------------------------------------------------------

// A spec has no object of its own: its fields stand beside those of whom it belongs to.
void describe(Fields& fields, BudgetSpec& spec) {
  fields.defaulted("scope_type", spec.scope_type);
  fields.defaulted("scope_id", spec.scope_id);
  fields.defaulted("enforcement_mode", spec.enforcement);
  fields.defaulted("on_hard_limit", spec.on_hard_limit);
  fields.defaulted("on_soft_limit", spec.on_soft_limit);
  fields.defaulted("hard_limits", spec.hard_limits);
  fields.defaulted("soft_limits", spec.soft_limits);
  fields.optional("reset_interval_ms", spec.reset_interval);
}

void describe(Fields& fields, Breach& breach) {
  fields.required("dimension", breach.dimension);
  fields.required("usage", breach.usage);
  fields.required("limit", breach.limit);
}

void describe(Fields& fields, CreateBudget& create) {
  fields.optional("id", create.id);
  fields.defaulted("namespace", create.ns);
  describe(fields, create.spec);
}
void describe(Fields& fields, CreateQuota& create) {
  fields.optional("id", create.id);
  fields.defaulted("namespace", create.ns);
  describe(fields, create.spec);
}

void describe(Fields& fields, CreateBudgetReply& reply) {
  fields.required("id", reply.id);
  fields.required("duplicate", reply.duplicate);
}
void describe(Fields& fields, CreateQuotaReply& reply) {
  fields.required("id", reply.id);
  fields.required("duplicate", reply.duplicate);
}

void describe(Fields& fields, ListBudgets& list) {
  fields.defaulted("namespace", list.ns);
  fields.defaulted("limit", list.limit);
  fields.optional("after", list.after);
}
void describe(Fields& fields, ListQuotas& list) {
  fields.defaulted("namespace", list.ns);
  fields.defaulted("limit", list.limit);
  fields.optional("after", list.after);
}

void describe(Fields& fields, BudgetInfo& budget) {
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

void describe(Fields& fields, BudgetList& list) {
  fields.required("budgets", list.budgets);
  fields.optional("next", list.next);
}

void describe(Fields& fields, ReportUsage& report) {
  fields.required("id", report.id);
  fields.required("dimensions", report.amounts);
  fields.optional("dedup_key", report.dedup_key);
  fields.optional("execution_id", report.execution);
  fields.fence(report.fence);
}

void describe(Fields& fields, UsageReply& reply) {
  fields.required("outcome", reply.outcome);
  fields.optional("breach", reply.breach);
  fields.optional("action", reply.action);
  fields.optional("resume_at_ms", reply.resume_at);
}

void describe(Fields& fields, ReleaseUsage& release) {
  fields.required("id", release.id);
  fields.required("execution_id", release.execution);
}

void describe(Fields& fields, ReleaseUsageReply& reply) {
  fields.required("released", reply.released);
}

void describe(Fields& fields, ResetBudgetReply& reply) {
  fields.optional("next_reset_at_ms", reply.next_reset_at);
}

// ---- Quotas -------------------------------------------------------------------------------------

void describe(Fields& fields, QuotaSpec& spec) {
  fields.defaulted("window_ms", spec.window);
  fields.optional("max_per_window", spec.max_per_window);
  fields.optional("max_concurrent", spec.max_concurrent);
  fields.defaulted("jitter_ms", spec.jitter);
}

void describe(Fields& fields, QuotaInfo& quota) {
  fields.required("id", quota.id);
  fields.required("namespace", quota.ns);
  describe(fields, quota.spec);
  fields.required("in_window", quota.in_window);
  fields.required("running", quota.running);
  fields.optional("next_start_at_ms", quota.next_start_at);
  fields.required("created_at_ms", quota.created_at);
}

void describe(Fields& fields, QuotaList& list) {
  fields.required("quotas", list.quotas);
  fields.optional("next", list.next);
}

// ---- Workers ------------------------------------------------------------------------------------

void describe(Fields& fields, RegisterWorker& worker) {
  fields.required("worker", worker.worker);
  fields.defaulted("namespace", worker.ns);
  fields.defaulted("lanes", worker.lanes);
  fields.defaulted("capabilities", worker.capabilities);
  fields.defaulted("ttl_ms", worker.ttl);
  fields.optional("incarnation", worker.incarnation);
}

void describe(Fields& fields, HeartbeatWorker& operation) {
  fields.required("worker", operation.worker);
  fields.defaulted("namespace", operation.ns);
  fields.optional("incarnation", operation.incarnation);
}
void describe(Fields& fields, DeregisterWorker& operation) {
  fields.required("worker", operation.worker);
  fields.defaulted("namespace", operation.ns);
  fields.optional("incarnation", operation.incarnation);
}
void describe(Fields& fields, GetWorker& operation) {
  fields.required("worker", operation.worker);
  fields.defaulted("namespace", operation.ns);
}

void describe(Fields& fields, DrainWorker& drain) {
  fields.required("worker", drain.worker);
  fields.defaulted("namespace", drain.ns);
  fields.defaulted("draining", drain.draining);
}

void describe(Fields& fields, ListWorkers& list) { fields.defaulted("namespace", list.ns); }

void describe(Fields& fields, RegisterReply& reply) {
  fields.required("known", reply.known);
  fields.required("draining", reply.draining);
  fields.required("expires_at_ms", reply.expires_at);
}

void describe(Fields& fields, WorkerInfo& info) {
  fields.required("worker", info.worker);
  fields.required("namespace", info.ns);
  fields.required("lanes", info.lanes);
  fields.required("capabilities", info.capabilities);
  fields.required("draining", info.draining);
  fields.required("registered_at_ms", info.registered_at);
  fields.required("last_seen_at_ms", info.last_seen_at);
  fields.required("expires_at_ms", info.expires_at);
}

void describe(Fields& fields, WorkerStatus& worker) {
  describe(fields, worker.info);
  fields.required("running", worker.running);
}

void describe(Fields& fields, WorkerList& list) { fields.required("workers", list.workers); }

// ---- Why ----------------------------------------------------------------------------------------

void describe(Fields& fields, Obstacle& obstacle) {
  fields.required("reason", obstacle.reason);
  fields.required("detail", obstacle.detail);
  fields.required("remedy", obstacle.remedy);
}

void describe(Fields& fields, Why& why) {
  fields.required("id", why.id);
  fields.required("state", why.state);
  fields.required("summary", why.summary);
  fields.required("obstacles", why.obstacles);
}

}  // namespace ff::http
