// The parts that suspending, signals and resuming have in common.
#pragma once

#include "core/transitions/plan.hpp"

namespace ff::core {

// An execution in the making, with the records that change with it.
struct WaitingChange {
  Execution next;
  Waits waits;
  std::optional<WaitDetails> details = {};  // if they change
  std::vector<StoredSignal> signals = {};  // that were added, or have counted now
  std::vector<SignalPayload> payloads = {};
  std::vector<KnownSignal> keys = {};
  std::vector<SignalIndex> ids = {};
};

// The plan of a change. The timer of waitpoints follows from their records.
template <class Reply>
Plan<Reply> plan_of(const Execution& before, WaitingChange change, EventType event, Reply reply) {
  auto& next = change.next;
  const auto id = next.id;
  next.has_waits = true;
  next.waitpoint_expiry = next_expiry(change.waits);
  Plan<Reply> plan{.reply = std::move(reply)};
  if (change.details) {
    const bool had_details =
        std::exchange(change.waits.has_details, *change.details != WaitDetails{});
    if (change.waits.has_details)
      plan.changes.emplace_back(
          PutBelonging{id, Belonging::wait_details, std::move(*change.details)});
    else if (had_details)
      plan.changes.emplace_back(EraseBelonging{id, Belonging::wait_details});
  }
  for (auto& payload : change.payloads)
    plan.changes.emplace_back(PutBelonging{id, Belonging::signal_payload, std::move(payload)});
  for (auto& key : change.keys)
    plan.changes.emplace_back(PutBelonging{id, Belonging::signal_key, std::move(key)});
  for (auto& signal_id : change.ids)
    plan.changes.emplace_back(PutBelonging{id, Belonging::signal_id, signal_id});
  for (auto& signal : change.signals)
    plan.changes.emplace_back(PutBelonging{id, Belonging::signal, std::move(signal)});
  plan.changes.emplace_back(PutBelonging{id, Belonging::waits, std::move(change.waits)});
  assert_consistent(&before, next);
  plan.effects = effects_of(before, &next);
  plan.changes.emplace_back(std::in_place_type<PutExecution>, std::move(next), event);
  return plan;
}

struct OpenedWaitpoint {
  WaitpointInfo* waitpoint;  // in the record
  bool made;                 // false: it was open before
};

// The open waitpoint with the wanted key, made if there is none. Its question goes into the details.
Result<OpenedWaitpoint> open_waitpoint(Waits& waits, WaitDetails& details, NewWaitpoint wanted,
                                       const ExecutionId& id, TimePoint now);

// The suspension is over and its waitpoints are closed.
void close_suspension(Waits& waits, std::string_view reason, TimePoint now);

// The execution waits for a worker again, after its delay on resume.
void resume(WaitingChange& change, Wake wake, std::string_view close_reason, Millis delay);

// Counts a signal for the open suspension. Returns its effect; `resume_condition_satisfied` if that was
// enough.
SignalEffect count_for_suspension(Suspension& suspension, StoredSignal& signal);

}  // namespace ff::core
