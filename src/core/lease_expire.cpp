#include <flowfabric/limits.hpp>

#include <fmt/format.h>

#include "core/transitions.hpp"

namespace ff::core {

Decision<LeaseExpire> apply(const Execution& execution, const LeaseExpire&, TimePoint now) {
  const auto* active = std::get_if<Active>(&execution.state);
  if (!active || active->lease.expires_at > now)
    return Step<LeaseExpireReply>{.reply = {.expired = false}};

  Execution next = execution;
  if (execution.reclaim_count < limits::reclaim_count_max) {
    next.state = Interrupted{};
    return Step<LeaseExpireReply>{
        .reply = {true}, .next = std::move(next), .event = EventType::lease_expired};
  }
  next.state =
      Failed{.at = now,
             .by = std::nullopt,
             .reason = fmt::format("max_reclaims_exceeded: {} workers let its lease run out",
                                   execution.reclaim_count + 1),
             .category = "infra_crash"};
  return Step<LeaseExpireReply>{
      .reply = {true}, .next = std::move(next), .event = EventType::failed};
}

}  // namespace ff::core
