#include "core/execution/execution.hpp"

#include <algorithm>

#include "base/overloaded.hpp"
#include "core/flows/flow.hpp"
#include "core/suspensions/suspension.hpp"

namespace ff::core {
namespace {

// Its worker lost the lease and no other has claimed it yet.
const AttemptEnd* interruption(const Execution& execution) {
  if (execution.pending_replay || !execution.attempt || !execution.attempt->end) return nullptr;
  const auto& end = *execution.attempt->end;
  return end.outcome == AttemptOutcome::interrupted ? &end : nullptr;
}

AttemptState pending_attempt(const Execution& execution) {
  const auto type = next_attempt_type(execution);
  if (!type) return AttemptState::attempt_interrupted;
  switch (*type) {
    case AttemptType::initial: return AttemptState::pending_first_attempt;
    case AttemptType::retry: return AttemptState::pending_retry_attempt;
    case AttemptType::reclaim: return AttemptState::attempt_interrupted;
    case AttemptType::replay: return AttemptState::pending_replay_attempt;
  }
  return AttemptState::pending_first_attempt;
}

StateVector runnable(const Execution& execution, EligibilityState eligibility,
                     BlockingReason blocking) {
  return {.lifecycle_phase = LifecyclePhase::runnable,
          .ownership_state = OwnershipState::unowned,
          .eligibility_state = eligibility,
          .blocking_reason = blocking,
          .terminal_outcome = TerminalOutcome::none,
          .attempt_state = pending_attempt(execution)};
}

EligibilityState eligibility_of(BlockingReason reason) {
  switch (reason) {
    case BlockingReason::waiting_for_budget: return EligibilityState::blocked_by_budget;
    case BlockingReason::waiting_for_quota: return EligibilityState::blocked_by_quota;
    case BlockingReason::paused_by_operator:
    case BlockingReason::paused_by_flow_cancel: return EligibilityState::blocked_by_operator;
    case BlockingReason::paused_by_policy: return EligibilityState::blocked_by_lane_state;
    default: return EligibilityState::blocked_by_route;
  }
}

bool is_limit(BlockingReason reason) {
  return reason == BlockingReason::waiting_for_budget ||
         reason == BlockingReason::waiting_for_quota;
}

// The contract counts an execution whose lease was lost as active until another worker has it.
StateVector waiting_vector(const Execution& execution) {
  const auto* lost = interruption(execution);
  if (!lost)
    return runnable(execution, EligibilityState::eligible_now, BlockingReason::waiting_for_worker);
  const bool revoked = execution.attempt->past_leases.back().end == LeaseEnd::revoked;
  return {.lifecycle_phase = LifecyclePhase::active,
          .ownership_state =
              revoked ? OwnershipState::lease_revoked : OwnershipState::lease_expired_reclaimable,
          .eligibility_state = EligibilityState::not_applicable,
          .blocking_reason = BlockingReason::waiting_for_worker,
          .terminal_outcome = TerminalOutcome::none,
          .attempt_state = AttemptState::attempt_interrupted};
}

StateVector ended_vector(const Execution& execution, const Ended& ended) {
  const auto outcome = std::visit(Overloaded{
                                      [](const Completed&) { return TerminalOutcome::success; },
                                      [](const Failed&) { return TerminalOutcome::failed; },
                                      [](const Cancelled&) { return TerminalOutcome::cancelled; },
                                      [](const Expired&) { return TerminalOutcome::expired; },
                                      [](const Skipped&) { return TerminalOutcome::skipped; },
                                  },
                                  ended.outcome);
  return {.lifecycle_phase = LifecyclePhase::terminal,
          .ownership_state = OwnershipState::unowned,
          .eligibility_state = EligibilityState::not_applicable,
          .blocking_reason = BlockingReason::none,
          .terminal_outcome = outcome,
          .attempt_state =
              execution.attempt ? AttemptState::attempt_terminal : pending_attempt(execution)};
}

StateVector suspended_vector(const Suspended& suspended) {
  return {.lifecycle_phase = LifecyclePhase::suspended,
          .ownership_state = OwnershipState::unowned,
          .eligibility_state = EligibilityState::not_applicable,
          .blocking_reason = blocking_reason(suspended.reason),
          .terminal_outcome = TerminalOutcome::none,
          .attempt_state = AttemptState::attempt_interrupted};
}

BlockingReason delay_reason(const Execution& execution) {
  const auto next = next_attempt_type(execution);
  if (next == AttemptType::retry) return BlockingReason::waiting_for_retry_backoff;
  const bool was_suspended = !next && !execution.attempt->past_leases.empty() &&
                             execution.attempt->past_leases.back().end == LeaseEnd::suspended;
  return was_suspended ? BlockingReason::waiting_for_resume_delay
                       : BlockingReason::waiting_for_delay;
}

constexpr StateVector active_vector{.lifecycle_phase = LifecyclePhase::active,
                                    .ownership_state = OwnershipState::leased,
                                    .eligibility_state = EligibilityState::not_applicable,
                                    .blocking_reason = BlockingReason::none,
                                    .terminal_outcome = TerminalOutcome::none,
                                    .attempt_state = AttemptState::running_attempt};

void add_outcome(ExecutionInfo& info, const Outcome& outcome) {
  std::visit(Overloaded{
                 [](const Completed&) {},
                 [&](const Failed& failed) {
                   info.failure_reason = failed.reason;
                   if (!failed.category.empty()) info.failure_category = failed.category;
                 },
                 [&](const Cancelled& cancelled) { info.cancel_reason = cancelled.reason; },
                 [&](const Expired& expired) { info.failure_reason = expired.reason; },
                 [&](const Skipped& skipped) { info.failure_reason = skipped.reason; },
             },
             outcome);
}

}  // namespace

StateVector state_vector(const Execution& execution) {
  using enum BlockingReason;
  return std::visit(Overloaded{
                        [&](const Waiting&) { return waiting_vector(execution); },
                        [&](const Granted&) { return waiting_vector(execution); },
                        [&](const Delayed&) {
                          return runnable(execution, EligibilityState::not_eligible_until_time,
                                          delay_reason(execution));
                        },
                        [&](const WaitingChildren&) {
                          return runnable(execution, EligibilityState::blocked_by_dependencies,
                                          waiting_for_children);
                        },
                        [](const Suspended& suspended) { return suspended_vector(suspended); },
                        [](const Active&) { return active_vector; },
                        [&](const Ended& ended) { return ended_vector(execution, ended); },
                        [&](const Blocked& blocked) {
                          return runnable(execution, eligibility_of(blocked.reason),
                                          blocked.reason);
                        },
                    },
                    execution.state);
}

ExecutionState public_state(const Execution& execution) {
  return std::visit(
      Overloaded{
          [&](const Waiting&) {
            return interruption(execution) ? ExecutionState::active : ExecutionState::waiting;
          },
          [&](const Granted&) {
            return interruption(execution) ? ExecutionState::active : ExecutionState::waiting;
          },
          [](const Delayed&) { return ExecutionState::delayed; },
          [](const WaitingChildren&) { return ExecutionState::waiting_children; },
          [](const Suspended&) { return ExecutionState::suspended; },
          [](const Active&) { return ExecutionState::active; },
          [](const Ended& ended) {
            return std::visit(Overloaded{
                                  [](const Completed&) { return ExecutionState::completed; },
                                  [](const Failed&) { return ExecutionState::failed; },
                                  [](const Cancelled&) { return ExecutionState::cancelled; },
                                  [](const Expired&) { return ExecutionState::expired; },
                                  [](const Skipped&) { return ExecutionState::skipped; },
                              },
                              ended.outcome);
          },
          [](const Blocked& blocked) {
            return is_limit(blocked.reason) ? ExecutionState::rate_limited
                                            : ExecutionState::waiting;
          },
      },
      execution.state);
}

ExecutionInfo info_of(const Execution& execution) {
  ExecutionInfo info{.id = execution.id,
                     .ns = execution.ns,
                     .lane = execution.lane,
                     .kind = execution.kind,
                     .priority = execution.priority,
                     .state = public_state(execution),
                     .state_vector = state_vector(execution),
                     .tags = execution.tags,
                     .policy = execution.policy,
                     .idempotency_key = execution.idempotency_key,
                     .content_type = execution.content_type,
                     .traceparent = execution.traceparent,
                     .created_at = execution.created_at,
                     .deadline = execution.deadline,
                     .started_at = execution.started_at,
                     .attempts = execution.attempt_count,
                     .retries = execution.retry_count,
                     .reclaims = execution.reclaim_count,
                     .replays = execution.replay_count,
                     .lease_epoch = execution.last_epoch,
                     .progress = execution.progress,
                     .signals = execution.signal_count};
  if (execution.flow) {
    info.flow = execution.flow->flow;
    if (!execution.flow->node.str().empty()) info.node = execution.flow->node;
    if (has_subflow(*execution.flow))
      info.subflow = subflow_id(execution.id, execution.replay_count);
  }
  if (execution.attempt && execution.attempt->end && !execution.attempt->end->reason.empty())
    info.failure_reason = execution.attempt->end->reason;
  std::visit(Overloaded{
                 [](const Waiting&) {},
                 [&](const Granted& granted) { info.granted_to = granted.worker; },
                 [&](const Delayed& delayed) { info.delay_until = delayed.until; },
                 [](const WaitingChildren&) {},
                 [&](const Suspended& suspended) {
                   info.suspended_since = suspended.since;
                   info.suspension_timeout = suspended.timeout_at;
                 },
                 [&](const Active& active) {
                   info.worker = active.lease.worker;
                   info.lease_expires_at = active.lease.expires_at;
                 },
                 [&](const Ended& ended) {
                   info.completed_at = ended.at;
                   info.failure_reason.reset();
                   add_outcome(info, ended.outcome);
                 },
                 [&](const Blocked& blocked) { info.blocking_detail = blocked.detail; },
             },
             execution.state);
  return info;
}

bool has_ended(const Execution& execution) {
  return std::holds_alternative<Ended>(execution.state);
}

std::optional<AttemptType> next_attempt_type(const Execution& execution) {
  if (execution.pending_replay) return AttemptType::replay;
  if (!execution.attempt) return AttemptType::initial;
  if (!execution.attempt->end) return std::nullopt;
  return execution.attempt->end->outcome == AttemptOutcome::interrupted ? AttemptType::reclaim
                                                                        : AttemptType::retry;
}

bool is_claimable(const Execution& execution, TimePoint now) {
  if (const auto* granted = std::get_if<Granted>(&execution.state))
    return granted->expires_at <= now;
  if (const auto* blocked = std::get_if<Blocked>(&execution.state))
    return !is_pause(blocked->reason);
  return std::holds_alternative<Waiting>(execution.state);
}

bool is_pause(BlockingReason reason) {
  return reason == BlockingReason::paused_by_operator ||
         reason == BlockingReason::paused_by_policy ||
         reason == BlockingReason::paused_by_flow_cancel;
}

bool waits_for_needs(const Execution& execution) {
  return std::holds_alternative<Waiting>(execution.state) && !interruption(execution) &&
         !needs_of(execution.policy).empty();
}

bool is_reclaimable(const Execution& execution) {
  return public_state(execution) == ExecutionState::active &&
         !std::holds_alternative<Active>(execution.state);
}

bool may_show(const Execution& execution, ExecutionState state) {
  const auto stored = public_state(execution);
  if (stored == state) return true;
  const bool limited = !execution.policy.budgets.empty() || execution.policy.quota;
  return state == ExecutionState::rate_limited && stored == ExecutionState::waiting && limited &&
         waits_for_needs(execution);
}

void show_held_back(ExecutionInfo& info, BlockingReason reason, std::string detail) {
  if (is_limit(reason)) info.state = ExecutionState::rate_limited;
  info.state_vector.eligibility_state = eligibility_of(reason);
  info.state_vector.blocking_reason = reason;
  info.blocking_detail = std::move(detail);
}

std::optional<QuotaTokenId> held_token(const Execution& execution) {
  if (const auto* granted = std::get_if<Granted>(&execution.state)) return granted->token;
  if (const auto* active = std::get_if<Active>(&execution.state)) return active->token;
  return std::nullopt;
}

std::int64_t ready_score(std::int32_t priority, TimePoint queued_at) {
  constexpr std::int64_t priority_step = 1'000'000'000'000;
  return queued_at.time_since_epoch().count() - priority * priority_step;
}

std::optional<Timer> next_timer(const Execution& execution) {
  std::optional<Timer> next;
  const auto consider = [&](TimerKind kind, TimePoint due) {
    if (!next || due < next->due) next = Timer{.kind = kind, .due = due};
  };
  if (has_ended(execution)) return next;
  // At one instant the deadline wins: what happens then is final.
  if (execution.deadline) consider(TimerKind::execution_deadline, *execution.deadline);
  if (execution.waitpoint_expiry)
    consider(TimerKind::waitpoint_expiry, *execution.waitpoint_expiry);
  std::visit(
      Overloaded{
          [](const Waiting&) {},
          [&](const Granted& granted) { consider(TimerKind::grant_expiry, granted.expires_at); },
          [&](const Delayed& delayed) { consider(TimerKind::delay, delayed.until); },
          [](const WaitingChildren&) {},
          [&](const Suspended& suspended) {
            if (suspended.timeout_at)
              consider(TimerKind::suspension_timeout, *suspended.timeout_at);
          },
          [&](const Active& active) {
            if (active.attempt_deadline)
              consider(TimerKind::attempt_timeout, *active.attempt_deadline);
            consider(TimerKind::lease_expiry, active.lease.expires_at);
          },
          [](const Ended&) {},
          [](const Blocked&) {},
      },
      execution.state);
  return next;
}

TimePoint idempotency_until(const Execution& execution) {
  return execution.idempotency_key ? execution.created_at + execution.policy.dedup_window
                                   : execution.created_at;
}

TimePoint retained_until(const Execution& execution) {
  const auto* ended = std::get_if<Ended>(&execution.state);
  if (!ended || execution.flow) return limits::time_max;  // a node goes with its flow
  return std::max(ended->at + execution.retention, idempotency_until(execution));
}

}  // namespace ff::core
