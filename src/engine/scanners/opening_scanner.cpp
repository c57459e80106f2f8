#include "engine/scanners/opening_scanner.hpp"

#include <algorithm>

#include "base/try.hpp"

namespace ff {
namespace {

// How often a quota is looked at whose next room has no known time.
constexpr Millis soon{1'000};
// How often a budget is looked at. Its openings are told; this is for those that were not heard.
constexpr Millis budgets_every{5'000};

std::vector<StartGate::Resource> resources_of(const core::Needs& needs) {
  std::vector<StartGate::Resource> resources(needs.budgets.begin(), needs.budgets.end());
  if (needs.quota) resources.emplace_back(*needs.quota);
  return resources;
}

}  // namespace

std::vector<StartGate::Wanted> OpeningScanner::due() {
  auto wanted = gate_.wanted();
  const auto now = store_.now();
  const bool early =
      budgets_looked_at_ && now > *budgets_looked_at_ && now - *budgets_looked_at_ < budgets_every;
  if (early)
    std::erase_if(wanted, [](const StartGate::Wanted& each) {
      return std::holds_alternative<BudgetId>(each.what);
    });
  else
    budgets_looked_at_ = now;
  return wanted;
}

// One look at all groups, however many resources refused work.
Async<Scan> OpeningScanner::run_once() {
  const auto claims = waiting_();
  if (claims == 0) co_return Scan{};
  const auto wanted = due();
  if (wanted.empty()) co_return Scan{};
  store::PeekReady peek{.members_max = 1, .needing = {}};
  for (const auto& each : wanted) peek.needing.insert(each.what);
  const auto groups = co_await store_.run(peek);
  FF_CO_TRY(groups);

  WaitReasons reasons(store_, workers_);
  std::vector<core::Needs> all;
  for (const auto& group : *groups) all.push_back(group.needs);
  co_await reasons.look_up(all);
  std::set<StartGate::Resource> needed;
  std::set<StartGate::Resource> open;
  for (const auto& group : *groups) {
    const auto refused = co_await reasons.of(group.ns, group.needs);
    for (const auto& what : resources_of(group.needs)) {
      if (!peek.needing.contains(what)) continue;
      needed.insert(what);
      if (refused && !*refused) open.insert(what);
    }
  }

  Scan scan{.seen = wanted.size(), .changed = open.size()};
  for (const auto& what : open) FF_CO_TRY(co_await offer_what_needs(what, reasons, claims));
  for (const auto& [what, until] : wanted) {
    if (!needed.contains(what)) {
      gate_.not_wanted(what);
    } else if (std::holds_alternative<QuotaId>(what)) {
      const bool timed = until && *until > store_.now();
      const auto wait = timed ? *until - store_.now() : soon;
      scan.next_in = std::min(scan.next_in.value_or(wait), wait);
    }
  }
  co_return scan;
}

Async<void> OpeningScanner::offer_what_needs(const StartGate::Resource& what, WaitReasons& reasons,
                                             std::size_t claims) {
  gate_.opened(what);
  store::PeekReady peek{.members_max = claims, .needing = {}};
  peek.needing.insert(what);
  const auto groups = co_await store_.run(std::move(peek));
  FF_CO_TRY(groups);
  for (const auto& group : *groups) {
    const auto refused = co_await reasons.of(group.ns, group.needs);
    if (refused && !*refused) offer_(group, std::min(reasons.room_for(group.needs), claims));
  }
  co_return Result<void>{};
}

}  // namespace ff
