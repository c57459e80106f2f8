// Budgets: how much may be spent, by dimension.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/operation_row.hpp>
#include <flowfabric/time.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ff {

// By dimension, such as "tokens" or "cost_cents". Amounts go up to limits::amount_max.
using Amounts = std::map<std::string, std::uint64_t>;

enum class Enforcement : std::uint8_t {
  strict,    // hard limits hold: usage beyond them is refused, and work that spends from it waits
  advisory,  // nothing is refused and nothing waits; breaches are counted and told
};
FF_NAMES(Enforcement, "strict", "advisory");

// The action on a running execution whose report would break a hard limit of a strict budget. Work
// that has not begun waits in each case, except with `warn`.
enum class OnHardLimit : std::uint8_t {
  fail,     // its attempt fails, with the category budget_exceeded
  suspend,  // it is given back, and goes on when the budget has room again
  reject,   // the report is refused; the handler is told and decides
  warn,     // the usage is counted beyond the limit; the handler is told
  deny_child,   // its flow is paused; the handler is told. Outside a flow as `reject`
  close_scope,  // its flow is cancelled, and so is it. Outside a flow as `fail`
};
FF_NAMES(OnHardLimit, "fail", "suspend", "reject", "warn", "deny_child", "close_scope");

// Whether the execution whose report broke the limit is no longer its worker's.
constexpr bool ends_attempt(OnHardLimit action) {
  return action == OnHardLimit::fail || action == OnHardLimit::suspend ||
         action == OnHardLimit::close_scope;
}

enum class OnSoftLimit : std::uint8_t { warn, ignore };
FF_NAMES(OnSoftLimit, "warn", "ignore");

// The settings of a budget, fixed at its creation.
struct BudgetSpec {
  std::string scope_type = {};  // such as tenant, lane or flow; informational
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
  static constexpr OperationRow row{.owner = Owner::budget,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/budgets",
                                             Role::admin,
                                             "Create a budget",
                                             {"created", "duplicate"}}};
  std::optional<BudgetId> id = {};
  Namespace ns = default_namespace();
  BudgetSpec spec;
};

struct GetBudget {
  using Reply = BudgetInfo;
  static constexpr OperationRow row{
      .owner = Owner::budget,
      .is_stored = true,
      .http = {HttpMethod::get, "/v1/budgets/{id}", Role::read, "Show a budget and its usage"}};
  BudgetId id;
};

struct BudgetList {
  std::vector<BudgetInfo> budgets;    // by id
  std::optional<BudgetId> next = {};  // `after` of the next page, if there is one
};
struct ListBudgets {
  using Reply = BudgetList;
  static constexpr OperationRow row{
      .owner = Owner::budget,
      .is_stored = true,
      .http = {HttpMethod::get, "/v1/budgets", Role::read, "List the budgets of a namespace"}};
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
  // If it was suspended although the budget has room, only not enough: when it is ready again.
  std::optional<TimePoint> resume_at = {};
  bool operator==(const UsageReply&) const = default;
};

// Adds to a budget's usage: all of the amounts, or none. With a dedup key it is safe to repeat for a
// day. With an execution the amounts also go to that one's ledger, from where ReleaseUsage takes them
// back; with a fence, too, it counts only while that lease holds, and a hard breach acts on it.
struct ReportUsage {
  using Reply = UsageReply;
  static constexpr OperationRow row{
      .owner = Owner::budget,
      .writes = Writes::durable,
      .is_stored = true,
      .http = {HttpMethod::post, "/v1/budgets/{id}/usage", Role::work, "Report what was used"}};
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
  static constexpr OperationRow row{.owner = Owner::budget,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .http = {HttpMethod::post,
                                             "/v1/budgets/{id}/release",
                                             Role::work,
                                             "Take back what an execution has spent",
                                             {"released"}}};
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
  static constexpr OperationRow row{.owner = Owner::budget,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/budgets/{id}/reset",
                                             Role::admin,
                                             "Set its usage to zero",
                                             {"reset"}}};
  BudgetId id;
};

// Executions that are attached to it and have not begun wait until there is one with its id again.
struct DeleteBudget {
  using Reply = Done;
  static constexpr OperationRow row{
      .owner = Owner::budget,
      .writes = Writes::durable,
      .is_stored = true,
      .is_audited = true,
      .http = {
          HttpMethod::delete_, "/v1/budgets/{id}", Role::admin, "Delete a budget", {"deleted"}}};
  BudgetId id;
};

}  // namespace ff
