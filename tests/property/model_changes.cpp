// Operations of workers and operators on one execution, in the model.
#include <algorithm>

#include "tests/property/model.hpp"

namespace ff::property {

Predicted<Modelled*> Model::under_lease(const ExecutionId& id, const Fence& fence, TimePoint now) {
  const auto found = get(id);
  if (!found) return found;
  const auto& execution = **found;
  if (execution.phase != Phase::active) {
    if (!execution.lost_lease()) return std::unexpected(Errc::execution_not_active);
    return std::unexpected(execution.revoked ? Errc::lease_revoked : Errc::lease_expired);
  }
  if (execution.until <= now) return std::unexpected(Errc::lease_expired);
  if (execution.fences.back() != fence) return std::unexpected(Errc::stale_lease);
  return found;
}

Predicted<RenewReply> Model::apply(const Renew& call, TimePoint now) {
  const auto held = under_lease(call.id, call.fence, now);
  if (!held) return std::unexpected(held.error());
  (*held)->until = now + call.lease_ttl;
  return RenewReply{(*held)->until};
}

Predicted<Done> Model::apply(const UpdateProgress& call, TimePoint now) {
  const auto held = under_lease(call.id, call.fence, now);
  if (!held) return std::unexpected(held.error());
  auto& progress = (*held)->progress;
  if (!progress) progress.emplace();
  progress->at = now;
  if (call.percent) progress->percent = call.percent;
  if (!call.message.empty()) progress->message = call.message;
  return Done{};
}

Predicted<EndReply> Model::apply(const Complete& call, TimePoint now) {
  if (const auto* before = find(call.id);
      before && before->given_up == GivenUp::completed && before->fences.back() == call.fence)
    return EndReply{ExecutionState::completed};
  const auto held = under_lease(call.id, call.fence, now);
  if (!held) return std::unexpected(held.error());
  (*held)->attempts.back() = AttemptOutcome::success;
  (*held)->given_up = GivenUp::completed;
  (*held)->result = call.result;
  (*held)->end(ExecutionState::completed, now);
  return EndReply{ExecutionState::completed};
}

Predicted<FailReply> Model::apply(const Fail& call, TimePoint now) {
  if (const auto* before = find(call.id);
      before && before->given_up == GivenUp::failed && before->fences.back() == call.fence)
    return before->fail_reply;
  const auto held = under_lease(call.id, call.fence, now);
  if (!held) return std::unexpected(held.error());
  (*held)->given_up = GivenUp::failed;
  (*held)->fail_reply = (*held)->fail_attempt(call.category, ExecutionState::failed, now);
  return (*held)->fail_reply;
}

Predicted<EndReply> Model::pause(const ExecutionId& id, const Fence& fence, GivenUp how,
                                 TimePoint until, TimePoint now) {
  if (const auto* before = find(id);
      before && before->given_up == how && before->paused() && before->fences.back() == fence)
    return EndReply{state_of(*before)};
  const auto held = under_lease(id, fence, now);
  if (!held) return std::unexpected(held.error());
  auto& execution = **held;
  execution.attempts.back() = AttemptOutcome::paused;
  execution.given_up = how;
  if (execution.attempt_deadline)
    execution.timeout_left = std::max(*execution.attempt_deadline - now, Millis{1});
  execution.phase = until > now ? Phase::delayed : Phase::waiting;
  execution.until = until;
  return EndReply{state_of(execution)};
}

Predicted<EndReply> Model::apply(const Delay& call, TimePoint now) {
  return pause(call.id, call.fence, GivenUp::delayed, call.until, now);
}
Predicted<EndReply> Model::apply(const WaitForChildren& call, TimePoint now) {
  return pause(call.id, call.fence, GivenUp::waited, now, now);  // there are no children
}

Predicted<EndReply> Model::apply(const HandBack& call, TimePoint now) {
  return pause(call.id, call.fence, GivenUp::handed_back, now, now);
}

Predicted<EndReply> Model::apply(const Cancel& call, TimePoint now) {
  const auto found = get(call.id);
  if (!found) return std::unexpected(found.error());
  auto& execution = **found;
  const EndReply cancelled{ExecutionState::cancelled};
  const bool before =
      execution.phase == Phase::ended && execution.end_state == ExecutionState::cancelled;
  if (before && (!call.fence || execution.cancelled_by == call.fence)) return cancelled;
  if (call.fence)
    if (const auto held = under_lease(call.id, *call.fence, now); !held)
      return std::unexpected(held.error());
  if (execution.phase == Phase::ended) return std::unexpected(Errc::execution_not_active);
  if (execution.phase == Phase::active || execution.paused())
    execution.attempts.back() = AttemptOutcome::cancelled;
  execution.end(ExecutionState::cancelled, now);
  execution.cancelled_by = call.fence;
  return cancelled;
}

Predicted<RevokeReply> Model::apply(const RevokeLease& call, TimePoint) {
  const auto found = get(call.id);
  if (!found) return std::unexpected(found.error());
  auto& execution = **found;
  RevokeReply reply{.lease_epoch = execution.epoch()};
  if (execution.phase != Phase::active) {
    if (!execution.lost_lease()) return std::unexpected(Errc::execution_not_active);
    reply.status =
        execution.revoked ? RevokeStatus::already_revoked : RevokeStatus::already_expired;
    return reply;
  }
  if (call.lease_id && *call.lease_id != execution.fences.back().lease_id)
    return std::unexpected(Errc::stale_lease);
  execution.attempts.back() = AttemptOutcome::interrupted;
  execution.revoked = true;
  execution.phase = Phase::waiting;
  return reply;
}

Predicted<PriorityReply> Model::apply(const ChangePriority& call, TimePoint) {
  if (call.priority > limits::priority_max) return std::unexpected(Errc::invalid_input);
  const auto found = get(call.id);
  if (!found) return std::unexpected(found.error());
  if ((*found)->phase == Phase::ended) return std::unexpected(Errc::execution_not_eligible);
  const auto before = std::exchange((*found)->priority, call.priority);
  return PriorityReply{.before = before, .after = call.priority};
}

Predicted<TagsReply> Model::apply(const SetTags& call, TimePoint) {
  const auto found = get(call.id);
  if (!found) return std::unexpected(found.error());
  auto& tags = (*found)->tags;
  for (const auto& [key, value] : call.set) tags[key] = value;
  for (const auto& key : call.remove) tags.erase(key);
  return TagsReply{tags};
}

Predicted<EndReply> Model::apply(const Replay& call, TimePoint now) {
  const auto found = get(call.id);
  if (!found) return std::unexpected(found.error());
  auto& execution = **found;
  if (execution.phase != Phase::ended) return std::unexpected(Errc::execution_not_terminal);
  if (execution.replays >= execution.submit.policy.max_replay_count)
    return std::unexpected(Errc::max_replays_exhausted);
  ++execution.replays;
  execution.retries = execution.reclaims = 0;
  execution.phase = Phase::waiting;
  execution.replaying = true;
  execution.given_up = GivenUp::no;
  execution.result.reset();
  if (execution.deadline) execution.deadline = now + (*execution.deadline - execution.queued_at);
  execution.queued_at = now;
  return EndReply{ExecutionState::waiting};
}

}  // namespace ff::property
