#include "engine/scanners/unblock_scanner.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace ff {
namespace {

// How often a rate is looked at that may have room by now.
constexpr Millis soon{1'000};

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
  constexpr std::array reasons{BlockingReason::waiting_for_budget,
                               BlockingReason::waiting_for_quota,
                               BlockingReason::waiting_for_capable_worker};
  Judge judge(store_, fleet_);
  Scan let_go_of;
  for (const auto reason : reasons) {
    store::FindBlocked query{.reason = reason, .after = places_[reason], .max = batch_max};
    const auto let = co_await let_go(judge, query, std::nullopt);
    if (!let) co_return let;
    places_[reason] = std::move(query.after);
    let_go_of.seen += let->seen;
    let_go_of.changed += let->changed;
    let_go_of.more |= let->more;
    if (reason == BlockingReason::waiting_for_quota && let->seen > let->changed)
      let_go_of.next_in = soon;
  }
  auto scan = co_await call_blocked(judge);
  if (!scan) co_return scan;
  scan->seen += let_go_of.seen;
  scan->changed += let_go_of.changed;
  scan->next_in = let_go_of.next_in;
  scan->more |= let_go_of.more;
  if (judge.failure()) co_return std::unexpected(*judge.failure());
  co_return scan;
}

Async<Scan> UnblockScanner::call_blocked(Judge& judge) {
  const auto groups = co_await store_.run(store::PeekReady{batch_max});
  if (!groups) co_return std::unexpected(groups.error());
  Scan scan;
  for (const auto& group : *groups) {
    const auto refused = co_await judge(group.ns, group.needs);
    if (!refused) continue;  // fail closed: they stay as they are
    if (!*refused) {
      std::size_t room = 0;
      while (room < group.best.size() && judge.take_room(group.needs)) ++room;
      offer_(group, room);
      continue;
    }
    std::vector<core::Block> blocks;
    for (const auto& id : group.not_blocked)
      blocks.push_back({.id = id, .reason = (*refused)->reason, .detail = (*refused)->detail});
    scan.seen += blocks.size();
    const bool is_full = blocks.size() == batch_max;
    std::size_t changed = 0;
    const auto replies = co_await store_.run_all(std::move(blocks));
    for (const auto& reply : replies) changed += reply && reply->changed ? 1 : 0;
    scan.changed += changed;
    scan.more |= is_full && changed > 0;
  }
  co_return scan;
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
    const auto unblocked = co_await store_.run_all(std::move(unblocks));
    for (const auto& reply : unblocked) scan.changed += reply && reply->changed ? 1 : 0;
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
