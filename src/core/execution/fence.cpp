#include "core/execution/fence.hpp"

#include "core/refusals.hpp"

namespace ff::core {

std::unexpected<Error> not_active(const Execution& execution) {
  const auto vector = state_vector(execution);
  // After a failure that is retried there is no attempt: the next has not begun.
  const auto& attempt = execution.attempt;
  const bool has_attempt = attempt && !(attempt->end && attempt->end->retry_at);
  return refusals::not_active(execution.id,
                              {.state = public_state(execution),
                               .outcome = vector.terminal_outcome,
                               .phase = vector.lifecycle_phase,
                               .epoch = execution.last_epoch,
                               .attempt_id = has_attempt ? attempt->fence.attempt_id.str() : ""});
}

namespace {

std::unexpected<Error> not_held(const Execution& execution) {
  switch (state_vector(execution).ownership_state) {
    case OwnershipState::lease_revoked: return refusals::lease_revoked(execution.id);
    case OwnershipState::lease_expired_reclaimable: return refusals::lease_expired(execution.id);
    case OwnershipState::unowned:
    case OwnershipState::leased: break;
  }
  return not_active(execution);
}

// A timeout ends an attempt in failure too, but no call of its worker did.
bool is_by_worker(LeaseEnd end) {
  return end == LeaseEnd::completed || end == LeaseEnd::failed_retry_scheduled ||
         end == LeaseEnd::failed_terminal;
}

}  // namespace

Result<Active> check_fence(const Execution& execution, const Fence& fence, TimePoint now) {
  const auto* active = std::get_if<Active>(&execution.state);
  if (!active) return not_held(execution);
  if (active->lease.expires_at <= now) return refusals::lease_expired(execution.id);
  if (active->lease.fence != fence) return refusals::stale_lease(execution.id);
  return *active;
}

const AttemptEnd* ended_by(const Execution& execution, const Fence& fence, AttemptOutcome outcome) {
  if (!execution.attempt || execution.pending_replay) return nullptr;
  const auto& attempt = *execution.attempt;
  const bool this_end = attempt.end && attempt.fence == fence && attempt.end->outcome == outcome;
  if (!this_end || attempt.past_leases.empty()) return nullptr;
  return is_by_worker(attempt.past_leases.back().end) ? &*attempt.end : nullptr;
}

}  // namespace ff::core
