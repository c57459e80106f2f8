// The states an execution can be in: one word for users, and the contract's seven-part vector.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace ff {

// An enum whose values have names: on the wire, in logs, in tables. `values[i]` is the name of the i-th.
template <class E>
struct Names;
template <class E>
concept Named = requires {
  Names<E>::values;
};

template <Named E>
constexpr std::string_view to_string(E value) {
  return Names<E>::values[static_cast<std::size_t>(std::to_underlying(value))];
}
template <Named E>
constexpr std::optional<E> from_name(std::string_view name) {
  const auto& names = Names<E>::values;
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<E>(found - names.begin());
}

#define FF_NAMES(Enum, ...)                                                        \
  template <>                                                                      \
  struct Names<Enum> {                                                             \
    static constexpr auto values = std::to_array<std::string_view>({__VA_ARGS__}); \
  }

// The state of an execution, as users see it.
enum class ExecutionState : std::uint8_t {
  waiting,           // for a worker
  delayed,           // until a time
  waiting_children,  // for executions that it depends on
  active,            // a worker has it, or had it and vanished
  completed,
  failed,
  cancelled,
  expired,       // its deadline passed, or its last attempt took too long
  rate_limited,  // until a budget or a quota has room
  suspended,     // until signals, an operator or its timeout resume it
  skipped,       // nodes before it in its flow ended otherwise than it needs
};
FF_NAMES(ExecutionState, "waiting", "delayed", "waiting_children", "active", "completed", "failed",
         "cancelled", "expired", "rate_limited", "suspended", "skipped");

constexpr bool is_terminal(ExecutionState state) {
  return (state >= ExecutionState::completed && state <= ExecutionState::expired) ||
         state == ExecutionState::skipped;
}

enum class LifecyclePhase : std::uint8_t { runnable, active, terminal, suspended };
FF_NAMES(LifecyclePhase, "runnable", "active", "terminal", "suspended");

enum class OwnershipState : std::uint8_t {
  unowned,
  leased,
  lease_expired_reclaimable,
  lease_revoked,
};
FF_NAMES(OwnershipState, "unowned", "leased", "lease_expired_reclaimable", "lease_revoked");

enum class EligibilityState : std::uint8_t {
  eligible_now,
  not_eligible_until_time,
  blocked_by_dependencies,
  blocked_by_budget,
  blocked_by_quota,
  blocked_by_route,
  blocked_by_operator,
  blocked_by_lane_state,
  not_applicable,
};
FF_NAMES(EligibilityState, "eligible_now", "not_eligible_until_time", "blocked_by_dependencies",
         "blocked_by_budget", "blocked_by_quota", "blocked_by_route", "blocked_by_operator",
         "blocked_by_lane_state", "not_applicable");

enum class BlockingReason : std::uint8_t {
  none,
  waiting_for_worker,
  waiting_for_retry_backoff,
  waiting_for_delay,
  waiting_for_children,
  waiting_for_budget,
  waiting_for_quota,
  waiting_for_capable_worker,  // no live worker has what it requires
  paused_by_operator,
  paused_by_policy,
  waiting_for_signal,
  waiting_for_approval,
  waiting_for_callback,
  waiting_for_tool_result,
  waiting_for_resume_delay,
  paused_by_flow_cancel,  // by another program on the same store
};
FF_NAMES(BlockingReason, "none", "waiting_for_worker", "waiting_for_retry_backoff",
         "waiting_for_delay", "waiting_for_children", "waiting_for_budget", "waiting_for_quota",
         "waiting_for_capable_worker", "paused_by_operator", "paused_by_policy",
         "waiting_for_signal", "waiting_for_approval", "waiting_for_callback",
         "waiting_for_tool_result", "waiting_for_resume_delay", "paused_by_flow_cancel");

enum class TerminalOutcome : std::uint8_t { none, success, failed, cancelled, expired, skipped };
FF_NAMES(TerminalOutcome, "none", "success", "failed", "cancelled", "expired", "skipped");

enum class AttemptState : std::uint8_t {
  pending_first_attempt,
  running_attempt,
  attempt_interrupted,
  pending_retry_attempt,
  pending_replay_attempt,
  attempt_terminal,
};
FF_NAMES(AttemptState, "pending_first_attempt", "running_attempt", "attempt_interrupted",
         "pending_retry_attempt", "pending_replay_attempt", "attempt_terminal");

// The seven dimensions; the seventh, the public state, is ExecutionInfo::state.
struct StateVector {
  LifecyclePhase lifecycle_phase{};
  OwnershipState ownership_state{};
  EligibilityState eligibility_state{};
  BlockingReason blocking_reason{};
  TerminalOutcome terminal_outcome{};
  AttemptState attempt_state{};
  bool operator==(const StateVector&) const = default;
};

}  // namespace ff
