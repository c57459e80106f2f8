// Budgets, quotas and what belongs to them as bytes on disk, as records.hpp does for executions.
#pragma once

#include <string>
#include <string_view>

#include "core/budgets/budget.hpp"
#include "core/quotas/quota.hpp"
#include "core/waitpoints/key_ring.hpp"

namespace ff::embedded {

std::string encode(const core::Budget& budget);
Result<core::Budget> decode_budget(const BudgetId& id, std::string_view bytes);

// Definition of a quota; its window and its holders are not in the record.
std::string encode(const core::Quota& quota);
Result<core::Quota> decode_quota(const QuotaId& id, std::string_view bytes);

std::string encode(const core::KeyRing& ring);
Result<core::KeyRing> decode_key_ring(std::string_view bytes);

std::string encode(const LanePause& pause);
Result<LanePause> decode_lane_pause(std::string_view bytes);

// An entry of the audit log, without its id.
std::string encode(const AuditEntry& entry);
Result<AuditEntry> decode_audit_entry(std::string_view bytes);

// Amounts that one execution spent of a budget. They count until the budget is reset once more.
struct Spending {
  Amounts amounts;
  std::uint64_t reset_count = 0;  // of the budget at that time
};
std::string encode(const Spending& spending);
Result<Spending> decode_spending(std::string_view bytes);

// A report that was applied under a dedup key.
struct KnownReport {
  Amounts amounts;
  std::optional<ExecutionId> execution = {};
  TimePoint until;  // when it may be forgotten
};
std::string encode(const KnownReport& report);
Result<KnownReport> decode_report(std::string_view bytes);

}  // namespace ff::embedded
