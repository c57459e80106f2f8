#include "engine/scanners/timer_scanner.hpp"

#include "base/try.hpp"

namespace ff {

std::string_view TimerScanner::name() const {
  switch (kind_) {
    case core::TimerKind::lease_expiry: return "lease_expiry";
    case core::TimerKind::delay: return "delayed_promoter";
    case core::TimerKind::attempt_timeout: return "attempt_timeout";
    case core::TimerKind::execution_deadline: return "execution_deadline";
    case core::TimerKind::grant_expiry: return "grant_expiry";
    case core::TimerKind::suspension_timeout: return "suspension_timeout";
    case core::TimerKind::waitpoint_expiry: return "pending_wp_expiry";
    case core::TimerKind::flow_deadline: return "flow_deadline";
  }
  return "";
}

Async<Scan> TimerScanner::run_once() {
  const store::TimersDue query{.kind = kind_, .max = candidates_.batch(batch_max)};
  const auto timers = co_await store_.run(query);
  FF_CO_TRY(timers);

  const auto due = co_await candidates_.own(timers->due);
  std::vector<core::TimerFire> commands;
  for (const auto& id : due) commands.push_back({.id = id, .kind = kind_});
  const auto replies = co_await store_.run_all(std::move(commands));

  Scan scan{.seen = due.size()};
  if (timers->next) scan.next_in = *timers->next - store_.now();
  std::optional<Error> failure;
  for (const auto& reply : replies) {
    // It may have been removed meanwhile.
    if (!reply && reply.error().code != Errc::execution_not_found) failure = reply.error();
    scan.changed += reply && reply->fired ? 1 : 0;
  }
  if (failure && scan.changed == 0) co_return std::unexpected(std::move(*failure));
  // A timer that did not fire may have another time, which the next scan finds.
  constexpr Millis soon{10};
  if (scan.changed < scan.seen) scan.next_in = std::min(scan.next_in.value_or(soon), soon);
  scan.more = scan.seen >= batch_max && scan.changed > 0;
  co_return scan;
}

}  // namespace ff
