#include "store/embedded/resources/budgets.hpp"

#include <flowfabric/limits.hpp>

#include "base/try.hpp"
#include "core/refusals.hpp"
#include "store/embedded/disk/keys.hpp"

namespace ff::embedded {
namespace {

using Next = Database::Next;

// How many known reports are forgotten in one turn, so that nobody waits long.
constexpr std::size_t reports_forgotten_max = 5'000;
constexpr std::size_t ledger_entries_tidied_max = 5'000;

store::Opening opening_of(const core::Budget& budget) { return {.ns = budget.ns, .of = budget.id}; }

Result<std::vector<std::string>> keys_of(const std::string& prefix, Turn& turn) {
  std::vector<std::string> found;
  auto visited = turn.for_each({.prefix = prefix},
                               [&](std::string_view key, std::string_view) -> Result<Next> {
                                 found.emplace_back(key);
                                 return Next::go_on;
                               });
  FF_TRY(visited);
  return found;
}

// Amounts of an earlier reset count for nothing. They are erased later, in slices: the time that a reset takes
// must not depend on the number of executions.
Result<Amounts> spending_of(const core::Budget& budget, const ExecutionId& execution, Turn& turn) {
  const auto stored = turn.get(keys::ledger(budget.id, execution));
  FF_TRY(stored);
  if (!*stored) return Amounts{};
  auto spending = decode_spending(**stored);
  FF_TRY(spending);
  if (spending->reset_count != budget.reset_count) return Amounts{};
  return std::move(spending->amounts);
}

Result<std::optional<KnownReport>> known_report(const ReportUsage& report, Turn& turn) {
  if (!report.dedup_key) return std::nullopt;
  const auto stored = turn.get(keys::dedup({.budget = report.id, .key = *report.dedup_key}));
  FF_TRY(stored);
  if (!*stored) return std::nullopt;
  auto known = decode_report(**stored);
  FF_TRY(known);
  return std::move(*known);
}

void remember(const ReportUsage& report, const std::optional<KnownReport>& before, Turn& turn) {
  if (!report.dedup_key) return;
  const keys::DedupEntry entry{.budget = report.id, .key = *report.dedup_key};
  if (before) turn.erase(keys::dedup_until(before->until, entry));
  const auto until = turn.now() + limits::usage_dedup_window;
  turn.put(keys::dedup(entry),
           encode(KnownReport{
               .amounts = report.amounts, .execution = report.execution, .until = until}));
  turn.put(keys::dedup_until(until, entry), "");
}

}  // namespace

Result<void> Budgets::restore(const Database& database) {
  return database.for_each({.prefix = std::string(keys::budget_prefix)},
                           [this](std::string_view key, std::string_view value) -> Result<Next> {
                             const auto id = keys::parse_budget(key);
                             FF_TRY(id);
                             auto budget = decode_budget(*id, value);
                             FF_TRY(budget);
                             if (const auto due = budget->next_reset_at) resets_.emplace(*due, *id);
                             if (budget->reset_count > 0) untidy_[*id];
                             shelf_.add(std::move(*budget));
                             return Next::go_on;
                           });
}

Result<Budgets::Entry*> Budgets::load(const BudgetId& id, Turn& turn) {
  if (auto* entry = shelf_.find(id, turn)) return entry;
  return core::refusals::not_found(id);
}

void Budgets::save(Entry& entry, core::Budget next, Turn& turn) {
  if (const auto due = entry.thing.next_reset_at) resets_.erase({*due, next.id});
  if (const auto due = next.next_reset_at) resets_.emplace(*due, next.id);
  turn.put(keys::budget(next.id), encode(next));
  entry.thing = std::move(next);
  entry.changed_by(turn);
}

Result<void> Budgets::reset(Entry& entry, Reset when, Turn& turn) {
  const bool due = core::is_reset_due(entry.thing, turn.now());
  if (when == Reset::if_due && !due) return {};
  auto next = entry.thing;
  if (due)
    core::reset_by_schedule(next, turn.now());
  else
    core::reset(next, turn.now());
  save(entry, std::move(next), turn);
  untidy_[entry.thing.id].reset();
  turn.tell(opening_of(entry.thing));
  return {};
}

Result<CreateBudgetReply> Budgets::execute(const CreateBudget& command, Turn& turn) {
  auto budget = core::make_budget(command, turn.now());
  const auto id = budget.id;
  if (const auto* known = shelf_.find(id, turn)) {
    if (known->thing.ns != command.ns || known->thing.spec != command.spec)
      return core::refusals::duplicate_mismatch(id);
    return CreateBudgetReply{.id = id, .duplicate = true};
  }
  if (shelf_.count(command.ns) >= limits::budgets_max)
    return core::refusals::too_many_budgets(command.ns);
  turn.tell(opening_of(budget));
  auto& entry = shelf_.add(budget);
  save(entry, std::move(budget), turn);
  return CreateBudgetReply{.id = id};
}

Result<BudgetInfo> Budgets::execute(const GetBudget& query, Turn& turn) {
  const auto entry = load(query.id, turn);
  FF_TRY(entry);
  return core::info_of((*entry)->thing, turn.now());
}

Result<BudgetList> Budgets::execute(const ListBudgets& query, Turn& turn) {
  BudgetList page;
  for (const auto* budget :
       shelf_.list(query.ns, query.after, query.limit + std::size_t{1}, turn)) {
    if (page.budgets.size() == query.limit) {
      page.next = page.budgets.back().id;
      break;
    }
    page.budgets.push_back(core::info_of(*budget, turn.now()));
  }
  return page;
}

Result<UsageReply> Budgets::execute(const ReportUsage& command, Turn& turn) {
  const auto entry = load(command.id, turn);
  FF_TRY(entry);
  const auto known = known_report(command, turn);
  FF_TRY(known);
  if (*known && (*known)->until > turn.now()) {
    if ((*known)->amounts != command.amounts || (*known)->execution != command.execution)
      return core::refusals::duplicate_mismatch(command.id, *command.dedup_key);
    return UsageReply{.outcome = UsageOutcome::already_applied};
  }
  FF_TRY(reset(**entry, Reset::if_due, turn));

  const auto& before = (*entry)->thing;
  auto spent = command.execution ? spending_of(before, *command.execution, turn) : Amounts{};
  FF_TRY(spent);
  auto next = (*entry)->thing;
  auto reported = core::report(next, command.amounts, turn.now());
  FF_TRY(reported);
  if (command.fence && reported->reply.outcome == UsageOutcome::hard_breach) {
    const auto decided = core::action_on_breach(next, turn.now());
    reported->reply.action = decided.action;
    reported->reply.resume_at = decided.resume_at;
  }
  save(**entry, std::move(next), turn);
  if (!reported->applied) return std::move(reported->reply);
  remember(command, *known, turn);
  note_spending(command, {std::move(*spent), (*entry)->thing.reset_count}, turn);
  return std::move(reported->reply);
}

void Budgets::note_spending(const ReportUsage& report, Spending before, Turn& turn) {
  if (!report.execution) return;
  core::add(before.amounts, report.amounts);
  if (!before.amounts.empty()) turn.put(keys::ledger(report.id, *report.execution), encode(before));
}

Result<ReleaseUsageReply> Budgets::execute(const ReleaseUsage& command, Turn& turn) {
  const auto entry = load(command.id, turn);
  FF_TRY(entry);
  FF_TRY(reset(**entry, Reset::if_due, turn));
  auto spent = spending_of((*entry)->thing, command.execution, turn);
  FF_TRY(spent);
  if (spent->empty()) return ReleaseUsageReply{};
  auto next = (*entry)->thing;
  core::take_back(next, *spent);
  turn.erase(keys::ledger(command.id, command.execution));
  save(**entry, std::move(next), turn);
  turn.tell(opening_of((*entry)->thing));
  return ReleaseUsageReply{.released = std::move(*spent)};
}

Result<ResetBudgetReply> Budgets::execute(const ResetBudget& command, Turn& turn) {
  const auto entry = load(command.id, turn);
  FF_TRY(entry);
  FF_TRY(reset(**entry, Reset::now, turn));
  return ResetBudgetReply{.next_reset_at = (*entry)->thing.next_reset_at};
}

Result<ResetBudgetReply> Budgets::execute(const core::ResetIfDue& command, Turn& turn) {
  const auto entry = load(command.budget, turn);
  FF_TRY(entry);
  FF_TRY(reset(**entry, Reset::if_due, turn));
  return ResetBudgetReply{.next_reset_at = (*entry)->thing.next_reset_at};
}

Result<Done> Budgets::execute(const DeleteBudget& command, Turn& turn) {
  const auto entry = load(command.id, turn);
  FF_TRY(entry);
  std::vector<std::string> gone{keys::budget(command.id)};
  const auto spendings = keys_of(keys::ledger_of(command.id), turn);
  FF_TRY(spendings);
  std::ranges::copy(*spendings, std::back_inserter(gone));
  auto visited = turn.for_each({.prefix = keys::dedup_of(command.id)},
                               [&](std::string_view key, std::string_view value) -> Result<Next> {
                                 const auto dedup = keys::parse_dedup(key);
                                 FF_TRY(dedup);
                                 const auto known = decode_report(value);
                                 FF_TRY(known);
                                 gone.emplace_back(key);
                                 gone.push_back(keys::dedup_until(known->until, *dedup));
                                 return Next::go_on;
                               });
  FF_TRY(visited);
  for (const auto& key : gone) turn.erase(key);
  if (const auto due = (*entry)->thing.next_reset_at) resets_.erase({*due, command.id});
  turn.tell(opening_of((*entry)->thing));
  untidy_.erase(command.id);
  shelf_.erase(command.id, turn.durable_in());
  return Done{};
}

Result<core::BudgetCheck> Budgets::execute(const core::CheckBudget& query, Turn& turn) {
  const auto entry = load(query.budget, turn);
  FF_TRY(entry);
  return core::check((*entry)->thing, turn.now());
}

Result<core::BudgetsDue> Budgets::execute(const core::ResetsDue& query, Turn& turn) {
  core::BudgetsDue reply;
  for (const auto& [due, id] : resets_) {
    const bool later = due > turn.now();
    if (later || reply.due.size() == query.max) {
      reply.next = std::max(due, turn.now());
      break;
    }
    reply.due.push_back(id);
  }
  return reply;
}

Result<std::vector<ExecutionId>> Budgets::execute(const core::LedgerOf& query, Turn& turn) {
  const auto* entry = shelf_.find(query.budget, turn);
  if (!entry || core::is_reset_due(entry->thing, turn.now())) return std::vector<ExecutionId>{};
  const auto reset_count = entry->thing.reset_count;
  Range range{.prefix = keys::ledger_of(query.budget)};
  if (query.after) range.after = keys::ledger(query.budget, *query.after);
  std::vector<ExecutionId> found;
  auto visited =
      turn.for_each(range, [&](std::string_view key, std::string_view value) -> Result<Next> {
        if (found.size() == query.max) return Next::stop;
        const auto parsed = keys::parse_ledger(key);
        FF_TRY(parsed);
        const auto spending = decode_spending(value);
        FF_TRY(spending);
        if (spending->reset_count == reset_count) found.push_back(parsed->execution);
        return Next::go_on;
      });
  FF_TRY(visited);
  return found;
}

// Finds entries of before a reset, a slice at a time. Adds their keys to `past`.
Result<void> Budgets::find_outdated(Turn& turn, std::vector<std::string>& past) {
  if (untidy_.empty()) return {};
  auto& [id, after] = *untidy_.begin();
  const auto* entry = shelf_.find(id, turn);
  std::size_t seen = 0;
  auto visited = turn.for_each({.prefix = keys::ledger_of(id), .after = after},
                               [&](std::string_view key, std::string_view value) -> Result<Next> {
                                 if (++seen > ledger_entries_tidied_max) return Next::stop;
                                 after = std::string(key);
                                 const auto spending = decode_spending(value);
                                 FF_TRY(spending);
                                 if (!entry || spending->reset_count != entry->thing.reset_count)
                                   past.emplace_back(key);
                                 return Next::go_on;
                               });
  FF_TRY(visited);
  if (seen <= ledger_entries_tidied_max) untidy_.erase(untidy_.begin());
  return {};
}

Result<Done> Budgets::execute(const core::ForgetSpending& command, Turn& turn) {
  auto* entry = shelf_.find(command.budget, turn);
  const auto key = keys::ledger(command.budget, command.execution);
  const auto stored = turn.get(key);
  FF_TRY(stored);
  if (!entry || !*stored) return Done{};
  turn.erase(key);
  entry->changed_by(turn);
  return Done{};
}

// Later reports are forgotten later, so it goes on where it was, not among the tombstones before.
Result<bool> Budgets::execute(const core::ReconcileBudgets&, Turn& turn) {
  Range range{.prefix = std::string(keys::dedup_until_prefix), .after = last_forgotten_};
  std::vector<std::string> past;
  bool more = false;
  auto visited = turn.for_each(range, [&](std::string_view key, std::string_view) -> Result<Next> {
    const auto parsed = keys::parse_dedup_until(key);
    FF_TRY(parsed);
    if (parsed->until > turn.now()) return Next::stop;
    more = past.size() == 2 * reports_forgotten_max;
    if (more) return Next::stop;
    last_forgotten_ = std::string(key);
    past.emplace_back(key);
    past.push_back(keys::dedup(parsed->entry));
    return Next::go_on;
  });
  FF_TRY(visited);
  FF_TRY(find_outdated(turn, past));
  for (const auto& key : past) turn.erase(key);
  return more || !untidy_.empty();
}

Result<std::vector<BudgetId>> Budgets::execute(const core::AllBudgets& query, Turn&) {
  return shelf_.ids(query.after, query.max);
}

}  // namespace ff::embedded
