#include <algorithm>

#include "core/execution/fence.hpp"
#include "core/transitions/ending.hpp"
#include "core/transitions/suspending.hpp"

namespace ff::core {
namespace {

// Closed waitpoints stay known until the next suspension, so that late signals are refused as such. Of many, the
// oldest are forgotten.
void forget_oldest_closed(Waits& waits, WaitDetails& details) {
  auto excess = std::ranges::count_if(waits.waitpoints, [](auto& each) { return !is_open(each); }) -
                static_cast<std::ptrdiff_t>(limits::waitpoints_max);
  std::erase_if(waits.waitpoints, [&](const WaitpointInfo& each) {
    const bool forgotten = !is_open(each) && excess-- > 0;
    if (forgotten) details.questions.erase(each.id);
    return forgotten;
  });
}

}  // namespace

Result<OpenedWaitpoint> open_waitpoint(Waits& waits, WaitDetails& details, NewWaitpoint wanted,
                                       const ExecutionId& id, TimePoint now) {
  const auto open = std::ranges::find_if(waits.waitpoints, [&](const WaitpointInfo& each) {
    return is_open(each, now) && each.key == wanted.key;
  });
  if (open != waits.waitpoints.end()) return OpenedWaitpoint{&*open, false};
  const auto open_count = std::ranges::count_if(
      waits.waitpoints, [](const WaitpointInfo& each) { return is_open(each); });
  if (open_count >= static_cast<std::ptrdiff_t>(limits::waitpoints_max))
    return refusals::too_many_waitpoints(id);
  if (wanted.id && find_waitpoint(waits, *wanted.id))
    return refusals::waitpoint_id_taken(wanted.id->str());
  WaitpointInfo made{.id = wanted.id.value_or(WaitpointId{}),
                     .key = std::move(wanted.key),
                     .state = WaitpointState::pending,
                     .created_at = now};
  if (wanted.expires_in) made.expires_at = now + *wanted.expires_in;
  forget_oldest_closed(waits, details);
  if (wanted.question) details.questions.insert_or_assign(made.id, std::move(*wanted.question));
  waits.waitpoints.push_back(std::move(made));
  return OpenedWaitpoint{&waits.waitpoints.back(), true};
}

Result<Plan<CreateWaitpointReply>> decide(PartitionView& view, CreateWaitpoint command,
                                          TimePoint now) {
  const auto found = view.find(command.id);
  FF_TRY(found);
  if (!*found) return refusals::not_found(command.id);
  const Execution before = **found;
  FF_TRY(check_fence(before, command.fence, now));
  auto waits = view.find_waits(before);
  FF_TRY(waits);
  auto details = view.find_details(before, *waits);
  FF_TRY(details);
  const auto question_count = details->questions.size();
  const auto opened =
      open_waitpoint(*waits, *details, std::move(command.waitpoint), before.id, now);
  FF_TRY(opened);
  CreateWaitpointReply reply{.waitpoint = {.info = info_of(*opened->waitpoint, *details)},
                             .duplicate = !opened->made};
  if (reply.duplicate) return Plan<CreateWaitpointReply>{.reply = std::move(reply)};
  WaitingChange change{.next = before, .waits = std::move(*waits)};
  if (reply.waitpoint.info.question || details->questions.size() != question_count)
    change.details = std::move(*details);
  return plan_of(before, std::move(change), EventType::waitpoint_opened, std::move(reply));
}

Result<Plan<CloseWaitpointReply>> decide(PartitionView& view, CloseWaitpoint command,
                                         TimePoint now) {
  const auto found = view.find(command.id);
  FF_TRY(found);
  if (!*found) return refusals::not_found(command.id);
  const Execution before = **found;
  auto waits = view.find_waits(before);
  FF_TRY(waits);
  WaitingChange change{.next = before, .waits = std::move(*waits)};
  auto* waitpoint = find_waitpoint(change.waits, command.waitpoint);
  if (!waitpoint) return refusals::waitpoint_not_found(command.waitpoint.str());
  const CloseWaitpointReply reply{.closed = is_open(*waitpoint) && !has_ended(before)};
  if (!reply.closed) return Plan<CloseWaitpointReply>{.reply = reply};
  waitpoint->state = WaitpointState::closed;
  waitpoint->closed_at = now;
  waitpoint->close_reason = command.reason.empty() ? "proactive_close" : command.reason;
  return plan_of(before, std::move(change), EventType::waitpoint_closed, reply);
}

namespace {

using Fired = Result<Plan<TimerReply>>;

constexpr TimerReply fired{.fired = true};

Fired expire_waitpoints(const Execution& before, WaitingChange change, TimePoint now) {
  for (auto& waitpoint : change.waits.waitpoints) {
    if (!is_open(waitpoint) || !waitpoint.expires_at || *waitpoint.expires_at > now) continue;
    waitpoint.close_reason =
        waitpoint.state == WaitpointState::pending ? "never_committed" : "expired";
    waitpoint.state = WaitpointState::closed;
    waitpoint.closed_at = now;
  }
  return plan_of(before, std::move(change), EventType::waitpoint_closed, fired);
}

Fired escalate(const Execution& before, WaitingChange change) {
  auto& suspended = std::get<Suspended>(change.next.state);
  suspended.reason = SuspendReason::waiting_for_operator_review;
  suspended.timeout_at.reset();
  suspended.escalated = true;
  auto& suspension = *change.waits.suspension;
  suspension.reason = suspended.reason;
  suspension.timeout_at.reset();
  suspension.escalated = true;
  return plan_of(before, std::move(change), EventType::escalated, fired);
}

// Ends the execution as its suspension says.
Fired end_by_timeout(const Execution& before, WaitingChange change, TimeoutAction action,
                     TimePoint now) {
  const auto word = to_string(action);
  close_suspension(change.waits, "timed_out_" + std::string(word), now);
  const auto reason = "suspension_timeout:" + std::string(word);
  auto& next = change.next;
  const auto outcome =
      action == TimeoutAction::cancel ? AttemptOutcome::cancelled : AttemptOutcome::failure;
  end_open_attempt(next, {},
                   {.at = now, .outcome = outcome, .reason = reason, .category = "timeout"});
  switch (action) {
    case TimeoutAction::cancel:
      end_execution(next, now, Cancelled{.reason = reason});
      return plan_of(before, std::move(change), EventType::cancelled, fired);
    case TimeoutAction::expire:
      end_execution(next, now, Expired{reason});
      return plan_of(before, std::move(change), EventType::expired, fired);
    case TimeoutAction::fail:
    case TimeoutAction::auto_resume:
    case TimeoutAction::escalate: break;
  }
  end_execution(next, now, Failed{.reason = reason, .category = "timeout"});
  return plan_of(before, std::move(change), EventType::failed, fired);
}

Fired time_out(const Execution& before, WaitingChange change, TimePoint now) {
  const auto suspended = std::get<Suspended>(before.state);
  switch (suspended.on_timeout) {
    case TimeoutAction::escalate: return escalate(before, std::move(change));
    case TimeoutAction::auto_resume:
      resume(change, {.suspension_id = suspended.id, .cause = WakeCause::timeout, .at = now},
             "timed_out_auto_resume", Millis{0});
      return plan_of(before, std::move(change), EventType::resumed, fired);
    case TimeoutAction::fail:
    case TimeoutAction::cancel:
    case TimeoutAction::expire: break;
  }
  return end_by_timeout(before, std::move(change), suspended.on_timeout, now);
}

}  // namespace

Result<Plan<TimerReply>> decide(PartitionView& view, TimerFire command, TimePoint now) {
  if (command.kind == TimerKind::flow_deadline) return decide_flow_timer(view, command, now);
  const auto found = view.find(command.id);
  FF_TRY(found);
  if (!*found) return refusals::not_found(command.id);
  const bool of_waits =
      command.kind == TimerKind::suspension_timeout || command.kind == TimerKind::waitpoint_expiry;
  if (!of_waits) {
    auto step = apply(**found, command, now);
    FF_TRY(step);
    return plan_of(*found, std::move(*step));
  }
  const Execution before = **found;
  const auto timer = next_timer(before);
  if (!timer || timer->kind != command.kind || timer->due > now)
    return Plan<TimerReply>{.reply = {.fired = false}};
  auto waits = view.find_waits(before);
  FF_TRY(waits);
  WaitingChange change{.next = before, .waits = std::move(*waits)};
  return command.kind == TimerKind::suspension_timeout
             ? time_out(before, std::move(change), now)
             : expire_waitpoints(before, std::move(change), now);
}

}  // namespace ff::core
