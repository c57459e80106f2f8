#include <algorithm>

#include "core/execution/fence.hpp"
#include "core/transitions/ending.hpp"
#include "core/transitions/suspending.hpp"

namespace ff::core {
namespace {

SuspendReply reply_of(const Waits& waits, const WaitDetails& details, ExecutionState state) {
  const auto& suspension = *waits.suspension;
  SuspendReply reply{.state = state,
                     .suspension_id = suspension.id,
                     .satisfied = suspension.satisfied_at_once,
                     .timeout_at = suspension.timeout_at};
  for (const auto& id : suspension.waitpoints)
    for (const auto& waitpoint : waits.waitpoints)
      if (waitpoint.id == id) reply.waitpoints.push_back({.info = info_of(waitpoint, details)});
  return reply;
}

// The newest suspension is what this call made when it came first. A caller that gives no id has one that follows from
// the call (suspension_id_of), so another call under the same lease is never taken for a repeat.
bool suspended_before(const Suspension& suspension, const Suspend& command) {
  // A lease id can be given again, an epoch cannot.
  return suspension.id == command.suspension_id.value_or(SuspensionId{}) &&
         suspension.lease_id == command.fence.lease_id &&
         suspension.lease_epoch == command.fence.lease_epoch;
}

// Makes it the newest of `change`.
Result<void> add_suspension(WaitingChange& change, Suspend& command, TimePoint now) {
  const auto& execution = change.next;
  Suspension suspension{.id = command.suspension_id.value_or(SuspensionId{}),
                        .lease_id = command.fence.lease_id,
                        .lease_epoch = command.fence.lease_epoch,
                        .attempt_index = execution.attempt->index,
                        .reason = command.reason,
                        .since = now,
                        .on_timeout = command.on_timeout,
                        .resume_delay = command.resume_delay};
  if (command.timeout) suspension.timeout_at = now + *command.timeout;
  auto terms = terms_of(command);
  terms.signals_max = execution.policy.max_signals;
  for (auto& wanted : command.waitpoints) {
    const auto opened =
        open_waitpoint(change.waits, *change.details, std::move(wanted), execution.id, now);
    FF_TRY(opened);
    opened->waitpoint->state = WaitpointState::active;
    suspension.waitpoints.push_back(opened->waitpoint->id);
  }
  FF_TRY(check_condition(command.condition, terms));
  suspension.condition = std::move(command.condition);
  change.details->state = std::move(command.state);
  change.waits.suspension = std::move(suspension);
  return {};
}

// Signals that arrived before the suspension count, in their order, until they are enough. Returns whether
// they are. Reads what was passed over by earlier suspensions and what arrived since the newest one.
Result<bool> count_earlier_signals(PartitionView& view, WaitingChange& change) {
  auto& waits = change.waits;
  auto& suspension = *waits.suspension;
  auto& passed_over = change.details->passed_over;
  if (passed_over.empty() && waits.first_uncounted >= change.next.signal_count) return false;
  auto earlier = view.find_signals(change.next, passed_over);
  FF_TRY(earlier);
  auto newer = view.find_signals(change.next, waits.first_uncounted);
  FF_TRY(newer);
  earlier->insert(earlier->end(), newer->begin(), newer->end());
  passed_over.clear();
  bool enough = false;
  for (auto& signal : *earlier) {
    if (signal.counted_for) continue;
    auto* waitpoint = signal.waitpoint ? find_waitpoint(waits, *signal.waitpoint) : nullptr;
    if (signal.waitpoint && !waitpoint) continue;  // closed: it can never count
    const bool bound = !waitpoint || std::ranges::find(suspension.waitpoints, waitpoint->id) !=
                                         suspension.waitpoints.end();
    const auto effect = enough || !bound ? signal.effect : count_for_suspension(suspension, signal);
    if (!signal.counted_for) {
      passed_over.push_back(signal.index);
      continue;
    }
    enough = effect == SignalEffect::resume_condition_satisfied;
    signal.effect = effect;
    if (waitpoint) waitpoint->counted += 1;
    change.signals.push_back(signal);
  }
  waits.first_uncounted = change.next.signal_count;
  return enough;
}

}  // namespace

Result<Plan<SuspendReply>> decide(PartitionView& view, Suspend command, TimePoint now) {
  const auto found = view.find(command.id);
  FF_TRY(found);
  if (!*found) return refusals::not_found(command.id);
  const Execution before = **found;
  auto waits = view.find_waits(before);
  FF_TRY(waits);
  auto details = view.find_details(before, *waits);
  FF_TRY(details);
  if (waits->suspension && suspended_before(*waits->suspension, command))
    return Plan<SuspendReply>{.reply = reply_of(*waits, *details, public_state(before))};
  const auto active = check_fence(before, command.fence, now);
  FF_TRY(active);

  // The waitpoints of the suspension before are over.
  std::erase_if(waits->waitpoints, [&](const WaitpointInfo& each) {
    if (!is_open(each)) details->questions.erase(each.id);
    return !is_open(each);
  });
  WaitingChange change{.next = before, .waits = std::move(*waits), .details = std::move(*details)};
  FF_TRY(add_suspension(change, command, now));
  const auto enough = count_earlier_signals(view, change);
  FF_TRY(enough);
  auto& made = *change.waits.suspension;
  if (*enough) {
    made.satisfied_at_once = true;
    change.next.wake = Wake{.suspension_id = made.id, .cause = WakeCause::signals, .at = now};
    close_suspension(change.waits, "resumed", now);
  } else {
    change.next = paused(before, *active, {.at = now, .how = LeaseEnd::suspended});
    change.next.wake.reset();
    change.next.state = Suspended{.id = made.id,
                                  .reason = made.reason,
                                  .since = now,
                                  .timeout_at = made.timeout_at,
                                  .on_timeout = made.on_timeout};
  }
  auto reply = reply_of(change.waits, *change.details, public_state(change.next));
  const auto event = *enough ? EventType::resumed : EventType::suspended;
  return plan_of(before, std::move(change), event, std::move(reply));
}

Result<Plan<EndReply>> decide(PartitionView& view, Resume command, TimePoint now) {
  const auto found = view.find(command.id);
  FF_TRY(found);
  if (!*found) return refusals::not_found(command.id);
  const Execution before = **found;
  const auto* suspended = std::get_if<Suspended>(&before.state);
  if (!suspended) return refusals::not_suspended(before.id, public_state(before));
  auto waits = view.find_waits(before);
  FF_TRY(waits);
  WaitingChange change{.next = before, .waits = std::move(*waits)};
  resume(change,
         {.suspension_id = suspended->id,
          .cause = WakeCause::operator_,
          .at = now,
          .reason = std::move(command.reason)},
         "resumed", command.delay);
  const auto state = public_state(change.next);
  return plan_of(before, std::move(change), EventType::resumed, EndReply{state});
}

}  // namespace ff::core
