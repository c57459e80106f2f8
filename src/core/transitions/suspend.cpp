#include <algorithm>

#include "core/execution/fence.hpp"
#include "core/transitions/ending.hpp"
#include "core/transitions/suspending.hpp"

namespace ff::core {
namespace {

SuspendReply reply_of(const Waits& waits, ExecutionState state) {
  const auto& suspension = *waits.suspension;
  SuspendReply reply{.state = state,
                     .suspension_id = suspension.id,
                     .satisfied = suspension.satisfied_at_once,
                     .timeout_at = suspension.timeout_at};
  for (const auto& id : suspension.waitpoints)
    for (const auto& waitpoint : waits.waitpoints)
      if (waitpoint.id == id) reply.waitpoints.push_back({.info = waitpoint});
  return reply;
}

// A repeated call, also without a suspension id, finds what its lease did.
bool suspended_before(const Suspension& suspension, const Suspend& command) {
  if (suspension.lease_id != command.fence.lease_id) return false;
  return !suspension.satisfied_at_once || command.suspension_id == suspension.id;
}

Result<Suspension> new_suspension(const Execution& execution, Waits& waits, Suspend& command,
                                  TimePoint now) {
  Suspension suspension{.id = command.suspension_id.value_or(SuspensionId{}),
                        .lease_id = command.fence.lease_id,
                        .attempt_index = execution.attempt->index,
                        .reason = command.reason,
                        .since = now,
                        .condition = std::move(command.condition),
                        .on_timeout = command.on_timeout,
                        .resume_delay = command.resume_delay,
                        .state = std::move(command.state)};
  if (command.timeout) suspension.timeout_at = now + *command.timeout;
  std::vector<WaitpointKey> keys;
  for (auto& wanted : command.waitpoints) {
    const auto opened = open_waitpoint(execution.id, waits, std::move(wanted), now);
    FF_TRY(opened);
    auto& waitpoint = *opened->waitpoint;
    waitpoint.state = WaitpointState::active;
    suspension.waitpoints.push_back(waitpoint.id);
    keys.push_back(waitpoint.key);
  }
  FF_TRY(check_condition(suspension.condition, keys, suspension.timeout_at.has_value()));
  return suspension;
}

// Signals that arrived before the suspension count, in their order, until they are enough. Returns whether
// they are.
Result<bool> count_earlier_signals(PartitionView& view, WaitingChange& change) {
  auto& waits = change.waits;
  auto& suspension = *waits.suspension;
  if (waits.first_uncounted >= change.next.signal_count) return false;
  auto earlier = view.find_signals(change.next, waits.first_uncounted);
  FF_TRY(earlier);
  bool enough = false;
  std::optional<std::uint32_t> first_uncounted;
  for (auto& signal : *earlier) {
    const bool bound =
        !signal.waitpoint ||
        std::ranges::find(suspension.waitpoints, *signal.waitpoint) != suspension.waitpoints.end();
    if (!enough && !signal.counted_for && bound) {
      const auto effect = count_for_suspension(suspension, signal);
      enough = effect == SignalEffect::resume_condition_satisfied;
      if (signal.counted_for) {
        signal.effect = effect;
        if (auto* waitpoint = signal.waitpoint ? find_waitpoint(waits, *signal.waitpoint) : nullptr)
          waitpoint->counted += 1;
        change.signals.push_back(signal);
      }
    }
    if (!signal.counted_for && !first_uncounted) first_uncounted = signal.index;
  }
  waits.first_uncounted = first_uncounted.value_or(change.next.signal_count);
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
  if (waits->suspension && suspended_before(*waits->suspension, command))
    return Plan<SuspendReply>{.reply = reply_of(*waits, public_state(before))};
  const auto active = check_fence(before, command.fence, now);
  FF_TRY(active);

  // The waitpoints of the suspension before are over.
  std::erase_if(waits->waitpoints, [](const WaitpointInfo& each) { return !is_open(each); });
  WaitingChange change{.next = before, .waits = std::move(*waits)};
  auto suspension = new_suspension(before, change.waits, command, now);
  FF_TRY(suspension);
  change.waits.suspension = std::move(*suspension);
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
  auto reply = reply_of(change.waits, public_state(change.next));
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
