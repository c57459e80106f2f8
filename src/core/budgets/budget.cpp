#include "core/budgets/budget.hpp"

#include <flowfabric/limits.hpp>

#include <algorithm>

#include "base/assert.hpp"
#include "base/try.hpp"
#include "core/refusals.hpp"

namespace ff::core {
namespace {

std::uint64_t amount_of(const Amounts& amounts, const std::string& dimension) {
  const auto found = amounts.find(dimension);
  return found == amounts.end() ? 0 : found->second;
}

// Whether hard limits refuse and hold back, or are only told of.
bool holds(const BudgetSpec& spec) {
  return spec.enforcement == Enforcement::strict && spec.on_hard_limit != OnHardLimit::warn;
}

TimePoint reset_after(TimePoint due, Millis interval, TimePoint now) {
  return due + ((now - due) / interval + 1) * interval;
}

std::optional<TimePoint> next_reset_at(const Budget& budget, TimePoint now) {
  if (!is_reset_due(budget, now)) return budget.next_reset_at;
  return reset_after(*budget.next_reset_at, *budget.spec.reset_interval, now);
}

Result<void> can_be_counted(const Budget& budget, const Amounts& amounts) {
  std::size_t dimensions = budget.usage.size();
  for (const auto& [dimension, amount] : amounts) {
    if (amount > limits::amount_max - amount_of(budget.usage, dimension))
      return refusals::too_much_usage(budget.id, dimension);
    dimensions += amount > 0 && !budget.usage.contains(dimension) ? 1 : 0;
  }
  if (dimensions <= limits::usage_dimensions_max) return {};
  return refusals::too_many_dimensions(budget.id);
}

// The first dimension that the amounts bring beyond its limit, with the usage before that.
std::optional<Breach> first_beyond(const Amounts& limits, const Amounts& usage,
                                   const Amounts& amounts) {
  for (const auto& [dimension, amount] : amounts) {
    const auto limit = limits.find(dimension);
    if (limit == limits.end()) continue;
    const auto used = amount_of(usage, dimension);
    if (amount > limit->second || used > limit->second - amount)
      return Breach{.dimension = dimension, .usage = used, .limit = limit->second};
  }
  return std::nullopt;
}

}  // namespace

Budget make_budget(const CreateBudget& command, TimePoint now) {
  FF_ASSERT(command.id);
  Budget budget{.id = *command.id, .ns = command.ns, .spec = command.spec, .created_at = now};
  if (const auto& interval = command.spec.reset_interval) budget.next_reset_at = now + *interval;
  return budget;
}

BudgetInfo info_of(const Budget& budget, TimePoint now) {
  return {.id = budget.id,
          .ns = budget.ns,
          .spec = budget.spec,
          .usage = is_reset_due(budget, now) ? Amounts{} : budget.usage,
          .exhausted = check(budget, now).breach,
          .breach_count = budget.breach_count,
          .soft_breach_count = budget.soft_breach_count,
          .last_breach_at = budget.last_breach_at,
          .last_breach_dimension = budget.last_breach_dimension,
          .reset_count = budget.reset_count,
          .last_reset_at = budget.last_reset_at,
          .next_reset_at = next_reset_at(budget, now),
          .created_at = budget.created_at};
}

BudgetCheck check(const Budget& budget, TimePoint now) {
  BudgetCheck checked{.next_reset_at = next_reset_at(budget, now)};
  if (!holds(budget.spec) || is_reset_due(budget, now)) return checked;
  for (const auto& [dimension, limit] : budget.spec.hard_limits) {
    const auto used = amount_of(budget.usage, dimension);
    if (used < limit) continue;
    checked.breach = Breach{.dimension = dimension, .usage = used, .limit = limit};
    break;
  }
  return checked;
}

bool is_reset_due(const Budget& budget, TimePoint now) {
  return budget.next_reset_at && *budget.next_reset_at <= now;
}

void reset(Budget& budget, TimePoint now) {
  budget.usage.clear();
  budget.last_breach_at.reset();
  budget.last_breach_dimension.reset();
  ++budget.reset_count;
  budget.last_reset_at = now;
}

void reset_by_schedule(Budget& budget, TimePoint now) {
  FF_ASSERT(is_reset_due(budget, now));
  reset(budget, now);
  budget.next_reset_at = next_reset_at(budget, now);
}

Result<Report> report(Budget& budget, const Amounts& amounts, TimePoint now) {
  auto hard = first_beyond(budget.spec.hard_limits, budget.usage, amounts);
  const bool refused = hard && holds(budget.spec);
  if (!refused) FF_TRY(can_be_counted(budget, amounts));
  if (hard) {
    ++budget.breach_count;
    budget.last_breach_at = now;
    budget.last_breach_dimension = hard->dimension;
  }
  if (refused)
    return Report{.reply = {.outcome = UsageOutcome::hard_breach, .breach = std::move(hard)}};

  auto soft = budget.spec.on_soft_limit == OnSoftLimit::warn
                  ? first_beyond(budget.spec.soft_limits, budget.usage, amounts)
                  : std::nullopt;
  add(budget.usage, amounts);
  if (soft) ++budget.soft_breach_count;
  const auto outcome = hard   ? UsageOutcome::hard_breach
                       : soft ? UsageOutcome::soft_breach
                              : UsageOutcome::applied;
  auto breach = hard ? std::move(hard) : std::move(soft);
  if (breach) breach->usage = amount_of(budget.usage, breach->dimension);
  return Report{.reply = {.outcome = outcome, .breach = std::move(breach)}, .applied = true};
}

BreachAction action_on_breach(const Budget& budget, TimePoint now) {
  const auto& spec = budget.spec;
  const auto action =
      spec.enforcement == Enforcement::advisory ? OnHardLimit::warn : spec.on_hard_limit;
  const auto state = check(budget, now);
  if (action != OnHardLimit::suspend || state.breach) return {.action = action};
  return {.action = action, .resume_at = resume_time(state.next_reset_at, now)};
}

TimePoint resume_time(const std::optional<TimePoint>& next_reset_at, TimePoint now) {
  const auto soon = now + limits::suspend_pause;
  return std::min(soon, next_reset_at.value_or(soon));
}

void take_back(Budget& budget, const Amounts& amounts) {
  for (const auto& [dimension, amount] : amounts) {
    const auto used = budget.usage.find(dimension);
    if (used == budget.usage.end()) continue;
    used->second -= std::min(used->second, amount);
    if (used->second == 0) budget.usage.erase(used);
  }
}

void add(Amounts& sum, const Amounts& amounts) {
  for (const auto& [dimension, amount] : amounts)
    if (amount > 0) sum[dimension] += amount;
}

}  // namespace ff::core
