#include "engine/scanners/opening_scanner.hpp"

#include <algorithm>

namespace ff {
namespace {

// How often a quota is looked at whose next room has no known time.
constexpr Millis soon{1'000};

}  // namespace

Async<Scan> OpeningScanner::run_once() {
  const auto claims = waiting_();
  if (claims == 0) co_return Scan{};
  const auto wanted = gate_.wanted();
  const auto rooms = co_await look_up(wanted);
  if (!rooms) co_return std::unexpected(rooms.error());
  Scan scan{.seen = wanted.size()};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& [what, until] = wanted[i];
    const auto room = std::min((*rooms)[i], claims);
    store::PeekReady peek{.members_max = std::max<std::size_t>(room, 1), .needing = what};
    const auto groups = co_await store_.run(std::move(peek));
    if (!groups) co_return std::unexpected(groups.error());
    if (groups->empty()) {
      gate_.not_wanted(what);
      continue;
    }
    if (room > 0) {
      ++scan.changed;
      gate_.opened(what);
      for (const auto& group : *groups) offer_(group, room);
    }
    if (std::holds_alternative<QuotaId>(what)) {
      const bool timed = until && *until > store_.now();
      const auto wait = timed ? *until - store_.now() : soon;
      scan.next_in = std::min(scan.next_in.value_or(wait), wait);
    }
  }
  co_return scan;
}

// A budget or quota that was deleted has no room.
Async<std::vector<std::size_t>> OpeningScanner::look_up(const std::vector<Gate::Wanted>& wanted) {
  std::vector<core::CheckBudget> checks;
  std::vector<GetQuota> gets;
  for (const auto& each : wanted) {
    if (const auto* budget = std::get_if<BudgetId>(&each.what))
      checks.push_back({*budget});
    else
      gets.push_back({std::get<QuotaId>(each.what)});
  }
  const auto budgets = co_await store_.run_all(checks);
  const auto quotas = co_await store_.run_all(std::move(gets));

  std::vector<std::size_t> rooms;
  std::size_t budget = 0;
  std::size_t quota = 0;
  for (const auto& each : wanted) {
    if (const auto* id = std::get_if<BudgetId>(&each.what)) {
      const auto& check = budgets[budget++];
      if (!check && check.error().code != Errc::budget_not_found)
        co_return std::unexpected(check.error());
      rooms.push_back(refusal_of(*id, check) ? 0 : limits::quota_starts_max);
    } else {
      const auto& info = quotas[quota++];
      if (!info && info.error().code != Errc::quota_not_found)
        co_return std::unexpected(info.error());
      rooms.push_back(info ? room_in(*info) : 0);
    }
  }
  co_return rooms;
}

}  // namespace ff
