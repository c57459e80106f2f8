// The budgets of the embedded store: themselves in memory and on disk, what each execution spent and
// which reports are known only on disk.
#pragma once

#include <map>
#include <set>

#include "core/budgets/budget.hpp"
#include "store/embedded/disk/resource_records.hpp"
#include "store/embedded/resources/shelf.hpp"

namespace ff::embedded {

// Not thread-safe.
class Budgets {
 public:
  Result<void> restore(const Database& database);

  Result<CreateBudgetReply> execute(const CreateBudget& command, Turn& turn);
  Result<BudgetInfo> execute(const GetBudget& query, Turn& turn);
  Result<BudgetList> execute(const ListBudgets& query, Turn& turn);
  Result<UsageReply> execute(const ReportUsage& command, Turn& turn);
  Result<ReleaseUsageReply> execute(const ReleaseUsage& command, Turn& turn);
  Result<ResetBudgetReply> execute(const ResetBudget& command, Turn& turn);
  Result<Done> execute(const DeleteBudget& command, Turn& turn);
  Result<core::BudgetCheck> execute(const core::CheckBudget& query, Turn& turn);
  Result<core::BudgetsDue> execute(const core::ResetsDue& query, Turn& turn);
  Result<ResetBudgetReply> execute(const core::ResetIfDue& command, Turn& turn);
  Result<std::vector<ExecutionId>> execute(const core::LedgerOf& query, Turn& turn);
  Result<Done> execute(const core::ForgetSpending& command, Turn& turn);
  Result<bool> execute(const core::ReconcileBudgets& command, Turn& turn);
  Result<std::vector<BudgetId>> execute(const core::AllBudgets& query, Turn& turn);

 private:
  using Entry = Shelf<core::Budget>::Entry;
  enum class Reset : std::uint8_t { if_due, now };

  Result<Entry*> load(const BudgetId& id, Turn& turn);
  void save(Entry& entry, core::Budget next, Turn& turn);
  Result<void> reset(Entry& entry, Reset when, Turn& turn);

  Result<void> find_outdated(Turn& turn, std::vector<std::string>& past);
  void note_spending(const ReportUsage& report, Spending before, Turn& turn);

  Shelf<core::Budget> shelf_;
  std::set<std::pair<TimePoint, BudgetId>> resets_;  // by when they are due
  std::optional<std::string> last_forgotten_;        // key of a report, by time
  // Budgets whose ledgers may have entries of before their last reset, with the key to go on behind.
  std::map<BudgetId, std::optional<std::string>> untidy_;
};

}  // namespace ff::embedded
