// What decides whether work may start: budgets, quotas, and the workers there are.
#pragma once

#include <flowfabric/capabilities.hpp>
#include <flowfabric/ids.hpp>
#include <flowfabric/states.hpp>
#include <flowfabric/time.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ff {

struct Done {
  bool operator==(const Done&) const = default;
};

// ---- Budgets ------------------------------------------------------------------------------------

// By dimension, such as "tokens" or "cost_cents". Amounts go up to limits::amount_max.
using Amounts = std::map<std::string, std::uint64_t>;

enum class Enforcement : std::uint8_t {
  strict,    // hard limits hold: usage beyond them is refused, and work that spends from it waits
  advisory,  // nothing is refused and nothing waits; breaches are counted and told
};
FF_NAMES(Enforcement, "strict", "advisory");

// What becomes of a running execution whose report would break a hard limit of a strict budget. Work
// that has not begun waits in each case, but for `warn`.
enum class OnHardLimit : std::uint8_t {
  fail,     // its attempt fails, with the category budget_exceeded
  suspend,  // it is given back, and goes on when the budget has room again
  reject,   // the report is refused; the handler is told and decides
  warn,     // the usage is counted beyond the limit; the handler is told
};
FF_NAMES(OnHardLimit, "fail", "suspend", "reject", "warn");

enum class OnSoftLimit : std::uint8_t { warn, ignore };
FF_NAMES(OnSoftLimit, "warn", "ignore");

// What a budget is made with, and keeps for ever.
struct BudgetSpec {
  std::string scope_type = {};  // whom it is for, such as tenant, lane or flow; for people
  std::string scope_id = {};
  Enforcement enforcement{};
  OnHardLimit on_hard_limit{};
  OnSoftLimit on_soft_limit{};
  Amounts hard_limits = {};
  Amounts soft_limits = {};
  std::optional<Millis> reset_interval = {};  // absent: usage only grows until somebody resets it
  bool operator==(const BudgetSpec&) const = default;
};

struct Breach {
  std::string dimension;
  std::uint64_t usage = 0;
  std::uint64_t limit = 0;
  bool operator==(const Breach&) const = default;
};

struct BudgetInfo {
  BudgetId id;
  Namespace ns;
  BudgetSpec spec;
  Amounts usage = {};
  std::optional<Breach> exhausted = {};  // while it keeps work from starting: why
  std::uint64_t breach_count = 0;
  std::uint64_t soft_breach_count = 0;
  std::optional<TimePoint> last_breach_at = {};
  std::optional<std::string> last_breach_dimension = {};
  std::uint64_t reset_count = 0;
  std::optional<TimePoint> last_reset_at = {};
  std::optional<TimePoint> next_reset_at = {};
  TimePoint created_at;
  bool operator==(const BudgetInfo&) const = default;
};

struct CreateBudgetReply {
  BudgetId id;
  bool duplicate = false;  // it was there already, just like this; nothing was changed
  bool operator==(const CreateBudgetReply&) const = default;
};

// An `id` makes the call safe to repeat; without one, the engine mints it.
struct CreateBudget {
  using Reply = CreateBudgetReply;
  std::optional<BudgetId> id = {};
  Namespace ns = default_namespace();
  BudgetSpec spec;
};

struct GetBudget {
  using Reply = BudgetInfo;
  BudgetId id;
};

struct BudgetList {
  std::vector<BudgetInfo> budgets;    // by id
  std::optional<BudgetId> next = {};  // `after` of the next page, if there is one
};
struct ListBudgets {
  using Reply = BudgetList;
  Namespace ns = default_namespace();
  std::uint32_t limit = 100;
  std::optional<BudgetId> after = {};
};

enum class UsageOutcome : std::uint8_t {
  applied,
  already_applied,  // the dedup key was used before, for the same
  soft_breach,      // applied, and beyond a soft limit now
  hard_breach,      // not applied (with on_hard_limit warn, or an advisory budget: applied)
};
FF_NAMES(UsageOutcome, "applied", "already_applied", "soft_breach", "hard_breach");

struct UsageReply {
  UsageOutcome outcome{};
  std::optional<Breach> breach = {};
  // Of a hard breach by a running execution: what became of it.
  std::optional<OnHardLimit> action = {};
  bool operator==(const UsageReply&) const = default;
};

// Adds to a budget's usage: all of the amounts, or none. With a dedup key it is safe to repeat for a
// day. With an execution the amounts also go to that one's ledger, from where ReleaseUsage takes them
// back; with a fence, too, it counts only while that lease holds, and a hard breach acts on it.
struct ReportUsage {
  using Reply = UsageReply;
  BudgetId id;
  Amounts amounts;
  std::optional<DedupKey> dedup_key = {};
  std::optional<ExecutionId> execution = {};
  std::optional<Fence> fence = {};
};

struct ReleaseUsageReply {
  Amounts released = {};  // none: nothing of it was in the ledger, or the budget was reset since
  bool operator==(const ReleaseUsageReply&) const = default;
};

