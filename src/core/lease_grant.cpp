#include <fmt/format.h>

#include "core/transitions.hpp"

namespace ff::core {

Decision<LeaseGrant> apply(const Execution& execution, const LeaseGrant& command, TimePoint now) {
  const bool reclaimed = std::holds_alternative<Interrupted>(execution.state);
  if (!reclaimed && !std::holds_alternative<Waiting>(execution.state))
    return fail(Errc::execution_not_leaseable,
                fmt::format("execution {} is {} and cannot be claimed", execution.id.str(),
                            to_string(public_state(execution))));

  const Fence fence{.lease_id = command.lease_id,
                    .lease_epoch = LeaseEpoch{std::to_underlying(execution.last_epoch) + 1},
                    .attempt_id = command.attempt_id};
  const Lease lease{
      .fence = fence, .worker = command.worker, .expires_at = now + command.lease_ttl};

  Execution next = execution;
  next.state = Active{lease};
  next.last_epoch = fence.lease_epoch;
  next.attempt_count += 1;
  next.reclaim_count += reclaimed ? 1 : 0;
  if (!next.started_at) next.started_at = now;

  ClaimedExecution reply{.id = execution.id,
                         .ns = execution.ns,
                         .lane = execution.lane,
                         .kind = execution.kind,
                         .payload = {},
                         .attempt_index = execution.attempt_count,
                         .fence = fence,
                         .lease_expires_at = lease.expires_at};
  return Step<ClaimedExecution>{
      .reply = std::move(reply), .next = std::move(next), .event = EventType::claimed};
}

}  // namespace ff::core
