#include "core/flows/flow.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/named_uuid.hpp"
#include "core/transitions/ending.hpp"

namespace ff::core {
namespace {

constexpr auto paused_detail = "its flow is paused";

bool is_held_by_flow(const Execution& execution) {
  const auto* blocked = std::get_if<Blocked>(&execution.state);
  return blocked && blocked->reason == BlockingReason::paused_by_operator &&
         blocked->detail == paused_detail;
}

// Not started, and not waiting for anything but its turn.
bool is_free(const Execution& execution) {
  return std::holds_alternative<Waiting>(execution.state) ||
         std::holds_alternative<Delayed>(execution.state) || is_held_by_flow(execution);
}

bool has_begun(const Execution& execution) {
  return has_subflow(*execution.flow) || std::holds_alternative<Active>(execution.state) ||
         std::holds_alternative<Suspended>(execution.state) ||
         (execution.attempt && !execution.attempt->end);
}

bool is_cancelled_by(CancelPolicy policy, const Execution& execution) {
  switch (policy) {
    case CancelPolicy::cancel_all: return true;
    case CancelPolicy::cancel_pending: return !has_begun(execution);
    case CancelPolicy::flow_only:
      return std::holds_alternative<WaitingChildren>(execution.state) && !has_begun(execution);
  }
  return true;
}

// The reason why the flow cancels this node, if it does.
std::optional<std::string> cancel_reason(const Execution& execution, const Flow& flow) {
  const auto because = [&](std::string what) {
    return flow.reason.empty() ? what : what + ": " + flow.reason;
  };
  if (flow.cancel_policy && is_cancelled_by(*flow.cancel_policy, execution))
    return because("flow cancelled");
  if (flow.state == FlowState::expired) return because("flow expired");
  if (flow.is_stopping && !execution.flow->is_finalizer) return because("flow stopped");
  return std::nullopt;
}

EventType end_node(Execution& next, Outcome outcome, const std::string& reason, TimePoint now) {
  const bool skipped = std::holds_alternative<Skipped>(outcome);
  end_open_attempt(next, {.at = now, .how = LeaseEnd::cancelled, .reason = reason},
                   {.at = now, .outcome = AttemptOutcome::cancelled, .reason = reason});
  end_execution(next, now, std::move(outcome));
  return skipped ? EventType::skipped : EventType::cancelled;
}

void make_free(Execution& next, const std::optional<TimePoint>& delay_until, TimePoint now) {
  if (delay_until && *delay_until > now)
    next.state = Delayed{*delay_until};
  else
    next.state = Waiting{};
}

}  // namespace

FlowId flow_id(const Namespace& ns, const IdempotencyKey& key) {
  return FlowId{named_uuid(Uuid{}, ns.str() + ' ' + key.str())};  // neither has a blank
}

ExecutionId node_id(const FlowId& flow, PartitionIndex partition, const NodeName& name) {
  return {partition, named_uuid(flow.uuid(), name.str())};
}

FlowId subflow_id(const ExecutionId& node, std::uint32_t run) {
  return FlowId{named_uuid(node.uuid(), "run " + std::to_string(run))};
}

NodeName item_name(const NodeName& node, std::uint32_t index) {
  return NodeName::parse(node.str() + '.' + std::to_string(index)).value();
}

std::optional<NodeName> list_of_item(const NodeName& name) {
  const std::string_view text = name.str();
  const auto dot = text.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == text.size() ||
      text.find_first_not_of("0123456789", dot + 1) != std::string_view::npos)
    return std::nullopt;
  const auto node = NodeName::parse(std::string(text.substr(0, dot)));
  return node ? std::optional(*node) : std::nullopt;
}

EdgeState decided_by(DependsOn on, ExecutionState end) {
  FF_ASSERT(is_terminal(end));
  const bool failed = end == ExecutionState::failed || end == ExecutionState::expired ||
                      end == ExecutionState::cancelled;
  const bool satisfied = on == DependsOn::finished ||
                         (on == DependsOn::succeeded && end == ExecutionState::completed) ||
                         (on == DependsOn::failed && failed);
  return satisfied ? EdgeState::satisfied : EdgeState::impossible;
}

