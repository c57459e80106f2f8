#include <fmt/format.h>

#include "core/transitions/ending.hpp"
#include "core/transitions/transitions.hpp"

namespace ff::core {
namespace {

using Fired = Step<TimerReply>;

Fired fired(Execution next, EventType event) {
  return {.reply = {true}, .next = std::move(next), .event = event};
}

Fired to_waiting(Execution next) {
  next.state = Waiting{};
  return fired(std::move(next), EventType::promoted);
}

Fired lease_expired(Execution next, TimePoint now) {
  constexpr auto reason = "lease expired";
  end_attempt(next, {.at = now, .how = LeaseEnd::expired},
              {.at = now, .outcome = AttemptOutcome::interrupted, .reason = reason});
  if (next.reclaim_count < next.policy.max_reclaim_count) {
    next.state = Waiting{};
    return fired(std::move(next), EventType::lease_expired);
  }
  auto why = fmt::format("max_reclaims_exceeded: {} workers let its lease run out",
                         next.reclaim_count + 1);
  end_execution(next, now, Failed{.reason = std::move(why), .category = "infra_crash"});
  return fired(std::move(next), EventType::failed);
}

Fired attempt_timed_out(Execution next, TimePoint now) {
  const std::string reason = "attempt_timeout";
  const auto again = retry_at(next, "timeout", now);
  end_attempt(next, {.at = now, .how = LeaseEnd::timed_out, .reason = reason},
              {.at = now,
               .outcome = AttemptOutcome::failure,
               .reason = reason,
               .category = "timeout",
               .retry_at = again});
  if (again)
    schedule_retry(next, now, *again);
  else
    end_execution(next, now, Expired{reason});
  return fired(std::move(next), again ? EventType::retry_scheduled : EventType::expired);
}

Fired deadline_passed(Execution next, TimePoint now) {
  const std::string reason = "execution_deadline";
  end_open_attempt(
      next, {.at = now, .how = LeaseEnd::timed_out, .reason = reason},
      {.at = now, .outcome = AttemptOutcome::failure, .reason = reason, .category = "timeout"});
  end_execution(next, now, Expired{reason});
  return fired(std::move(next), EventType::expired);
}

}  // namespace

Decision<TimerFire> apply(const Execution& execution, const TimerFire& command, TimePoint now) {
  const auto timer = next_timer(execution);
  if (!timer || timer->kind != command.kind || timer->due > now)
    return Fired{.reply = {.fired = false}};
  switch (command.kind) {
    case TimerKind::lease_expiry: return lease_expired(execution, now);
    case TimerKind::delay:
    case TimerKind::grant_expiry: return to_waiting(execution);
    case TimerKind::attempt_timeout: return attempt_timed_out(execution, now);
    case TimerKind::execution_deadline: return deadline_passed(execution, now);
    case TimerKind::suspension_timeout:
    case TimerKind::flow_deadline:
    case TimerKind::waitpoint_expiry: break;  // decided with the execution's waitpoints
  }
  return Fired{.reply = {.fired = false}};
}

Decision<Remove> apply(const Execution& execution, const Remove& command, TimePoint now) {
  const bool due = has_ended(execution) &&
                   (command.is_early ? !execution.flow : retained_until(execution) <= now);
  if (!due) return Step<RemoveReply>{.reply = {.removed = false}};
  return Step<RemoveReply>{
      .reply = {.removed = true}, .next = execution, .event = EventType::removed, .remove = true};
}

}  // namespace ff::core
