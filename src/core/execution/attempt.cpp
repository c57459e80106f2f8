#include "core/execution/attempt.hpp"

namespace ff::core {

void end_lease(Attempt& attempt, const Lease& lease, LeaseEnding ending) {
  auto& past = attempt.past_leases;
  if (past.size() >= limits::leases_per_attempt_max) past.erase(past.begin());
  past.push_back({.lease_id = lease.fence.lease_id,
                  .epoch = lease.fence.lease_epoch,
                  .worker = lease.worker,
                  .acquired_at = lease.acquired_at,
                  .ended_at = ending.at,
                  .end = ending.how,
                  .reason = std::move(ending.reason)});
}

AttemptInfo info_of(const Attempt& attempt, bool running) {
  AttemptInfo info{.index = attempt.index,
                   .id = attempt.fence.attempt_id,
                   .type = attempt.type,
                   .cause = attempt.cause,
                   .requested_by = attempt.requested_by,
                   .worker = attempt.worker,
                   .started_at = attempt.started_at,
                   .outcome = running ? AttemptOutcome::running : AttemptOutcome::paused};
  if (!attempt.end) return info;
  info.ended_at = attempt.end->at;
  info.outcome = attempt.end->outcome;
  info.retry_at = attempt.end->retry_at;
  if (!attempt.end->reason.empty()) info.failure_reason = attempt.end->reason;
  if (!attempt.end->category.empty()) info.failure_category = attempt.end->category;
  return info;
}

}  // namespace ff::core
