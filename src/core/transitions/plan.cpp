#include "core/transitions/plan.hpp"

#include <algorithm>

namespace ff::core {

bool ends_execution(const std::vector<Change>& changes) {
  return std::ranges::any_of(changes, [](const Change& change) {
    const auto* put = std::get_if<PutExecution>(&change);
    return put && has_ended(put->next);
  });
}

void assert_consistent(const Execution* before, const Execution& next) {
  FF_ASSERT(next.attempt.has_value() == (next.attempt_count > 0));
  FF_ASSERT(!next.attempt || next.attempt->index + 1 == next.attempt_count);
  if (const auto* active = std::get_if<Active>(&next.state)) {
    FF_ASSERT(next.attempt);
    FF_ASSERT(active->lease.fence == next.attempt->fence);
    FF_ASSERT(active->lease.fence.lease_epoch == next.last_epoch);
  }
  if (std::holds_alternative<Suspended>(next.state)) {
    FF_ASSERT(next.has_waits);
    FF_ASSERT(next.attempt);
    FF_ASSERT(!next.attempt->end);
  }
  if (!before) return;
  FF_ASSERT(next.id == before->id);
  FF_ASSERT(next.ns == before->ns);
  FF_ASSERT(next.created_at == before->created_at);
  // An older epoch than one that was given would let a worker that lost its lease write again.
  FF_ASSERT(next.last_epoch >= before->last_epoch);
  FF_ASSERT(next.attempt_count >= before->attempt_count);
}

void erase_waits_and_steps(const Execution& before, std::vector<Change>& changes) {
  const auto erase = [&](Belonging kind) { changes.emplace_back(EraseBelonging{before.id, kind}); };
  if (before.has_waits) {
    erase(Belonging::waits);
    erase(Belonging::wait_details);
  }
  if (before.signal_count > 0) {
    erase(Belonging::signal);
    erase(Belonging::signal_payload);
    erase(Belonging::signal_key);
    erase(Belonging::signal_id);
  }
  if (before.step_count > 0) erase(Belonging::step);
}

// Nothing can have a minted id yet.
Result<Plan<SubmitReply>> decide(PartitionView& view, Create command, TimePoint now) {
  Result<const Execution*> existing = nullptr;
  if (const auto& key = command.submit.idempotency_key)
    existing = view.find(command.submit.ns, *key);
  else if (!command.minted)
    existing = view.find(command.id);
  FF_TRY(existing);
  auto step = apply(*existing, std::move(command), now);
  FF_TRY(step);
  return plan_of(nullptr, std::move(*step));
}

}  // namespace ff::core
