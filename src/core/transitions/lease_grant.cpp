#include <fmt/format.h>

#include "base/try.hpp"
#include "core/execution/fence.hpp"
#include "core/refusals.hpp"
#include "core/transitions/transitions.hpp"

namespace ff::core {
namespace {

Result<void> has_capabilities(const Execution& execution, const CapabilitySet& capabilities) {
  const auto& required = execution.policy.required_capabilities;
  if (capabilities.covers(required)) return {};
  const auto missing = fmt::format("{}", fmt::join(capabilities.missing(required), ","));
  return refusals::capability_mismatch(execution.id, missing);
}

// An execution with a quota starts only with a token, and while that is valid: later it may have been taken
// for lost, and its slot given to another.
Result<void> is_admitted(const Execution& execution, const std::optional<QuotaToken>& token,
                         TimePoint now) {
  if (!execution.policy.quota || (token && token->valid_until > now)) return {};
  return refusals::admission_expired(execution.id, *execution.policy.quota);
}

std::optional<QuotaTokenId> id_of(const std::optional<QuotaToken>& token) {
  return token ? std::optional(token->id) : std::nullopt;
}

Result<void> is_free(const Execution& execution, Errc otherwise, TimePoint now) {
  if (is_claimable(execution, now)) return {};
  if (std::holds_alternative<Granted>(execution.state)) return refusals::set_aside(execution.id);
  return refusals::cannot_be_claimed(otherwise, execution.id, public_state(execution));
}

Result<void> holds_grant(const Execution& execution, const WorkerId& worker, TimePoint now) {
  const auto* granted = std::get_if<Granted>(&execution.state);
  if (!granted && !is_claimable(execution, now))
    return refusals::cannot_be_claimed(Errc::execution_not_leaseable, execution.id,
                                       public_state(execution));
  if (!granted || granted->worker != worker) return refusals::no_grant(execution.id, worker);
  if (granted->expires_at <= now) return refusals::grant_expired(execution.id);
  return {};
}

Result<void> may_claim(const Execution& execution, const LeaseGrant& command, TimePoint now) {
  switch (command.source) {
    case LeaseSource::ready:
      if (auto free = is_free(execution, Errc::execution_not_leaseable, now); !free) return free;
      if (auto capable = has_capabilities(execution, command.capabilities); !capable)
        return capable;
      return is_admitted(execution, command.token, now);
    case LeaseSource::grant: return holds_grant(execution, command.worker, now);
    case LeaseSource::held: break;
  }
  return refusals::not_held(execution.id, command.worker);
}

ClaimedExecution claimed(const Execution& execution, const Active& active) {
  const auto& attempt = *execution.attempt;
  ClaimedExecution claimed{.id = execution.id,
                           .ns = execution.ns,
                           .lane = execution.lane,
                           .kind = execution.kind,
                           .payload = {},
                           .content_type = execution.content_type,
                           .traceparent = execution.traceparent,
                           .tags = execution.tags,
                           .attempt_index = attempt.index,
                           .attempt_type = attempt.type,
                           .resumed = !attempt.past_leases.empty(),
                           .wake = execution.wake,
                           .fence = active.lease.fence,
                           .lease_expires_at = active.lease.expires_at,
                           .attempt_deadline = active.attempt_deadline,
                           .deadline = execution.deadline,
                           .budgets = execution.policy.budgets};
  if (execution.flow) {
    claimed.flow = execution.flow->flow;
    if (!execution.flow->node.str().empty()) claimed.node = execution.flow->node;
  }
  return claimed;
}

std::string cause_of(const Execution& execution, AttemptType type) {
  switch (type) {
    case AttemptType::initial: return {};
    case AttemptType::retry:
    case AttemptType::reclaim: return execution.attempt->end->reason;
    case AttemptType::replay: return execution.pending_replay->reason;
  }
  return {};
}

Attempt begin_attempt(const Execution& execution, AttemptType type, TimePoint now) {
  Attempt attempt{.index = execution.attempt_count,
                  .type = type,
                  .cause = cause_of(execution, type),
                  .fence = {},
                  .worker = {},
                  .started_at = now};
  if (type == AttemptType::replay) {
    attempt.requested_by = execution.pending_replay->requested_by;
    attempt.requested_at = execution.pending_replay->at;
  }
  return attempt;
}

}  // namespace

Decision<GrantIssue> apply(const Execution& execution, const GrantIssue& command, TimePoint now) {
  FF_TRY(is_free(execution, Errc::execution_not_eligible, now));
  FF_TRY(has_capabilities(execution, command.capabilities));
  FF_TRY(is_admitted(execution, command.token, now));

  Execution next = execution;
  const auto expires_at = now + command.grant_ttl;
  next.state =
      Granted{.worker = command.worker, .expires_at = expires_at, .token = id_of(command.token)};
  return Step<GrantedExecution>{.reply = {.id = execution.id, .grant_expires_at = expires_at},
                                .next = std::move(next),
                                .event = EventType::granted};
}

Decision<LeaseGrant> apply(const Execution& execution, const LeaseGrant& command, TimePoint now) {
  const auto* active = std::get_if<Active>(&execution.state);
  if (active && active->lease.fence.lease_id == command.lease_id &&
      active->lease.worker == command.worker && active->lease.expires_at > now)
    return Step<ClaimedExecution>{.reply = claimed(execution, *active)};
  FF_TRY(may_claim(execution, command, now));

  Execution next = execution;
  std::optional<Attempt> archive;
  const auto type = next_attempt_type(execution);
  if (type) {
    archive = std::move(next.attempt);
    next.attempt = begin_attempt(execution, *type, now);
    next.attempt->fence.attempt_id = command.attempt_id;
    next.attempt->timeout_left = execution.policy.attempt_timeout;
    next.attempt_count += 1;
    next.reclaim_count += *type == AttemptType::reclaim ? 1 : 0;
    next.pending_replay.reset();
    next.progress.reset();
  }
  auto& attempt = *next.attempt;
  attempt.worker = command.worker;
  attempt.fence.lease_id = command.lease_id;
  attempt.fence.lease_epoch = LeaseEpoch{std::to_underlying(execution.last_epoch) + 1};
  next.last_epoch = attempt.fence.lease_epoch;
  if (!next.started_at) next.started_at = now;

  Active lease{.lease = {.fence = attempt.fence,
                         .worker = command.worker,
                         .acquired_at = now,
                         .expires_at = now + command.lease_ttl}};
  if (const auto left = std::exchange(attempt.timeout_left, std::nullopt))
    lease.attempt_deadline = now + *left;
  lease.token = command.source == LeaseSource::grant ? held_token(execution) : id_of(command.token);
  next.state = lease;
  auto reply = claimed(next, lease);
  return Step<ClaimedExecution>{.reply = std::move(reply),
                                .next = std::move(next),
                                .event = EventType::claimed,
                                .archive = std::move(archive)};
}

}  // namespace ff::core
