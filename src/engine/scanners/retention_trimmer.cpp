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
  std::optional<Error> failure;
  for (const auto& reply : replies) {
    if (!reply && reply.error().code != Errc::execution_not_found) failure = reply.error();
    scan.changed += reply && reply->removed ? 1 : 0;
  }
  if (failure && scan.changed == 0) co_return std::unexpected(std::move(*failure));
  scan.more = scan.seen >= batch_max && scan.changed > 0;
  co_return scan;
}

}  // namespace ff
