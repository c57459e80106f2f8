#include "engine/scanners/retention_trimmer.hpp"

#include "base/try.hpp"

namespace ff {

Async<Scan> RetentionTrimmer::run_once() {
  const auto over = co_await store_.run(store::RetentionDue{batch_max});
  FF_CO_TRY(over);

  std::vector<core::Remove> commands;
  for (const auto& id : over->due) commands.push_back({.id = id});
  const auto replies = co_await store_.run_all(std::move(commands));

  Scan scan{.seen = over->due.size()};
  for (const auto& reply : replies) {
    if (!reply && reply.error().code != Errc::execution_not_found)
      co_return std::unexpected(reply.error());
    scan.changed += reply && reply->removed ? 1 : 0;
  }
  scan.more = scan.seen >= batch_max && scan.changed > 0;
  co_return scan;
}

}  // namespace ff