Verdict verdict(const Membership& node) {
  FF_ASSERT(node.children + node.staged <= node.edges_in && node.open_children <= node.children);
  const auto dependencies = node.edges_in - node.children - node.staged;
  FF_ASSERT(node.satisfied + node.impossible <= dependencies);
  const auto needed = node.needed.value_or(dependencies);
  if (dependencies - node.impossible < needed) return Verdict::skip;
  // Items of an earlier list do not keep it from being read once more.
  const bool reads_list = node.map && node.map->phase == MapPhase::waits;
  const bool waits = node.satisfied < needed || (node.open_children > 0 && !reads_list);
  return waits ? Verdict::wait : Verdict::ready;
}

namespace {

// A node with a list is never claimed: it waits while its items are added, run and collected. False if the engine
// is at work on it already.
bool advance_map(MapState& map) {
  const auto before = map.phase;
  if (before == MapPhase::waits) map.phase = MapPhase::adds_items;
  if (before == MapPhase::runs_items) map.phase = MapPhase::collects;
  return map.phase != before;
}

// A node that is a flow is never claimed either. False if that flow goes on as it is.
bool advance_subflow(std::uint32_t& turn, bool is_paused) {
  const bool runs = turn % 2 == 1;
  if (runs != is_paused) return false;
  turn += 1;
  return true;
}

}  // namespace

void wait_again(Execution& node) {
  if (auto& map = node.flow->map) *map = {.over = map->over};
  if (auto& turn = node.flow->subflow_turn) turn = 0;
  node.state = WaitingChildren{};
}

std::optional<EventType> settle(Execution& next, const Flow& flow, TimePoint now) {
  FF_ASSERT(next.flow);
  if (has_ended(next) || flow.state == FlowState::building) return std::nullopt;
  if (auto reason = cancel_reason(next, flow))
    return end_node(next, Cancelled{.reason = *reason, .by = std::nullopt}, *reason, now);
  const auto* blocked = std::get_if<WaitingChildren>(&next.state);
  const bool waits = blocked || is_free(next);
  if (!waits) return std::nullopt;  // it has begun, or another scheduler holds it
  if (blocked || !has_begun(next)) {
    switch (verdict(*next.flow)) {
      case Verdict::skip:
        return end_node(next, Skipped{"dependency_impossible"}, "dependency_impossible", now);
      case Verdict::wait: {
        if (blocked) return std::nullopt;
        const auto* delayed = std::get_if<Delayed>(&next.state);
        next.state = WaitingChildren{delayed ? std::optional(delayed->until) : std::nullopt};
        return EventType::waiting_children;
      }
      case Verdict::ready: break;
    }
  }
  if (auto& map = next.flow->map; map && blocked) {
    // While nodes are reset, some of its items may still be to be.
    const bool may_advance = flow.state != FlowState::paused && !flow.is_redriving;
    const bool advances = may_advance && advance_map(*map);
    return advances ? std::optional(EventType::waiting_children) : std::nullopt;
  }
  if (auto& turn = next.flow->subflow_turn; turn && blocked) {
    const bool advances = advance_subflow(*turn, flow.state == FlowState::paused);
    return advances ? std::optional(EventType::waiting_children) : std::nullopt;
  }
  const bool was_held = is_held_by_flow(next);
  if (blocked) make_free(next, blocked->delay_until, now);
  if (flow.state == FlowState::paused && std::holds_alternative<Waiting>(next.state)) {
    next.state = Blocked{BlockingReason::paused_by_operator, paused_detail, now};
    return EventType::blocked;
  }
  if (was_held && flow.state != FlowState::paused) {
    next.state = Waiting{};
    return EventType::unblocked;
  }
  return blocked ? std::optional(EventType::promoted) : std::nullopt;
}

bool can_wait(const Execution& node) {
  const bool waits = std::holds_alternative<WaitingChildren>(node.state) || is_free(node);
  return waits && !has_begun(node);
}

void reopen(Flow& flow) {
  flow.generation += 1;
  flow.is_stopping = false;
  if (flow.state != FlowState::paused) {
    flow.state = FlowState::running;
    flow.reason.clear();
  }
  flow.ended_at.reset();
  flow.cancel_policy.reset();
}

bool lets_start(const Flow& flow) {
  return flow.state == FlowState::running || flow.cancel_policy == CancelPolicy::flow_only;
}

std::optional<FlowState> end_of(const Flow& flow) {
  if (flow.ended_at || flow.counts.open() > 0 || flow.walk || flow.state == FlowState::building)
    return std::nullopt;
  if (is_terminal(flow.state)) return flow.state;
  if (flow.is_open) return std::nullopt;
  return flow.failures > 0 ? FlowState::failed : FlowState::completed;
}

