#include "core/execution/fence.hpp"
#include "core/refusals.hpp"
#include "core/transitions/ending.hpp"
#include "core/transitions/transitions.hpp"

namespace ff::core {
namespace {

Decision<RevokeLease> nothing_to_revoke(const Execution& execution) {
  const auto vector = state_vector(execution);
  if (vector.lifecycle_phase != LifecyclePhase::active) return not_active(execution);
  const bool revoked = vector.ownership_state == OwnershipState::lease_revoked;
  return Step<RevokeReply>{
      .reply = {.status = revoked ? RevokeStatus::already_revoked : RevokeStatus::already_expired,
                .lease_epoch = execution.last_epoch}};
}

}  // namespace

Decision<RevokeLease> apply(const Execution& execution, RevokeLease command, TimePoint now) {
  const auto* active = std::get_if<Active>(&execution.state);
  if (!active) return nothing_to_revoke(execution);
  const auto& lease = active->lease;
  if (command.lease_id && *command.lease_id != lease.fence.lease_id)
    return refusals::another_lease(execution.id, *command.lease_id, lease.fence.lease_id);

  Execution next = execution;
  end_attempt(next, {.at = now, .how = LeaseEnd::revoked, .reason = command.reason},
              {.at = now,
               .outcome = AttemptOutcome::interrupted,
               .reason = "lease revoked" + (command.reason.empty() ? "" : ": " + command.reason)});
  next.state = Waiting{};
  return Step<RevokeReply>{
      .reply = {.status = RevokeStatus::revoked, .lease_epoch = execution.last_epoch},
      .next = std::move(next),
      .event = EventType::lease_revoked};
}

}  // namespace ff::core
