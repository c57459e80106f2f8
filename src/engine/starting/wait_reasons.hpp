// Why executions wait: derived when somebody asks, stored nowhere.
#pragma once

#include <map>
#include <optional>
#include <span>

#include "engine/starting/start_gate.hpp"
#include "engine/starting/worker_cache.hpp"
#include "store/store.hpp"

namespace ff {

// How many more a quota lets start now.
std::uint64_t room_in(const QuotaInfo& quota);

// For one request or one pass: each budget, quota and set of capabilities is looked up once.
class WaitReasons {
 public:
  WaitReasons(store::Store& store, WorkerCache& workers) : store_(store), workers_(workers) {}

  // The first obstacle to starting work with these needs; none: only a worker's turn is missing. A budget
  // or quota that cannot be read is an error.
  Async<std::optional<Refused>> of(const Namespace& ns, const core::Needs& needs);

  // The same for work of a lane, which may be paused.
  Async<std::optional<Refused>> of(const Namespace& ns, const LaneId& lane,
                                   const core::Needs& needs);

  // Shows it in the executions that wait. One whose budgets or quota cannot be read is left as it is.
  asio::awaitable<void> show(std::span<ExecutionInfo> infos);

  // Shows it in the counts of the executions that `waiting` is about. Returns how many are held back, by
  // reason.
  asio::awaitable<std::map<BlockingReason, std::uint64_t>> show(
      StateCounts& counts, const std::vector<store::WaitingCount>& waiting);

  // Looks up together what these need.
  asio::awaitable<void> look_up(const std::vector<core::Needs>& all);

  // Whether the quota lets one more start now; that one is then taken.
  bool take_room(const core::Needs& needs);

  // How many more the quota lets start now, as far as it was looked up.
  std::size_t room_for(const core::Needs& needs) const;

  // The last thing that could not be read.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  struct Room {
    std::optional<Refused> refused = {};
    std::uint64_t left = 0;
  };
  void note(const BudgetId& budget, const Result<core::BudgetCheck>& check);
  void note(const QuotaId& quota, const Result<QuotaInfo>& info);
  Async<std::optional<Refused>> of(const BudgetId& budget);
  Async<std::optional<Refused>> of(const QuotaId& quota);

  store::Store& store_;
  std::shared_ptr<const core::PausedLanes> paused_lanes_ = store_.paused_lanes();
  WorkerCache& workers_;
  std::optional<Error> failure_;
  std::map<BudgetId, Result<std::optional<Refused>>> budgets_;
  std::map<QuotaId, Result<Room>> quotas_;
  std::map<std::pair<Namespace, CapabilitySet>, bool> covered_;
};

}  // namespace ff
