#include "core/suspensions/suspension.hpp"

#include <algorithm>

namespace ff::core {

bool is_open(const WaitpointInfo& waitpoint) { return waitpoint.state != WaitpointState::closed; }

bool is_open(const WaitpointInfo& waitpoint, TimePoint now) {
  return is_open(waitpoint) && !(waitpoint.expires_at && *waitpoint.expires_at <= now);
}

WaitpointInfo* find_waitpoint(Waits& waits, const WaitpointId& id) {
  const auto found = std::ranges::find(waits.waitpoints, id, &WaitpointInfo::id);
  return found == waits.waitpoints.end() ? nullptr : &*found;
}

std::optional<TimePoint> next_expiry(const Waits& waits) {
  std::optional<TimePoint> next;
  for (const auto& waitpoint : waits.waitpoints)
    if (is_open(waitpoint) && waitpoint.expires_at && (!next || *waitpoint.expires_at < *next))
      next = waitpoint.expires_at;
  return next;
}

BlockingReason blocking_reason(SuspendReason reason) {
  using enum BlockingReason;
  switch (reason) {
    case SuspendReason::waiting_for_signal:
    case SuspendReason::step_boundary: return waiting_for_signal;
    case SuspendReason::waiting_for_approval: return waiting_for_approval;
    case SuspendReason::waiting_for_callback: return waiting_for_callback;
    case SuspendReason::waiting_for_tool_result: return waiting_for_tool_result;
    case SuspendReason::waiting_for_operator_review:
    case SuspendReason::manual_pause: return paused_by_operator;
    case SuspendReason::paused_by_policy: return paused_by_policy;
    case SuspendReason::paused_by_budget: return waiting_for_budget;
  }
  return waiting_for_signal;
}

WaitpointInfo info_of(WaitpointInfo waitpoint, const WaitDetails& details) {
  const auto question = details.questions.find(waitpoint.id);
  if (question != details.questions.end()) waitpoint.question = question->second;
  return waitpoint;
}

SuspensionReply info_of(const Waits& waits, const WaitDetails& details, bool ended) {
  SuspensionReply reply;
  for (const auto& waitpoint : waits.waitpoints) {
    reply.waitpoints.push_back(info_of(waitpoint, details));
    if (ended) reply.waitpoints.back().state = WaitpointState::closed;
  }
  if (!waits.suspension) return reply;
  const auto& suspension = *waits.suspension;
  SuspensionInfo info{.id = suspension.id,
                      .reason = suspension.reason,
                      .since = suspension.since,
                      .attempt_index = suspension.attempt_index,
                      .condition = suspension.condition,
                      .progress = describe_progress(suspension.condition, suspension.tally),
                      .timeout_at = suspension.timeout_at,
                      .on_timeout = suspension.on_timeout,
                      .escalated = suspension.escalated,
                      .closed_at = suspension.closed_at,
                      .state = details.state};
  if (suspension.closed_at) info.close_reason = suspension.close_reason;
  for (const auto& waitpoint : reply.waitpoints)
    if (std::ranges::find(suspension.waitpoints, waitpoint.id) != suspension.waitpoints.end())
      info.waitpoints.push_back(waitpoint);
  reply.suspension = std::move(info);
  return reply;
}

ReceivedSignal info_of(StoredSignal signal, std::string payload) {
  return {.index = signal.index,
          .id = signal.id,
          .name = std::move(signal.name),
          .waitpoint = signal.waitpoint,
          .source = std::move(signal.source),
          .category = std::move(signal.category),
          .correlation_id = std::move(signal.correlation_id),
          .accepted_at = signal.accepted_at,
          .effect = signal.effect,
          .counted_for = signal.counted_for,
          .content_type = std::move(signal.content_type),
          .payload = std::move(payload)};
}

}  // namespace ff::core