bool fails_flow(const Execution& ended) {
  const auto state = public_state(ended);
  const bool failed = state == ExecutionState::failed || state == ExecutionState::expired ||
                      state == ExecutionState::cancelled;
  return failed && !ended.flow->is_optional && !ended.flow->is_cancelled_as_rest;
}

void count_end(Flow& flow, const Execution& ended, int by) {
  const auto add = [by](std::uint32_t& count) {
    count = static_cast<std::uint32_t>(static_cast<std::int64_t>(count) + by);
  };
  switch (public_state(ended)) {
    case ExecutionState::completed: add(flow.counts.completed); break;
    case ExecutionState::skipped: add(flow.counts.skipped); break;
    case ExecutionState::failed: add(flow.counts.failed); break;
    case ExecutionState::expired: add(flow.counts.expired); break;
    case ExecutionState::cancelled: add(flow.counts.cancelled); break;
    default: FF_ASSERT(false);
  }
  if (fails_flow(ended)) add(flow.failures);
}

std::optional<Timer> next_timer(const Flow& flow) {
  if (is_terminal(flow.state)) return std::nullopt;
  std::optional<TimePoint> due = flow.deadline;
  if (flow.state == FlowState::building) {
    const auto sealed_by = flow.created_at + limits::flow_building_max;
    due = due ? std::min(*due, sealed_by) : sealed_by;
  }
  if (!due) return std::nullopt;
  return Timer{.kind = TimerKind::flow_deadline, .due = *due};
}

TimePoint retained_until(const Flow& flow) {
  return flow.ended_at ? *flow.ended_at + flow.retention : limits::time_max;
}

bool is_kept_until(const Flow& flow) { return flow.ended_at && !flow.is_removing; }

FlowInfo info_of(const Flow& flow) {
  const bool shows_pause = flow.state == FlowState::paused && !flow.pause_reason.empty();
  FlowInfo info{.id = flow.id,
                .ns = flow.ns,
                .kind = flow.kind,
                .state = flow.state,
                .counts = flow.counts,
                .edges = flow.edges,
                .revision = flow.revision,
                .generation = flow.generation,
                .on_failure = flow.on_failure,
                .tags = flow.tags,
                .idempotency_key = flow.idempotency_key,
                .created_at = flow.created_at,
                .deadline = flow.deadline,
                .ended_at = flow.ended_at,
                .retention = flow.retention,
                .reason = shows_pause ? flow.pause_reason : flow.reason};
  if (flow.parent) info.parent = flow.parent->node;
  if (flow.result) info.result = node_id(flow.id, flow.partition, *flow.result);
  return info;
}

FlowNodeInfo node_info(const Execution& node) {
  FF_ASSERT(node.flow);
  auto info = info_of(node);
  return {.id = node.id,
          .name = node.flow->node,
          .kind = node.kind,
          .lane = node.lane,
          .state = info.state,
          .needed = node.flow->needed,
          .optional = node.flow->is_optional,
          .map = node.flow->map ? std::optional(node.flow->map->over) : std::nullopt,
          .subflow = info.subflow,
          .attempts = node.attempt_count,
          .started_at = node.started_at,
          .ended_at = info.completed_at,
          .worker = std::move(info.worker),
          .reason = info.failure_reason ? std::move(*info.failure_reason)
                                        : std::move(info.cancel_reason).value_or("")};
}

namespace {

// A flow's state in the words of executions, for events.
ExecutionState state_in_event(FlowState state) {
  switch (state) {
    case FlowState::building:
    case FlowState::paused: return ExecutionState::waiting;
    case FlowState::running: return ExecutionState::active;
    case FlowState::completed: return ExecutionState::completed;
    case FlowState::failed: return ExecutionState::failed;
    case FlowState::cancelled: return ExecutionState::cancelled;
    case FlowState::expired: return ExecutionState::expired;
  }
  return ExecutionState::waiting;
}

}  // namespace

Event event_of(EventType type, const Flow& flow, TimePoint now) {
  return {.type = type,
          .at = now,
          .id = subject_of(flow),
          .ns = flow.ns,
          .lane = {},
          .kind = flow.kind,
          .state = state_in_event(flow.state),
          .flow = flow.id};
}

}  // namespace ff::core
