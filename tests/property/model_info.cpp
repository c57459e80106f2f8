// How an execution of the model looks from outside.
#include <algorithm>

#include "tests/property/model.hpp"

namespace ff::property {
namespace {

AttemptState pending_attempt(const Modelled& execution) {
  if (execution.replaying) return AttemptState::pending_replay_attempt;
  if (execution.attempts.empty()) return AttemptState::pending_first_attempt;
  return execution.attempts.back() == AttemptOutcome::failure ? AttemptState::pending_retry_attempt
                                                              : AttemptState::attempt_interrupted;
}

TerminalOutcome outcome_of(ExecutionState state) {
  if (state == ExecutionState::completed) return TerminalOutcome::success;
  if (state == ExecutionState::cancelled) return TerminalOutcome::cancelled;
  return state == ExecutionState::expired ? TerminalOutcome::expired : TerminalOutcome::failed;
}

}  // namespace

ExecutionState state_of(const Modelled& execution) {
  switch (execution.phase) {
    case Phase::waiting:
    case Phase::granted:
      return execution.lost_lease() ? ExecutionState::active : ExecutionState::waiting;
    case Phase::delayed: return ExecutionState::delayed;
    case Phase::active: return ExecutionState::active;
    case Phase::ended: return execution.end_state;
  }
  return execution.end_state;
}

StateVector vector_of(const Modelled& execution) {
  StateVector vector{.lifecycle_phase = LifecyclePhase::runnable,
                     .ownership_state = OwnershipState::unowned,
                     .eligibility_state = EligibilityState::not_applicable,
                     .blocking_reason = BlockingReason::none,
                     .terminal_outcome = TerminalOutcome::none,
                     .attempt_state = pending_attempt(execution)};
  switch (execution.phase) {
    case Phase::waiting:
    case Phase::granted:
      vector.blocking_reason = BlockingReason::waiting_for_worker;
      vector.eligibility_state = EligibilityState::eligible_now;
      if (!execution.lost_lease()) break;
      vector.lifecycle_phase = LifecyclePhase::active;
      vector.eligibility_state = EligibilityState::not_applicable;
      vector.ownership_state = execution.revoked ? OwnershipState::lease_revoked
                                                 : OwnershipState::lease_expired_reclaimable;
      break;
    case Phase::delayed:
      vector.eligibility_state = EligibilityState::not_eligible_until_time;
      vector.blocking_reason = vector.attempt_state == AttemptState::pending_retry_attempt
                                   ? BlockingReason::waiting_for_retry_backoff
                                   : BlockingReason::waiting_for_delay;
      break;
    case Phase::active:
      vector.lifecycle_phase = LifecyclePhase::active;
      vector.ownership_state = OwnershipState::leased;
      vector.attempt_state = AttemptState::running_attempt;
      break;
    case Phase::ended:
      vector.lifecycle_phase = LifecyclePhase::terminal;
      vector.terminal_outcome = outcome_of(execution.end_state);
      vector.attempt_state =
          execution.attempts.empty() ? pending_attempt(execution) : AttemptState::attempt_terminal;
      break;
  }
  return vector;
}

TimePoint retained_until(const Modelled& execution) {
  const auto& policy = execution.submit.policy;
  const auto kept = execution.ended_at + policy.retention.value_or(limits::retention_default);
  if (!execution.submit.idempotency_key) return kept;
  return std::max(kept, execution.created_at + policy.dedup_window);
}

ExecutionInfo info_of(const Modelled& execution, const ExecutionInfo& actual) {
  ExecutionInfo info{.id = execution.id,
                     .ns = execution.submit.ns,
                     .lane = execution.submit.lane,
                     .kind = execution.submit.kind,
                     .priority = execution.priority,
                     .state = state_of(execution),
                     .state_vector = vector_of(execution),
                     .tags = execution.tags,
                     .policy = execution.submit.policy,
                     .idempotency_key = execution.submit.idempotency_key,
                     .created_at = execution.created_at,
                     .deadline = execution.deadline,
                     .started_at = execution.started_at,
                     .attempts = static_cast<std::uint32_t>(execution.attempts.size()),
                     .retries = execution.retries,
                     .reclaims = execution.reclaims,
                     .replays = execution.replays,
                     .lease_epoch = execution.epoch(),
                     .progress = execution.progress,
                     .failure_reason = actual.failure_reason,
                     .failure_category = actual.failure_category,
                     .cancel_reason = actual.cancel_reason};
  if (execution.phase == Phase::delayed) info.delay_until = execution.until;
  if (execution.phase == Phase::ended) info.completed_at = execution.ended_at;
  if (execution.phase == Phase::granted) info.granted_to = execution.worker;
  if (execution.phase == Phase::active) {
    info.worker = execution.worker;
    info.lease_expires_at = execution.until;
  }
  return info;
}

}  // namespace ff::property
