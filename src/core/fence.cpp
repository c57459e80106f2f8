#include "core/fence.hpp"

#include <fmt/format.h>

namespace ff::core {

std::unexpected<Error> not_active(const Execution& execution) {
  const auto vector = state_vector(execution);
  const auto state = std::string(to_string(public_state(execution)));
  const bool attempted = execution.attempt.has_value();
  return fail(
      Errc::execution_not_active,
      fmt::format("execution {} is {}, so no worker can change it", execution.id.str(), state),
      {{"state", state},
       {"terminal_outcome", std::string(to_string(vector.terminal_outcome))},
       {"lease_epoch", std::to_string(std::to_underlying(execution.last_epoch))},
       {"lifecycle_phase", std::string(to_string(vector.lifecycle_phase))},
       {"attempt_id", attempted ? execution.attempt->fence.attempt_id.str() : ""}});
}

namespace {

std::unexpected<Error> expired(const Execution& execution) {
  return fail(
      Errc::lease_expired,
      fmt::format("the lease on execution {} has run out; stop working on it, another worker "
                  "may have it",
                  execution.id.str()));
}

std::unexpected<Error> not_held(const Execution& execution) {
  switch (state_vector(execution).ownership_state) {
    case OwnershipState::lease_revoked:
      return fail(Errc::lease_revoked,
                  fmt::format("an operator took the lease on execution {} away; stop working on it",
                              execution.id.str()));
    case OwnershipState::lease_expired_reclaimable: return expired(execution);
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
  if (active->lease.expires_at <= now) return expired(execution);
  if (active->lease.fence != fence)
    return fail(Errc::stale_lease,
                fmt::format("another lease on execution {} has taken over; stop working on it",
                            execution.id.str()));
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
