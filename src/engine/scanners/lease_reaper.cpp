#include "engine/scanners/lease_reaper.hpp"

namespace ff {

Async<Scan> LeaseReaper::run_once() {
  const auto due = co_await store_.run(store::LeasesDue{batch_max});
  if (!due) co_return std::unexpected(due.error());

  std::vector<core::LeaseExpire> commands;
  for (const auto& lease : *due) commands.push_back({lease.id});
  const auto replies = co_await store_.run_all(std::move(commands));

  Scan scan{.seen = due->size(), .more = due->size() >= batch_max};
  for (const auto& reply : replies) {
    if (!reply) co_return std::unexpected(reply.error());
    scan.changed += reply->expired ? 1 : 0;
  }
  co_return scan;
}

}  // namespace ff
