#include "engine/scanners/retention_trimmer.hpp"

#include "base/try.hpp"

namespace ff {

Async<Scan> RetentionTrimmer::run_once() {
  const store::RetentionDue query{candidates_.batch(batch_max)};
  const auto over = co_await store_.run(query);
  FF_CO_TRY(over);

  const auto due = co_await candidates_.own(over->due);
  std::vector<core::Remove> commands;
  for (const auto& id : due) commands.push_back({.id = id});
  const auto replies = co_await store_.run_all(std::move(commands));

  Scan scan{.seen = due.size()};
  std::optional<Error> failure;
  for (const auto& reply : replies) {
    if (!reply && reply.error().code != Errc::execution_not_found) failure = reply.error();
    scan.changed += reply && reply->removed ? 1 : 0;
  }
  if (failure && scan.changed == 0) co_return std::unexpected(std::move(*failure));
  scan.more = scan.seen >= batch_max && scan.changed > 0;
  const bool full_of_others = due.empty() && over->due.size() >= query.max;
  if (full_of_others) scan.next_in = Millis{0};
  co_return scan;
}

}  // namespace ff
