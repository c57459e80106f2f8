#include "tests/property/model.hpp"

#include <algorithm>
#include <cmath>

namespace ff::property {
namespace {

bool same_content(const Submit& a, const Submit& b) {
  return a.ns == b.ns && a.lane == b.lane && a.kind == b.kind && a.priority == b.priority &&
         a.payload == b.payload && a.delay_until == b.delay_until && a.deadline == b.deadline &&
         a.tags == b.tags && a.policy == b.policy;
}

bool is_free(const Modelled& execution, TimePoint now) {
  return execution.phase == Phase::waiting ||
         (execution.phase == Phase::granted && execution.until <= now);
}

std::optional<TimePoint> retry_at(const Modelled& execution, const std::string& category,
                                  TimePoint now) {
  const auto& policy = execution.submit.policy.retry;
  if (!policy || execution.retries >= policy->max_retries) return std::nullopt;
  const auto& only = policy->retryable_categories;
  const bool retryable = only.empty() ? category != "permanent" && category != "cancelled"
                                      : std::ranges::find(only, category) != only.end();
  if (!retryable) return std::nullopt;
  if (const auto* fixed = std::get_if<FixedBackoff>(&policy->backoff)) return now + fixed->delay;
  const auto& growing = std::get<ExponentialBackoff>(policy->backoff);
  auto delay = growing.initial_delay;
  for (std::uint32_t i = 0; i < execution.retries; ++i) delay *= 2;
  return now + std::min(delay, growing.max_delay);
}

enum class Due : std::uint8_t { nothing, deadline, attempt_timeout, phase_over };

// At one instant the deadline comes before the timeout, and that before the rest.
Due due(const Modelled& execution, TimePoint now) {
  if (execution.phase == Phase::ended) return Due::nothing;
  auto what = Due::nothing;
  auto when = TimePoint::max();
  const auto consider = [&](Due kind, TimePoint at) {
    if (at > now || at >= when) return;
    what = kind;
    when = at;
  };
  if (execution.deadline) consider(Due::deadline, *execution.deadline);
  if (execution.phase == Phase::active && execution.attempt_deadline)
    consider(Due::attempt_timeout, *execution.attempt_deadline);
  if (execution.phase != Phase::waiting) consider(Due::phase_over, execution.until);
  return what;
}

void lose_lease(Modelled& execution, TimePoint now) {
  execution.attempts.back() = AttemptOutcome::interrupted;
  execution.revoked = false;
  execution.phase = Phase::waiting;
  if (execution.reclaims >= execution.submit.policy.max_reclaim_count)
    execution.end(ExecutionState::failed, now);
}

void fire(Modelled& execution, Due what, TimePoint now) {
  switch (what) {
    case Due::nothing: return;
    case Due::deadline:
      if (execution.phase == Phase::active || execution.paused())
        execution.attempts.back() = AttemptOutcome::failure;
      return execution.end(ExecutionState::expired, now);
    case Due::attempt_timeout:
      execution.fail_attempt("timeout", ExecutionState::expired, now);
      return;
    case Due::phase_over:
      if (execution.phase == Phase::active) return lose_lease(execution, now);
      execution.phase = Phase::waiting;
      return;
  }
}

}  // namespace

void Modelled::end(ExecutionState state, TimePoint now) {
  phase = Phase::ended;
  end_state = state;
  ended_at = now;
  cancelled_by.reset();
}

FailReply Modelled::fail_attempt(const std::string& category, ExecutionState otherwise,
                                 TimePoint now) {
  const auto again = retry_at(*this, category, now);
  attempts.back() = AttemptOutcome::failure;
  if (!again) {
    end(otherwise, now);
    return {.state = otherwise};
  }
  ++retries;
  phase = *again > now ? Phase::delayed : Phase::waiting;
  until = *again;
  return {.state = state_of(*this), .retry_at = again};
}

bool Modelled::lost_lease() const {
  return phase != Phase::ended && !replaying && !attempts.empty() &&
         attempts.back() == AttemptOutcome::interrupted;
}

// ---- Submitting and claiming -----------------------------------------------------------------------

Predicted<const Modelled*> Model::existing(const Submit& submit, TimePoint now) const {
  const Modelled* found = submit.id ? find(*submit.id) : nullptr;
  if (submit.idempotency_key) {
    const auto key = keys_.find({submit.ns, *submit.idempotency_key});
    found = key == keys_.end() ? nullptr : find(key->second);
    if (found && found->created_at + found->submit.policy.dedup_window <= now) found = nullptr;
  }
  if (found && !same_content(found->submit, submit))
    return std::unexpected(Errc::duplicate_mismatch);
  return found;
}

Modelled& Model::add(const ExecutionId& id, const Submit& submit, TimePoint now) {
  Modelled execution{.id = id,
                     .submit = submit,
                     .priority = submit.priority,
                     .tags = submit.tags,
                     .created_at = now,
                     .queued_at = now};
  execution.deadline = submit.deadline;
  if (const auto& limit = submit.policy.execution_deadline)
    execution.deadline = std::min(submit.deadline.value_or(now + *limit), now + *limit);
  if (submit.delay_until && *submit.delay_until > now) {
    execution.phase = Phase::delayed;
    execution.until = *submit.delay_until;
  }
  if (submit.idempotency_key)
    keys_.insert_or_assign(std::pair{submit.ns, *submit.idempotency_key}, id);
  removed_.erase(id);
  return executions_.insert_or_assign(id, std::move(execution)).first->second;
}

std::vector<const Modelled*> Model::claimable(const Namespace& ns, const std::vector<LaneId>& lanes,
                                              const CapabilitySet& capabilities) const {
  std::vector<const Modelled*> found;
  for (const auto& [id, each] : executions_)
    if (each.phase == Phase::waiting && each.submit.ns == ns &&
        std::ranges::find(lanes, each.submit.lane) != lanes.end() &&
        capabilities.covers(each.submit.policy.required_capabilities))
      found.push_back(&each);
  return found;
}

void Model::granted(const ExecutionId& id, const WorkerId& worker, TimePoint until) {
  auto& execution = executions_.at(id);
  execution.phase = Phase::granted;
  execution.worker = worker;
  execution.until = until;
}

bool Model::holds(const ExecutionId& id, const WorkerId& worker, const LeaseId& lease,
                  TimePoint now) const {
  const auto* execution = find(id);
  return execution && execution->phase == Phase::active && execution->worker == worker &&
         execution->fences.back().lease_id == lease && execution->until > now;
}

Predicted<Model::MayClaim> Model::may_claim(const ClaimGranted& claim, TimePoint now) const {
  const auto execution = get(claim.id);
  if (!execution) return std::unexpected(execution.error());
  if (claim.lease_id && holds(claim.id, claim.worker, *claim.lease_id, now))
    return MayClaim{.repeated = true};
  const auto phase = (*execution)->phase;
  if (phase == Phase::waiting) return std::unexpected(Errc::invalid_claim_grant);
  if (phase != Phase::granted) return std::unexpected(Errc::execution_not_leaseable);
  if ((*execution)->worker != claim.worker) return std::unexpected(Errc::invalid_claim_grant);
  if ((*execution)->until <= now) return std::unexpected(Errc::claim_grant_expired);
  return MayClaim{};
}

Predicted<Model::MayClaim> Model::may_claim(const ClaimExecution& claim, TimePoint now) const {
  const auto execution = get(claim.id);
  if (!execution) return std::unexpected(execution.error());
  if (claim.lease_id && holds(claim.id, claim.worker, *claim.lease_id, now))
    return MayClaim{.repeated = true};
  if (!is_free(**execution, now))
    return std::unexpected((*execution)->phase == Phase::granted ? Errc::grant_already_exists
                                                                 : Errc::execution_not_leaseable);
  if (!claim.capabilities.covers((*execution)->submit.policy.required_capabilities))
    return std::unexpected(Errc::capability_mismatch);
  return MayClaim{};
}

ClaimedExecution Model::claimed(const ClaimedExecution& actual, const WorkerId& worker, Millis ttl,
                                TimePoint now) {
  auto& execution = executions_.at(actual.id);
  ClaimedExecution expected = actual;
  const bool resumed = !execution.replaying && execution.paused();
  if (!resumed) {
    if (execution.replaying)
      expected.attempt_type = AttemptType::replay;
    else if (execution.attempts.empty())
      expected.attempt_type = AttemptType::initial;
    else
      expected.attempt_type = execution.lost_lease() ? AttemptType::reclaim : AttemptType::retry;
    execution.reclaims += expected.attempt_type == AttemptType::reclaim ? 1 : 0;
    execution.attempts.push_back({});
    execution.timeout_left = execution.submit.policy.attempt_timeout;
    execution.progress.reset();
  }
  execution.attempts.back() = AttemptOutcome::running;
  execution.replaying = false;
  execution.given_up = GivenUp::no;
  execution.phase = Phase::active;
  execution.worker = worker;
  execution.until = now + ttl;
  if (!execution.started_at) execution.started_at = now;
  execution.attempt_deadline.reset();
  if (execution.timeout_left) execution.attempt_deadline = now + *execution.timeout_left;

  expected.fence.lease_epoch = LeaseEpoch{execution.fences.size() + 1};
  if (resumed) expected.fence.attempt_id = execution.fences.back().attempt_id;
  expected.ns = execution.submit.ns;
  expected.lane = execution.submit.lane;
  expected.kind = execution.submit.kind;
  expected.payload = execution.submit.payload;
  expected.tags = execution.tags;
  expected.attempt_index = static_cast<std::uint32_t>(execution.attempts.size() - 1);
  expected.resumed = resumed;
  expected.lease_expires_at = execution.until;
  expected.attempt_deadline = execution.attempt_deadline;
  expected.deadline = execution.deadline;
  execution.fences.push_back(expected.fence);
  return expected;
}

// ---- Time ------------------------------------------------------------------------------------------

void Model::scan(TimePoint now) {
  for (auto& [id, execution] : executions_)
    for (auto what = due(execution, now); what != Due::nothing; what = due(execution, now))
      fire(execution, what, now);
  std::erase_if(executions_, [&](const auto& entry) {
    const auto& [id, execution] = entry;
    if (execution.phase != Phase::ended || retained_until(execution) > now) return false;
    removed_.insert(id);
    std::erase_if(keys_, [&](const auto& key) { return key.second == id; });
    return true;
  });
}

// ---- Finding ---------------------------------------------------------------------------------------

const Modelled* Model::find(const ExecutionId& id) const {
  const auto found = executions_.find(id);
  return found == executions_.end() ? nullptr : &found->second;
}

Predicted<const Modelled*> Model::get(const ExecutionId& id) const {
  if (id.partition() >= partition_count) return std::unexpected(Errc::invalid_input);
  if (const auto* found = find(id)) return found;
  return std::unexpected(Errc::execution_not_found);
}
Predicted<Modelled*> Model::get(const ExecutionId& id) {
  const auto found = std::as_const(*this).get(id);
  if (!found) return std::unexpected(found.error());
  return const_cast<Modelled*>(*found);
}

}  // namespace ff::property
