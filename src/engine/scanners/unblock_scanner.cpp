#include "engine/scanners/unblock_scanner.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace ff {
namespace {

// How often a rate is looked at that may have room by now.
constexpr Millis soon{1'000};
constexpr Millis look_at_all_every{60'000};

std::size_t changed_of(const std::vector<Result<core::BlockReply>>& replies) {
  return static_cast<std::size_t>(
      std::ranges::count_if(replies, [](const auto& reply) { return reply && reply->changed; }));
}

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

std::uint64_t room_in(const QuotaInfo& info) {
  auto room = limits::quota_starts_max;
  const auto consider = [&](const std::optional<std::uint64_t>& max, std::uint64_t used) {
    if (max) room = std::min(room, *max - std::min(*max, used));
  };
  consider(info.spec.max_per_window, info.in_window);
  consider(info.spec.max_concurrent, info.running);
  return room;
}

}  // namespace

// ---- The judge ----------------------------------------------------------------------------------

Async<std::optional<Refused>> Judge::operator()(const Namespace& ns, const core::Needs& needs) {
  const std::pair wanted{ns, needs.capabilities};
  if (!covered_.contains(wanted)) covered_[wanted] = co_await fleet_.covers(ns, needs.capabilities);
  if (!covered_[wanted])
    co_return Refused{.reason = BlockingReason::waiting_for_capable_worker,
                      .detail = "no connected worker satisfies required_capabilities"};
  for (const auto& id : needs.budgets) {
    auto refused = co_await budget(id);
    if (!refused || *refused) co_return refused;
  }
  if (!needs.quota) co_return std::optional<Refused>{};
  co_return co_await quota(*needs.quota);
}

Async<std::optional<Refused>> Judge::budget(const BudgetId& id) {
  if (const auto known = budgets_.find(id); known != budgets_.end()) co_return known->second;
  const auto check = co_await store_.run(core::CheckBudget{id});
  Result<std::optional<Refused>> refused = refusal_of(id, check);
  if (!check && check.error().code != Errc::budget_not_found)
    refused = std::unexpected(failure_.emplace(check.error()));
  budgets_.emplace(id, refused);
  co_return refused;
}

Async<std::optional<Refused>> Judge::quota(const QuotaId& id) {
  auto known = quotas_.find(id);
  if (known == quotas_.end()) {
    const auto info = co_await store_.run(GetQuota{id});
    Result<Room> room = Room{};
    if (info)
      *room = {.refused = full(*info), .left = room_in(*info)};
    else if (info.error().code == Errc::quota_not_found)
      room->refused = refusal_of(id, Result<core::AdmitReply>(std::unexpected(info.error())));
    else
      room = std::unexpected(failure_.emplace(info.error()));
    known = quotas_.emplace(id, std::move(room)).first;
  }
  if (!known->second) co_return std::unexpected(known->second.error());
  co_return known->second->refused;
}

bool Judge::take_room(const core::Needs& needs) {
  if (!needs.quota) return true;
  const auto known = quotas_.find(*needs.quota);
  if (known == quotas_.end() || !known->second || known->second->left == 0) return false;
  --known->second->left;
  return true;
}

// ---- The scanner --------------------------------------------------------------------------------

Async<Scan> UnblockScanner::run_once() {
  Judge judge(store_, fleet_);
  auto scan = co_await look_at_groups(judge);
  if (!scan) co_return scan;
  if (!scan->more && store_.now() >= look_at_all_at_) {
    const auto rest = co_await look_at_all(judge);
    if (!rest) co_return rest;
    scan->seen += rest->seen;
    scan->changed += rest->changed;
    scan->more |= rest->more;
  }
  if (judge.failure()) co_return std::unexpected(*judge.failure());
  co_return scan;
}

// What this process knows of: nearly everything, nearly always.
Async<Scan> UnblockScanner::look_at_groups(Judge& judge) {
  const auto groups = co_await store_.run(store::PeekReady{batch_max});
  if (!groups) co_return std::unexpected(groups.error());
  Scan scan;
  for (const auto& group : *groups) {
    const auto refused = co_await judge(group.ns, group.needs);
    if (!refused) continue;  // fail closed: they stay as they are
    std::size_t changed = 0;
    if (*refused)
      changed = co_await call_blocked(group, **refused);
    else
      changed = co_await open(group, judge);
    scan.seen += group.best.size();
    scan.changed += changed;
    scan.more |= changed >= batch_max;
    if (group.needs.quota && *refused) scan.next_in = soon;
  }
  co_return scan;
}

asio::awaitable<std::size_t> UnblockScanner::call_blocked(const store::ReadyGroup& group,
                                                          const Refused& refused) {
  std::vector<core::Block> blocks;
  for (const auto& id : group.not_blocked)
    blocks.push_back({.id = id, .reason = refused.reason, .detail = refused.detail});
  co_return changed_of(co_await store_.run_all(std::move(blocks)));
}

// As many as there is room for: those that are called blocked are let go, for the others somebody is
// woken.
asio::awaitable<std::size_t> UnblockScanner::open(const store::ReadyGroup& group, Judge& judge) {
  const std::set<ExecutionId> not_blocked(group.not_blocked.begin(), group.not_blocked.end());
  std::vector<core::Unblock> unblocks;
  const auto let_go = [&](const ExecutionId& id, BlockingReason reason) {
    unblocks.push_back({.id = id, .reason = reason});
  };
  std::size_t ready = 0;
  for (const auto& id : group.best) {
    if (!judge.take_room(group.needs)) break;
    if (not_blocked.contains(id)) {
      ++ready;
      continue;
    }
    if (!group.needs.budgets.empty()) let_go(id, BlockingReason::waiting_for_budget);
    if (group.needs.quota) let_go(id, BlockingReason::waiting_for_quota);
    if (!group.needs.capabilities.empty()) let_go(id, BlockingReason::waiting_for_capable_worker);
  }
  offer_(group, ready);
  co_return changed_of(co_await store_.run_all(std::move(unblocks)));
}

// Also what was blocked before this process began, or by another.
Async<Scan> UnblockScanner::look_at_all(Judge& judge) {
  constexpr std::array reasons{BlockingReason::waiting_for_budget,
                               BlockingReason::waiting_for_quota,
                               BlockingReason::waiting_for_capable_worker};
  Scan all;
  for (const auto reason : reasons) {
    store::FindBlocked query{.reason = reason, .after = places_[reason], .max = batch_max};
    const auto let = co_await let_go(judge, query, std::nullopt);
    if (!let) co_return let;
    places_[reason] = std::move(query.after);
    all.seen += let->seen;
    all.changed += let->changed;
    all.more |= let->more;
  }
  if (!all.more) look_at_all_at_ = store_.now() + look_at_all_every;
  co_return all;
}

// `query` says where it begins, and afterwards where to go on.
Async<Scan> UnblockScanner::let_go(Judge& judge, store::FindBlocked& query,
                                   const std::optional<Namespace>& ns) {
  Scan scan;
  const auto reason = query.reason;
  for (std::size_t page_number = 0; page_number < pages_max; ++page_number) {
    const auto page = co_await store_.run(query);
    if (!page) co_return std::unexpected(page.error());
    std::vector<core::Unblock> unblocks;
    std::vector<core::Block> blocks;
    for (const auto& each : page->executions) {
      if (ns && each.ns != *ns) continue;
      ++scan.seen;
      const auto refused = co_await judge(each.ns, each.needs);
      if (!refused) continue;  // fail closed: it stays as it is
      if (!*refused && judge.take_room(each.needs))
        unblocks.push_back({.id = each.id, .reason = reason});
      else if (*refused && (*refused)->reason != reason)
        blocks.push_back(
            {.id = each.id, .reason = (*refused)->reason, .detail = (*refused)->detail});
    }
    scan.changed += changed_of(co_await store_.run_all(std::move(unblocks)));
    co_await store_.run_all(std::move(blocks));
    query.after = page->next;
    if (!page->next) co_return scan;
  }
  scan.more = true;
  co_return scan;
}

asio::awaitable<void> UnblockScanner::promote(const Namespace& ns) {
  Judge judge(store_, fleet_);
  store::FindBlocked query{.reason = BlockingReason::waiting_for_capable_worker, .max = batch_max};
  while (true) {
    const auto scan = co_await let_go(judge, query, ns);
    if (!scan || !scan->more) co_return;
  }
}

}  // namespace ff
