#include "engine/starting/wait_reasons.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/try.hpp"

namespace ff {
namespace {

std::optional<Refused> full(const QuotaInfo& info) {
  const auto& spec = info.spec;
  const auto refused = [&](std::string detail) {
    return Refused{.reason = BlockingReason::waiting_for_quota, .detail = std::move(detail)};
  };
  if (spec.max_per_window && info.in_window >= *spec.max_per_window)
    return refused(core::rate_detail(info.id, spec));
  if (spec.max_concurrent && info.running >= *spec.max_concurrent)
    return refused(core::concurrency_detail(info.id, spec));
  return std::nullopt;
}

bool waits_for_worker(const ExecutionInfo& info) {
  return info.state_vector.eligibility_state == EligibilityState::eligible_now && !info.granted_to;
}

}  // namespace

std::uint64_t room_in(const QuotaInfo& quota) {
  auto room = limits::quota_starts_max;
  const auto consider = [&](const std::optional<std::uint64_t>& max, std::uint64_t used) {
    if (max) room = std::min(room, *max - std::min(*max, used));
  };
  consider(quota.spec.max_per_window, quota.in_window);
  consider(quota.spec.max_concurrent, quota.running);
  return room;
}

Async<std::optional<Refused>> WaitReasons::of(const Namespace& ns, const core::Needs& needs) {
  const std::pair wanted{ns, needs.capabilities};
  if (!covered_.contains(wanted))
    covered_[wanted] = co_await workers_.covers(ns, needs.capabilities);
  if (!covered_[wanted])
    co_return Refused{.reason = BlockingReason::waiting_for_capable_worker,
                      .detail = "no connected worker satisfies required_capabilities"};
  for (const auto& id : needs.budgets) {
    auto refused = co_await of(id);
    if (!refused || *refused) co_return refused;
  }
  if (!needs.quota) co_return std::optional<Refused>{};
  co_return co_await of(*needs.quota);
}

Async<std::optional<Refused>> WaitReasons::of(const Namespace& ns, const LaneId& lane,
                                              const core::Needs& needs) {
  if (const auto* pause = paused_lanes_->find(ns, lane))
    co_return Refused{.reason = BlockingReason::paused_by_policy,
                      .detail = core::pause_detail(lane, *pause)};
  co_return co_await of(ns, needs);
}

Async<std::optional<Refused>> WaitReasons::of(const BudgetId& budget) {
  if (!budgets_.contains(budget)) {
    const auto check = co_await store_.run(core::CheckBudget{budget});
    note(budget, check);
  }
  co_return budgets_.at(budget);
}

void WaitReasons::note(const BudgetId& budget, const Result<core::BudgetCheck>& check) {
  Result<std::optional<Refused>> refused = refusal_of(budget, check);
  if (!check && check.error().code != Errc::budget_not_found)
    refused = std::unexpected(failure_.emplace(check.error()));
  budgets_.emplace(budget, std::move(refused));
}

Async<std::optional<Refused>> WaitReasons::of(const QuotaId& quota) {
  if (!quotas_.contains(quota)) {
    const auto info = co_await store_.run(GetQuota{quota});
    note(quota, info);
  }
  const auto& room = quotas_.at(quota);
  FF_CO_TRY(room);
  co_return room->refused;
}

void WaitReasons::note(const QuotaId& quota, const Result<QuotaInfo>& info) {
  Result<Room> room = Room{};
  if (info)
    *room = {.refused = full(*info), .left = room_in(*info)};
  else if (info.error().code == Errc::quota_not_found)
    room->refused = refusal_of(quota, Result<core::AdmitReply>(std::unexpected(info.error())));
  else
    room = std::unexpected(failure_.emplace(info.error()));
  quotas_.emplace(quota, std::move(room));
}

asio::awaitable<void> WaitReasons::look_up(const std::vector<core::Needs>& all) {
  std::set<BudgetId> budgets;
  std::set<QuotaId> quotas;
  for (const auto& needs : all) {
    for (const auto& budget : needs.budgets)
      if (!budgets_.contains(budget)) budgets.insert(budget);
    if (needs.quota && !quotas_.contains(*needs.quota)) quotas.insert(*needs.quota);
  }
  std::vector<core::CheckBudget> checks;
  for (const auto& budget : budgets) checks.push_back({budget});
  const auto checked = co_await store_.run_all(checks);
  for (std::size_t i = 0; i < checks.size(); ++i) note(checks[i].budget, checked[i]);
  std::vector<GetQuota> gets;
  for (const auto& quota : quotas) gets.push_back({quota});
  const auto got = co_await store_.run_all(gets);
  for (std::size_t i = 0; i < gets.size(); ++i) note(gets[i].id, got[i]);
}

bool WaitReasons::take_room(const core::Needs& needs) {
  if (!needs.quota) return true;
  const auto known = quotas_.find(*needs.quota);
  if (known == quotas_.end() || !known->second || known->second->left == 0) return false;
  --known->second->left;
  return true;
}

std::size_t WaitReasons::room_for(const core::Needs& needs) const {
  if (!needs.quota) return limits::quota_starts_max;
  const auto known = quotas_.find(*needs.quota);
  return known == quotas_.end() || !known->second ? 0 : known->second->left;
}

asio::awaitable<void> WaitReasons::show(std::span<ExecutionInfo> infos) {
  std::vector<core::Needs> all;
  std::vector<ExecutionInfo*> waiting;
  for (auto& info : infos) {
    if (!waits_for_worker(info)) continue;
    auto needs = core::needs_of(info.policy);
    if (needs.empty() && !paused_lanes_->has(info.ns, info.lane)) continue;
    all.push_back(std::move(needs));
    waiting.push_back(&info);
  }
  co_await look_up(all);
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    auto refused = co_await of(waiting[i]->ns, waiting[i]->lane, all[i]);
    if (refused && *refused)
      core::show_held_back(*waiting[i], (*refused)->reason, std::move((*refused)->detail));
  }
}

asio::awaitable<std::map<BlockingReason, std::uint64_t>> WaitReasons::show(
    StateCounts& counts, const std::vector<store::WaitingCount>& waiting) {
  std::map<BlockingReason, std::uint64_t> held_back;
  std::map<std::pair<LaneId, ExecutionState>, StateCount> shown;
  for (const auto& each : counts.counts) shown[{each.lane, each.state}] = each;
  std::vector<core::Needs> all;
  for (const auto& group : waiting) all.push_back(group.needs);
  co_await look_up(all);
  for (const auto& group : waiting) {
    // Work of a paused lane counts as waiting, whatever else is in its way.
    if (paused_lanes_->has(group.ns, group.lane)) continue;
    const auto refused = co_await of(group.ns, group.needs);
    if (!refused || !*refused) continue;
    held_back[(*refused)->reason] += group.count;
    if ((*refused)->reason == BlockingReason::waiting_for_capable_worker) continue;
    // The two were counted one after the other: some of the group may have started in between.
    auto& from = shown[{group.lane, ExecutionState::waiting}].count;
    const auto moved = std::min(from, group.count);
    from -= moved;
    shown[{group.lane, ExecutionState::rate_limited}].count += moved;
  }
  counts.counts.clear();
  for (auto& [key, each] : shown) {
    if (each.count == 0) continue;
    std::tie(each.lane, each.state) = key;
    counts.counts.push_back(std::move(each));
  }
  co_return held_back;
}

}  // namespace ff
