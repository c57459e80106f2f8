#include "engine/scanners/unblock_scanner.hpp"

#include <array>
#include <set>

#include "base/log.hpp"
#include "base/try.hpp"

namespace ff {
namespace {

// Without a sign that anything is blocked.
constexpr Millis look_at_least_every{60'000};

}  // namespace

Async<Scan> UnblockScanner::run_once() {
  constexpr std::array blocking{BlockingReason::waiting_for_budget,
                                BlockingReason::waiting_for_quota,
                                BlockingReason::waiting_for_capable_worker};
  Scan scan;
  if (!look_.exchange(false) && store_.now() < look_again_at_) co_return scan;
  WaitReasons reasons(store_, workers_);
  for (const auto reason : blocking) {
    const auto seen = co_await unblock(reasons, reason);
    if (!seen) {
      look_ = true;
      co_return seen;
    }
    scan.seen += seen->seen;
    scan.changed += seen->changed;
    scan.more |= seen->more;
  }
  if (scan.seen > 0) look_ = true;  // until nothing is blocked
  look_again_at_ = store_.now() + look_at_least_every;
  if (reasons.failure()) co_return std::unexpected(*reasons.failure());
  co_return scan;
}

Async<Scan> UnblockScanner::unblock(WaitReasons& reasons, BlockingReason reason) {
  Scan scan;
  store::FindBlocked query{.reason = reason, .after = next_[reason], .max = batch_max};
  for (std::size_t pages = 0; pages < pages_max; ++pages) {
    const auto page = co_await store_.run(query);
    FF_CO_TRY(page);
    std::vector<ExecutionId> ids;
    for (const auto& each : page->executions) ids.push_back(each.id);
    const auto own = co_await candidates_.own(std::move(ids));
    const std::set<ExecutionId> ours(own.begin(), own.end());
    std::vector<core::Unblock> unblocks;
    for (const auto& each : page->executions) {
      if (!ours.contains(each.id)) continue;
      ++scan.seen;
      const auto refused = co_await reasons.of(each.ns, each.needs);
      if (!refused) continue;  // fail closed: it stays as it is
      if (!*refused && reasons.take_room(each.needs))
        unblocks.push_back({.id = each.id, .reason = reason});
    }
    const auto unblocked = co_await store_.run_all(unblocks);
    for (std::size_t i = 0; i < unblocked.size(); ++i) {
      if (!unblocked[i] || !unblocked[i]->changed) continue;
      ++scan.changed;
      log::info("execution={} unblocked reason={}", unblocks[i].id.str(), to_string(reason));
    }
    query.after = next_[reason] = page->next;
    if (!page->next) co_return scan;
  }
  scan.more = true;
  co_return scan;
}

}  // namespace ff
