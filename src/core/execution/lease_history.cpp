#include "base/assert.hpp"
#include "core/execution/execution.hpp"

namespace ff::core {
namespace {

LeaseEvent acquired(const Attempt& attempt, LeaseId lease, LeaseEpoch epoch, const WorkerId& worker,
                    TimePoint at) {
  return {.type = LeaseEventType::acquired,
          .at = at,
          .lease_id = lease,
          .lease_epoch = epoch,
          .attempt_index = attempt.index,
          .worker = worker};
}

struct EndWords {
  LeaseEventType type;
  std::string_view reason;
};

EndWords words(LeaseEnd end) {
  using enum LeaseEventType;
  switch (end) {
    case LeaseEnd::completed: return {released, "completed"};
    case LeaseEnd::failed_retry_scheduled: return {released, "failed_retry_scheduled"};
    case LeaseEnd::failed_terminal: return {released, "failed_terminal"};
    case LeaseEnd::cancelled: return {released, "cancelled"};
    case LeaseEnd::worker_delay: return {released, "worker_delay"};
    case LeaseEnd::handed_back: return {released, "handed_back:"};
    case LeaseEnd::waiting_children: return {released, "waiting_children"};
    case LeaseEnd::suspended: return {released, "suspend"};
    case LeaseEnd::timed_out: return {released, "expired:"};
    case LeaseEnd::expired: return {expired, ""};
    case LeaseEnd::revoked: return {revoked, ""};
  }
  return {released, ""};
}

LeaseEvent ended(const Attempt& attempt, const PastLease& lease) {
  const auto [type, reason] = words(lease.end);
  return {.type = type,
          .at = lease.ended_at,
          .lease_id = lease.lease_id,
          .lease_epoch = lease.epoch,
          .attempt_index = attempt.index,
          .worker = lease.worker,
          .reason = std::string(reason) + lease.reason};
}

LeaseEvent replay_initiated(std::uint32_t attempt_index, TimePoint at, const std::string& reason) {
  return {.type = LeaseEventType::replay_initiated,
          .at = at,
          .attempt_index = attempt_index,
          .reason = reason};
}

}  // namespace

LeaseHistory lease_history(const Execution& execution, std::span<const Attempt> attempts) {
  LeaseHistory history;
  auto& events = history.events;
  for (const auto& attempt : attempts) {
    if (attempt.requested_at)
      events.push_back(replay_initiated(attempt.index, *attempt.requested_at, attempt.cause));
    for (const auto& lease : attempt.past_leases) {
      events.push_back(
          acquired(attempt, lease.lease_id, lease.epoch, lease.worker, lease.acquired_at));
      events.push_back(ended(attempt, lease));
    }
  }
  if (const auto* active = std::get_if<Active>(&execution.state)) {
    FF_ASSERT(!attempts.empty());
    const auto& lease = active->lease;
    events.push_back(acquired(attempts.back(), lease.fence.lease_id, lease.fence.lease_epoch,
                              lease.worker, lease.acquired_at));
  }
  if (const auto& replay = execution.pending_replay)
    events.push_back(replay_initiated(execution.attempt_count, replay->at, replay->reason));
  return history;
}

}  // namespace ff::core
