#include "core/transitions/suspending.hpp"

namespace ff::core {
namespace {

// The open waitpoint that a signal is for; null if it is for the execution itself.
Result<WaitpointInfo*> target_of(Waits& waits, const SendSignal& command, TimePoint now) {
  if (!command.waitpoint) return nullptr;
  auto* waitpoint = find_waitpoint(waits, *command.waitpoint);
  if (!waitpoint) return refusals::waitpoint_not_found(command.waitpoint->str());
  if (!is_open(*waitpoint, now)) return refusals::waitpoint_closed(command.waitpoint->str());
  return waitpoint;
}

// The reply to a call whose signal has arrived before; none: it is new. A signal is known by its id as long as it
// is kept, and by its idempotency key until the window ends.
Result<std::optional<SignalReply>> first_reply(PartitionView& view, const Execution& execution,
                                               const SendSignal& command, TimePoint now) {
  const auto state = public_state(execution);
  const auto same = view.find_signal(execution, command.signal_id.value_or(SignalId{}));
  FF_TRY(same);
  if (*same) return SignalReply{(*same)->id, (*same)->effect, false, state};
  if (!command.idempotency_key) return std::nullopt;
  const auto known = view.find_signal(execution, *command.idempotency_key);
  FF_TRY(known);
  if (!*known || (*known)->until <= now) return std::nullopt;
  return SignalReply{(*known)->id, (*known)->effect, true, state};
}

StoredSignal signal_of(SendSignal& command, const Execution& execution,
                       const WaitpointInfo* waitpoint, TimePoint now) {
  StoredSignal signal{.index = execution.signal_count,
                      .id = command.signal_id.value_or(SignalId{}),
                      .name = std::move(command.name),
                      .source = std::move(command.source),
                      .category = std::move(command.category),
                      .correlation_id = std::move(command.correlation_id),
                      .accepted_at = now,
                      .effect = SignalEffect::buffered_for_pending_waitpoint,
                      .content_type = std::move(command.content_type)};
  if (waitpoint) {
    signal.waitpoint = waitpoint->id;
    signal.waitpoint_key = waitpoint->key;
  }
  return signal;
}

}  // namespace

Result<Plan<SignalReply>> decide(PartitionView& view, SendSignal command, TimePoint now) {
  const auto found = view.find(command.id);
  FF_TRY(found);
  if (!*found) return refusals::not_found(command.id);
  const Execution before = **found;
  const auto first = first_reply(view, before, command, now);
  FF_TRY(first);
  if (*first) return Plan<SignalReply>{.reply = **first};
  if (has_ended(before)) return refusals::not_signalable(before.id, public_state(before));
  auto waits = view.find_waits(before);
  FF_TRY(waits);
  WaitingChange change{.next = before, .waits = std::move(*waits)};
  const auto waitpoint = target_of(change.waits, command, now);
  FF_TRY(waitpoint);
  if (before.signal_count >= before.policy.max_signals)
    return refusals::too_many_signals(before.id, before.policy.max_signals);

  SignalPayload payload{.index = before.signal_count, .bytes = std::move(command.payload)};
  auto key = std::move(command.idempotency_key);
  auto signal = signal_of(command, before, *waitpoint, now);
  const auto* suspended = std::get_if<Suspended>(&before.state);
  const bool is_bound = !*waitpoint || (*waitpoint)->state == WaitpointState::active;
  if (suspended && is_bound) signal.effect = count_for_suspension(*change.waits.suspension, signal);
  if (*waitpoint) {
    (*waitpoint)->signals += 1;
    (*waitpoint)->counted += signal.counted_for ? 1 : 0;
  }
  change.next.signal_count += 1;
  const bool resumes = signal.effect == SignalEffect::resume_condition_satisfied;
  if (resumes)
    resume(change, {.suspension_id = suspended->id, .cause = WakeCause::signals, .at = now},
           "resumed", change.waits.suspension->resume_delay);
  if (change.waits.first_uncounted == before.signal_count && signal.counted_for)
    change.waits.first_uncounted += 1;

  SignalReply reply{
      .signal_id = signal.id, .effect = signal.effect, .state = public_state(change.next)};
  if (key)
    change.keys.push_back({.key = std::move(*key),
                           .id = signal.id,
                           .effect = signal.effect,
                           .until = now + command.dedup_window});
  if (!payload.bytes.empty()) change.payloads.push_back(std::move(payload));
  change.ids.push_back({.id = signal.id, .index = signal.index});
  change.signals.push_back(std::move(signal));
  return plan_of(before, std::move(change), resumes ? EventType::resumed : EventType::signalled,
                 std::move(reply));
}

}  // namespace ff::core
