// The contract's table: which public state follows from the other six dimensions of the state vector.
#pragma once

#include <flowfabric/states.hpp>

namespace ff::property {

constexpr ExecutionState derived_state(const StateVector& vector) {
  using enum ExecutionState;
  switch (vector.lifecycle_phase) {
    case LifecyclePhase::terminal:
      switch (vector.terminal_outcome) {
        case TerminalOutcome::success: return completed;
        case TerminalOutcome::cancelled: return cancelled;
        case TerminalOutcome::expired: return expired;
        case TerminalOutcome::skipped: return skipped;
        case TerminalOutcome::failed:
        case TerminalOutcome::none: return failed;
      }
      return failed;
    case LifecyclePhase::active: return active;
    case LifecyclePhase::suspended: return suspended;
    case LifecyclePhase::runnable: break;
  }
  switch (vector.eligibility_state) {
    case EligibilityState::eligible_now: return waiting;
    case EligibilityState::not_eligible_until_time: return delayed;
    case EligibilityState::blocked_by_dependencies: return waiting_children;
    case EligibilityState::blocked_by_budget:
    case EligibilityState::blocked_by_quota: return rate_limited;
    case EligibilityState::blocked_by_route:
    case EligibilityState::blocked_by_operator:
    case EligibilityState::blocked_by_lane_state: return waiting;
    case EligibilityState::not_applicable: break;
  }
  return waiting;
}

// Combinations that no execution may show.
constexpr bool is_sound(const StateVector& vector) {
  const bool terminal = vector.lifecycle_phase == LifecyclePhase::terminal;
  const bool runnable = vector.lifecycle_phase == LifecyclePhase::runnable;
  const bool leased = vector.ownership_state == OwnershipState::leased;
  const bool running = vector.attempt_state == AttemptState::running_attempt;
  return terminal == (vector.terminal_outcome != TerminalOutcome::none) && leased == running &&
         runnable == (vector.eligibility_state != EligibilityState::not_applicable) &&
         (vector.lifecycle_phase == LifecyclePhase::active) ==
             (vector.ownership_state != OwnershipState::unowned) &&
         (terminal || leased) == (vector.blocking_reason == BlockingReason::none);
}

}  // namespace ff::property
