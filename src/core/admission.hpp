// What a store is asked about budgets and quotas, beside the operations that are commands themselves
// (CreateBudget, ReportUsage, …). None of them changes an execution.
#pragma once

#include <flowfabric/operations.hpp>

namespace ff::core {

// A start that a quota let in. It must become a lease or a grant while it is valid; what it holds
// (a slot, a place in the window) is held until it is released.
struct Admission {
  AdmissionId id;
  TimePoint valid_until;
  bool operator==(const Admission&) const = default;
};

enum class QuotaRefusal : std::uint8_t { rate, concurrency };

struct AdmitReply {
  std::optional<Admission> admission = {};  // absent: refused
  QuotaRefusal refusal{};
  std::string detail = {};                 // of a refusal, for a person
  std::optional<TimePoint> retry_at = {};  // of a refusal by the rate
  bool operator==(const AdmitReply&) const = default;
};

// What a full quota says, for a person.
std::string rate_detail(const QuotaId& quota, const QuotaSpec& spec);
std::string concurrency_detail(const QuotaId& quota, const QuotaSpec& spec);

// Asks a quota to let one start in. Repeated with the same admission id it answers as the first time.
// Fails with quota_not_found.
struct Admit {
  using Reply = AdmitReply;
  QuotaId quota;
  AdmissionId admission;
  ExecutionId execution;
};

// Gives back what an admission holds: after a start its slot, and if there was no start (`unused`) its
// place in the window, too. Only the first one changes anything.
struct ReleaseAdmission {
  using Reply = Done;
  QuotaId quota;
  AdmissionId admission;
  bool unused = false;
};

struct HeldAdmission {
  AdmissionId admission;
  ExecutionId execution;
  TimePoint admitted_at;
  bool operator==(const HeldAdmission&) const = default;
};

// The admissions that hold a slot and are older than a time, at most `max`, by id after `after`.
struct HeldAdmissions {
  using Reply = std::vector<HeldAdmission>;
  QuotaId quota;
  TimePoint before;
  std::optional<AdmissionId> after = {};
  std::size_t max = 1'000;
};

struct BudgetCheck {
  std::optional<Breach> breach = {};  // absent: work may start
  std::optional<TimePoint> next_reset_at = {};
  bool operator==(const BudgetCheck&) const = default;
};

// Whether work that spends from a budget may start. Fails with budget_not_found.
struct CheckBudget {
  using Reply = BudgetCheck;
  BudgetId budget;
};

struct BudgetsDue {
  std::vector<BudgetId> due;           // the longest overdue first
  std::optional<TimePoint> next = {};  // when the first of the others comes due
};

// Budgets whose usage is to be reset by now, at most `max`.
struct ResetsDue {
  using Reply = BudgetsDue;
  std::size_t max;
};

// Resets a budget whose time has come, and does nothing to another. Safe to repeat. Periods are counted
// from the first one, not from when somebody came round to it.
struct ResetIfDue {
  using Reply = ResetBudgetReply;
  BudgetId budget;
};

// Whose spending is in a budget's ledger, at most `max`, by id after `after`.
struct LedgerOf {
  using Reply = std::vector<ExecutionId>;
  BudgetId budget;
  std::optional<ExecutionId> after = {};
  std::size_t max = 1'000;
};

// Forgets what an execution spent, without taking it back: the execution is gone.
struct ForgetSpending {
  using Reply = Done;
  BudgetId budget;
  ExecutionId execution;
};

// Forgets dedup keys and window entries that are past their time, and puts right what is wrong.
struct ReconcileBudgets {
  using Reply = Done;
};
struct ReconcileQuotas {
  using Reply = Done;
};

// Every budget and quota there is, of all namespaces, by id after `after`.
struct AllBudgets {
  using Reply = std::vector<BudgetId>;
  std::optional<BudgetId> after = {};
  std::size_t max = 1'000;
};
struct AllQuotas {
  using Reply = std::vector<QuotaId>;
  std::optional<QuotaId> after = {};
  std::size_t max = 1'000;
};

// ---- Workers ------------------------------------------------------------------------------------

// The workers of a namespace that are alive, by name.
struct LiveWorkers {
  using Reply = std::vector<WorkerInfo>;
  Namespace ns;
};

}  // namespace ff::core
