#include "core/transitions/suspending.hpp"

namespace ff::core {

void close_suspension(Waits& waits, std::string_view reason, TimePoint now) {
  FF_ASSERT(waits.suspension);
  auto& suspension = *waits.suspension;
  suspension.closed_at = now;
  suspension.close_reason = reason;
  for (const auto& id : suspension.waitpoints) {
    auto* waitpoint = find_waitpoint(waits, id);
    if (!waitpoint || !is_open(*waitpoint)) continue;
    waitpoint->state = WaitpointState::closed;
    waitpoint->closed_at = now;
    waitpoint->close_reason = reason;
  }
}

void resume(WaitingChange& change, Wake wake, std::string_view close_reason, Millis delay) {
  const auto now = wake.at;
  close_suspension(change.waits, close_reason, now);
  change.next.wake = std::move(wake);
  if (delay > Millis{0})
    change.next.state = Delayed{now + delay};
  else
    change.next.state = Waiting{};
}

SignalEffect count_for_suspension(Suspension& suspension, StoredSignal& signal) {
  const auto match = count_signal(suspension.condition, suspension.tally,
                                  {.id = signal.id,
                                   .name = signal.name,
                                   .waitpoint = signal.waitpoint_key,
                                   .source = signal.source});
  switch (match) {
    case Match::not_asked: return SignalEffect::signal_ignored_not_in_condition;
    case Match::other_name: return SignalEffect::signal_ignored_matcher_failed;
    case Match::repeated: return SignalEffect::appended_to_waitpoint_duplicate;
    case Match::counted: break;
  }
  signal.counted_for = suspension.id;
  // An escalated suspension waits for an operator; the handler sees which signals came.
  return is_satisfied(suspension.condition, suspension.tally) && !suspension.escalated
             ? SignalEffect::resume_condition_satisfied
             : SignalEffect::appended_to_waitpoint;
}

}  // namespace ff::core