// Takes back what an execution has spent. Safe to repeat.
struct ReleaseUsage {
  using Reply = ReleaseUsageReply;
  BudgetId id;
  ExecutionId execution;
};

struct ResetBudgetReply {
  std::optional<TimePoint> next_reset_at = {};
  bool operator==(const ResetBudgetReply&) const = default;
};

// Usage is zero again; the schedule of resets stays as it is.
struct ResetBudget {
  using Reply = ResetBudgetReply;
  BudgetId id;
};

// Executions that are attached to it and have not begun wait until there is one with its id again.
struct DeleteBudget {
  using Reply = Done;
  BudgetId id;
};

// ---- Quotas -------------------------------------------------------------------------------------

struct QuotaSpec {
  Millis window = std::chrono::seconds{60};
  std::optional<std::uint64_t> max_per_window = {};  // starts in any window, sliding
  std::optional<std::uint64_t> max_concurrent = {};  // running at the same time
  Millis jitter{0};  // spreads the time at which those that were refused are let in
  bool operator==(const QuotaSpec&) const = default;
};

struct QuotaInfo {
  QuotaId id;
  Namespace ns;
  QuotaSpec spec;
  std::uint64_t in_window = 0;
  std::uint64_t running = 0;
  std::optional<TimePoint> next_start_at = {};  // if the window is full: when it has room
  TimePoint created_at;
  bool operator==(const QuotaInfo&) const = default;
};

struct CreateQuotaReply {
  QuotaId id;
  bool duplicate = false;
  bool operator==(const CreateQuotaReply&) const = default;
};
struct CreateQuota {
  using Reply = CreateQuotaReply;
  std::optional<QuotaId> id = {};
  Namespace ns = default_namespace();
  QuotaSpec spec;
};

struct GetQuota {
  using Reply = QuotaInfo;
  QuotaId id;
};

struct QuotaList {
  std::vector<QuotaInfo> quotas;
  std::optional<QuotaId> next = {};
};
struct ListQuotas {
  using Reply = QuotaList;
  Namespace ns = default_namespace();
  std::uint32_t limit = 100;
  std::optional<QuotaId> after = {};
};

// As DeleteBudget.
struct DeleteQuota {
  using Reply = Done;
  QuotaId id;
};

// ---- Workers ------------------------------------------------------------------------------------

struct WorkerInfo {
  WorkerId worker;
  Namespace ns;
  std::vector<LaneId> lanes;
  CapabilitySet capabilities = {};
  bool draining = false;  // it gets no more work
  TimePoint registered_at;
  TimePoint last_seen_at;
  TimePoint expires_at;  // it counts as dead from then on
  bool operator==(const WorkerInfo&) const = default;
};

struct RegisterReply {
  bool known = false;  // it was registered already
  bool draining = false;
  TimePoint expires_at;
  bool operator==(const RegisterReply&) const = default;
};

// Makes a worker known, or anew with other lanes and capabilities. A claim does so by itself; a worker
// that is too busy to claim sends heartbeats.
struct RegisterWorker {
  using Reply = RegisterReply;
  WorkerId worker;
  Namespace ns = default_namespace();
  std::vector<LaneId> lanes = {default_lane()};
  CapabilitySet capabilities = {};
  Millis ttl = std::chrono::seconds{30};
};

// Fails with worker_not_found if it is not known, or not any more: then register.
struct HeartbeatWorker {
  using Reply = RegisterReply;
  WorkerId worker;
  Namespace ns = default_namespace();
};

// Forgets it, if it is known. What it holds it keeps until its leases run out.
struct DeregisterWorker {
  using Reply = Done;
  WorkerId worker;
  Namespace ns = default_namespace();
};

// Gives it no more work, or work again. Heartbeats tell it.
struct DrainWorker {
  using Reply = WorkerInfo;
  WorkerId worker;
  Namespace ns = default_namespace();
  bool draining = true;
};

struct WorkerStatus {
  WorkerInfo info;
  std::vector<ExecutionId> running = {};  // what it holds now
  bool operator==(const WorkerStatus&) const = default;
};
struct WorkerList {
  std::vector<WorkerStatus> workers;  // by name; those that are alive
};
struct ListWorkers {
  using Reply = WorkerList;
  Namespace ns = default_namespace();
};
struct GetWorker {
  using Reply = WorkerStatus;
  WorkerId worker;
  Namespace ns = default_namespace();
};

// ---- Why ----------------------------------------------------------------------------------------

// One thing that keeps an execution from running, and what would end it.
struct Obstacle {
  BlockingReason reason{};
  std::string detail;
  std::string remedy;
  bool operator==(const Obstacle&) const = default;
};

struct Why {
  ExecutionId id;
  ExecutionState state{};
  std::string summary;                   // one sentence
  std::vector<Obstacle> obstacles = {};  // none: nothing is in its way
  bool operator==(const Why&) const = default;
};

// Why an execution is not running now, and what would let it run.
struct ExplainExecution {
  using Reply = Why;
  ExecutionId id;
};

}  // namespace ff
