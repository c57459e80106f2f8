// The commands of flows.
#include <algorithm>

#include <fmt/format.h>

#include "base/try.hpp"
#include "core/flows/draft.hpp"
#include "core/flows/growth.hpp"
#include "core/refusals.hpp"
#include "core/transitions/ending.hpp"

namespace ff::core {
namespace {

Result<Flow> load(PartitionView& view, const FlowId& id) {
  const auto flow = view.find_flow(id);
  FF_TRY(flow);
  if (!*flow || (*flow)->is_removing) return refusals::not_found(id);
  return **flow;
}

template <class Reply>
Result<Plan<Reply>> finish(FlowDraft& draft, Reply reply, std::optional<EventType> event = {}) {
  Plan<Reply> plan{.reply = std::move(reply), .has_consequences = true};
  FF_TRY(draft.finish(plan.changes, plan.effects, event));
  return plan;
}

// With the flow as it is after the change.
Result<Plan<FlowInfo>> finish_with_info(FlowDraft& draft, EventType event) {
  auto plan = finish(draft, FlowInfo{}, event);
  FF_TRY(plan);
  plan->reply = info_of(draft.flow);
  return plan;
}

// Whether nodes that have ended may run once more.
Result<void> can_run_again(const Flow& flow) {
  if (flow.state == FlowState::building) return refusals::not_running(flow.id, flow.state);
  if (flow.is_unsealed) return refusals::never_sealed(flow.id, flow.state);
  if (is_terminal(flow.state) && !flow.ended_at) return refusals::still_ending(flow.id, flow.state);
  return {};
}

Plan<FlowInfo> unchanged(const Flow& flow) { return {.reply = info_of(flow)}; }

// ---- Making flows --------------------------------------------------------------------------------

}  // namespace

Result<Plan<FlowReply>> decide(PartitionView& view, CreateFlow command, TimePoint now) {
  auto& submit = command.submit;
  Result<const Flow*> existing = nullptr;
  if (!command.minted) existing = view.find_flow(command.id);
  FF_TRY(existing);
  if (*existing) {
    if ((*existing)->ns != submit.ns) return refusals::unusable(command.id);
    if ((*existing)->is_removing) return refusals::being_removed((*existing)->id);
    if (!command.is_open && (*existing)->request_digest != command.digest)
      return refusals::duplicate_mismatch((*existing)->id);
    return Plan<FlowReply>{.reply = {.flow = info_of(**existing), .duplicate = true}};
  }
  if (submit.dry_run) return Plan<FlowReply>{};
  FlowDraft draft(view,
                  {.id = command.id,
                   .partition = command.partition,
                   .ns = submit.ns,
                   .kind = submit.kind,
                   .tags = std::move(submit.tags),
                   .idempotency_key = submit.idempotency_key,
                   .request_digest = command.digest,
                   .on_failure = submit.on_failure,
                   .result = submit.result,
                   .budgets = std::move(submit.budgets),
                   .created_at = now,
                   .deadline = submit.deadline,
                   .retention = submit.retention.value_or(command.retention_default),
                   .revision = command.is_open ? 0u : 1u,
                   .state = submit.building ? FlowState::building : FlowState::running,
                   .is_open = command.is_open,
                   .parent = command.parent},
                  now);
  FF_TRY(add_nodes(view, draft, std::move(command.nodes), {.retention = command.retention_default},
                   now));
  auto plan = finish(draft, FlowReply{}, EventType::flow_submitted);
  FF_TRY(plan);
  plan->reply.flow = info_of(draft.flow);
  return plan;
}

Result<Plan<FlowInfo>> decide(PartitionView& view, AddNodes command, TimePoint now) {
  auto flow = load(view, command.id);
  FF_TRY(flow);
  if (is_terminal(flow->state)) return refusals::already_terminal(flow->id, flow->state);
  if (flow->is_open) return refusals::takes_no_nodes(flow->id);
  FlowDraft draft(view, std::move(*flow), now);
  FF_TRY(add_nodes(view, draft, std::move(command.nodes), {.retention = command.retention_default},
                   now));
  auto plan = finish(draft, FlowInfo{});
  FF_TRY(plan);
  plan->reply = info_of(draft.flow);
  return plan;
}

Result<Plan<SubmitReply>> decide(PartitionView& view, SubmitNode command, TimePoint now) {
  auto flow = load(view, command.id);
  FF_TRY(flow);
  if (flow->ns != command.ns) return refusals::not_found(command.id);
  const auto id = command.node.id;
  const NodeTerms terms{.retention = command.retention_default, .field = ""};
  const auto existing = view.find(id);
  FF_TRY(existing);
  if (*existing) {
    FF_TRY(is_same_node(view, *flow, command.node, terms, 0));
    if ((*existing)->request_digest != digest_of(command.node.node.payload))
      return refusals::another_node(command.node.node.name, {}, "payload");
    return Plan<SubmitReply>{
        .reply = {.id = id, .duplicate = true, .state = public_state(**existing)}};
  }
  if (is_terminal(flow->state)) return refusals::already_terminal(flow->id, flow->state);
  if (flow->is_open) return refusals::takes_no_nodes(flow->id);
  FlowDraft draft(view, std::move(*flow), now);
  std::vector<NewNode> nodes;
  nodes.push_back(std::move(command.node));
  FF_TRY(add_nodes(view, draft, std::move(nodes), terms, now));
  auto plan = finish(draft, SubmitReply{.id = id});
  FF_TRY(plan);
  for (const auto& change : plan->changes)
    if (const auto* put = std::get_if<PutExecution>(&change); put && put->next.id == id)
      plan->reply.state = public_state(put->next);
  return plan;
}

Result<Plan<FlowInfo>> decide(PartitionView& view, const SealFlow& command, TimePoint now) {
  auto flow = load(view, command.id);
  FF_TRY(flow);
  if (flow->state == FlowState::expired || flow->state == FlowState::cancelled)
    return refusals::already_terminal(flow->id, flow->state);
  if (flow->state != FlowState::building) return unchanged(*flow);
  if (flow->counts.nodes == 0) return refusals::no_nodes(flow->id);
  FlowDraft draft(view, std::move(*flow), now);
  draft.flow.state = FlowState::running;
  draft.flow.walk = 0;
  return finish_with_info(draft, EventType::flow_sealed);
}

// ---- Operators -----------------------------------------------------------------------------------

Result<Plan<FlowInfo>> decide(PartitionView& view, PauseFlow command, TimePoint now) {
  auto flow = load(view, command.id);
  FF_TRY(flow);
  if (flow->state == FlowState::paused) return unchanged(*flow);
  if (flow->state != FlowState::running) return refusals::not_running(flow->id, flow->state);
  FlowDraft draft(view, std::move(*flow), now);
  draft.flow.state = FlowState::paused;
  draft.flow.pause_reason = std::move(command.reason);
  draft.flow.walk = 0;
  return finish_with_info(draft, EventType::flow_paused);
}

Result<Plan<FlowInfo>> decide(PartitionView& view, const ResumeFlow& command, TimePoint now) {
  auto flow = load(view, command.id);
  FF_TRY(flow);
  if (flow->state == FlowState::running) return unchanged(*flow);
  if (flow->state != FlowState::paused) return refusals::not_running(flow->id, flow->state);
  FlowDraft draft(view, std::move(*flow), now);
  draft.flow.state = FlowState::running;
  draft.flow.pause_reason.clear();
  draft.flow.walk = 0;
  return finish_with_info(draft, EventType::flow_resumed);
}

Result<Plan<CancelFlowReply>> decide(PartitionView& view, BeginCancel command, TimePoint now) {
  auto flow = load(view, command.id);
  FF_TRY(flow);
  if (flow->cancel_policy)
    return Plan<CancelFlowReply>{.reply = {.flow = info_of(*flow),
                                           .policy = *flow->cancel_policy,
                                           .scheduled = flow->walk ? flow->counts.open() : 0}};
  if (is_terminal(flow->state)) return refusals::already_terminal(flow->id, flow->state);
  FlowDraft draft(view, std::move(*flow), now);
  draft.flow.is_unsealed = draft.flow.state == FlowState::building;
  draft.flow.state = FlowState::cancelled;
  draft.flow.cancel_policy = command.policy;
  draft.flow.reason = std::move(command.reason);
  draft.flow.walk = 0;
  auto plan = finish(draft, CancelFlowReply{}, EventType::flow_cancelled);
  FF_TRY(plan);
  plan->reply = {.flow = info_of(draft.flow),
                 .policy = command.policy,
                 .scheduled = draft.flow.walk ? draft.flow.counts.open() : 0};
  return plan;
}

Result<Plan<FlowInfo>> decide(PartitionView& view, BeginRedrive command, TimePoint now) {
  auto flow = load(view, command.id);
  FF_TRY(flow);
  FF_TRY(can_run_again(*flow));
  FlowDraft draft(view, std::move(*flow), now);
  const auto run_again = [&] {
    if (draft.flow.deadline && *draft.flow.deadline <= now) draft.flow.deadline.reset();
    reopen(draft.flow);
  };
  if (command.from) {
    const auto node = view.find(*command.from);
    FF_TRY(node);
    if (!*node) return refusals::not_found(*command.from);
    if (!has_ended(**node)) return refusals::not_terminal(*command.from, public_state(**node));
    if (verdict(*(*node)->flow) == Verdict::skip)
      return refusals::dependencies_failed(*command.from);
    run_again();
    FF_TRY(draft.reset(*command.from,
                       {.reason = std::move(command.reason), .requested_by = {}, .at = now}));
  } else {
    if (draft.flow.counts.failed + draft.flow.counts.cancelled + draft.flow.counts.expired == 0)
      return unchanged(draft.flow);
    run_again();
    draft.flow.is_redriving = true;
    draft.flow.walk = 0;
  }
  return finish_with_info(draft, EventType::flow_redriven);
}

// ---- Outstanding work ----------------------------------------------------------------------------

Result<Plan<SliceReply>> decide(PartitionView& view, const AdvanceFlow& command, TimePoint now) {
  const auto flow = view.find_flow(command.id);
  FF_TRY(flow);
  if (!*flow || !(*flow)->walk) return Plan<SliceReply>{};
  FlowDraft draft(view, **flow, now);
  FF_TRY(draft.advance());
  auto plan = finish(draft, SliceReply{});
  FF_TRY(plan);
  plan->reply.more = draft.flow.walk.has_value();
  return plan;
}

namespace {

// A node may be gone by the time that an effect about it is carried out.
template <class Slice>
Result<Plan<SliceReply>> decide_slice(PartitionView& view, const ExecutionId& id, TimePoint now,
                                      Slice slice) {
  const auto node = view.find(id);
  FF_TRY(node);
  if (!*node || !(*node)->flow) return Plan<SliceReply>{};
  const auto flow = flow_of(view, **node);
  FF_TRY(flow);
  FlowDraft draft(view, **flow, now);
  auto reply = slice(draft);
  FF_TRY(reply);
  return finish(draft, std::move(*reply));
}

}  // namespace

Result<Plan<SliceReply>> decide(PartitionView& view, const ResolveEdges& command, TimePoint now) {
  return decide_slice(view, command.id, now, [&](FlowDraft& draft) {
    return draft.align_edges(command.id, command.after);
  });
}

Result<Plan<SliceReply>> decide(PartitionView& view, const CancelRest& command, TimePoint now) {
  return decide_slice(view, command.id, now, [&](FlowDraft& draft) -> Result<SliceReply> {
    const auto node = view.find(command.id);
    FF_TRY(node);
    if ((*node)->replay_count != command.run) return SliceReply{};  // it waits for them once more
    return draft.cancel_rest(command.id, command.after);
  });
}

// ---- Repairs -------------------------------------------------------------------------------------

Result<Plan<CheckReply>> decide(PartitionView& view, const CheckNode& command, TimePoint now) {
  const auto node = view.find(command.id);
  FF_TRY(node);
  if (!*node || !(*node)->flow || !std::holds_alternative<WaitingChildren>((*node)->state))
    return Plan<CheckReply>{};
  const auto flow = flow_of(view, **node);
  FF_TRY(flow);
  if ((*flow)->walk) return Plan<CheckReply>{};  // which brings all nodes in line
  FlowDraft draft(view, **flow, now);
  auto reply = draft.check(command.id, command.from);
  FF_TRY(reply);
  return finish(draft, std::move(*reply));
}

namespace {

// The counters of a flow whose nodes are these.
Flow counted_anew(Flow flow, const NodeTally& tally) {
  const auto count_of = [&](ExecutionState state) {
    const auto found = tally.states.find(state);
    return found == tally.states.end() ? 0 : found->second;
  };
  flow.counts = {.nodes = 0,
                 .completed = count_of(ExecutionState::completed),
                 .failed = count_of(ExecutionState::failed),
                 .cancelled = count_of(ExecutionState::cancelled),
                 .expired = count_of(ExecutionState::expired),
                 .skipped = count_of(ExecutionState::skipped)};
  for (const auto& [state, count] : tally.states) flow.counts.nodes += count;
  flow.failures = tally.failures;
  return flow;
}

}  // namespace

Result<Plan<CheckFlowReply>> decide(PartitionView& view, CheckFlow command, TimePoint now) {
  const auto found = view.find_flow(command.id);
  FF_TRY(found);
  if (!*found) return Plan<CheckFlowReply>{};
  const Flow& flow = **found;
  Plan<CheckFlowReply> plan{.reply = {.version = flow.version}};
  if (flow.walk) {
    if (view.has_effect(flow.partition, AdvanceFlow{flow.id})) return plan;
    plan.effects.emplace_back(AdvanceFlow{flow.id});
    plan.changes.emplace_back(PutFlow{flow});
    plan.reply.repaired = 1;
    return plan;
  }
  if (flow.ended_at) return plan;
  if (command.from > 0 && command.version != flow.version) return plan;
  const auto members = view.find_members(flow.id, command.from, flow_step_max);
  FF_TRY(members);
  auto& tally = command.tally;
  for (const auto& id : *members) {
    const auto node = view.find(id);
    FF_TRY(node);
    if (!*node || !(*node)->flow) return plan;  // nothing that could be repaired
    tally.states[public_state(**node)] += 1;
    tally.failures += has_ended(**node) && fails_flow(**node) ? 1 : 0;
  }
  if (members->size() == flow_step_max) {
    plan.reply.next = command.from + static_cast<std::uint32_t>(members->size());
    plan.reply.tally = std::move(tally);
    return plan;
  }
  FlowDraft draft(view, flow, now);
  draft.flow = counted_anew(flow, tally);
  plan.reply.repaired = draft.flow == flow ? 0 : 1;
  return finish(draft, std::move(plan.reply));
}

// ---- Executions that may be nodes ----------------------------------------------------------------

namespace {

// A node that began before its flow was cancelled finishes, if the policy spares it.
bool may_finish(const Execution& node, const Flow& flow) {
  return flow.cancel_policy == CancelPolicy::cancel_pending && node.attempt && !node.attempt->end;
}

template <class Command>
Result<Plan<typename Command::Reply>> decide_start(PartitionView& view, Command command,
                                                   TimePoint now) {
  const auto before = view.find(command.id);
  FF_TRY(before);
  if (!*before) return refusals::not_found(command.id);
  auto step = apply(**before, command, now);
  FF_TRY(step);
  if (step->next && (*before)->flow) {
    const auto flow = flow_of(view, **before);
    FF_TRY(flow);
    if (!lets_start(**flow) && !may_finish(**before, **flow))
      return refusals::flow_holds(command.id, (*flow)->id, (*flow)->state);
  }
  return plan_of(*before, std::move(*step));
}

}  // namespace

Result<Plan<ClaimedExecution>> decide(PartitionView& view, LeaseGrant command, TimePoint now) {
  return decide_start(view, std::move(command), now);
}

Result<Plan<GrantedExecution>> decide(PartitionView& view, GrantIssue command, TimePoint now) {
  return decide_start(view, std::move(command), now);
}

Result<Plan<EndReply>> decide(PartitionView& view, Replay command, TimePoint now) {
  const auto before = view.find(command.id);
  FF_TRY(before);
  if (!*before) return refusals::not_found(command.id);
  if (const auto& node = (*before)->flow; node && has_ended(**before)) {
    const auto flow = flow_of(view, **before);
    FF_TRY(flow);
    if ((*flow)->is_removing) return refusals::not_found(command.id);
    if (verdict(*node) == Verdict::skip) return refusals::dependencies_failed(command.id);
    FF_TRY(can_run_again(**flow));
  }
  auto step = apply(**before, std::move(command), now);
  FF_TRY(step);
  return plan_of(*before, std::move(*step));
}

Result<Plan<RemoveReply>> decide(PartitionView& view, Remove command, TimePoint now) {
  const auto before = view.find(command.id);
  FF_TRY(before);
  if (*before) {
    auto step = apply(**before, command, now);
    FF_TRY(step);
    return plan_of(*before, std::move(*step));
  }
  const auto flow = view.find_flow(FlowId{command.id.uuid()});
  FF_TRY(flow);
  if (!*flow) return refusals::not_found(command.id);
  if (retained_until(**flow) > now || (*flow)->is_removing) return Plan<RemoveReply>{};
  FlowDraft draft(view, **flow, now);
  draft.flow.is_removing = true;
  draft.flow.walk = 0;
  return finish(draft, RemoveReply{.removed = true}, EventType::flow_removed);
}

// The deadline of a flow, or the end of the time in which it was to be sealed.
Result<Plan<TimerReply>> decide_flow_timer(PartitionView& view, const TimerFire& command,
                                           TimePoint now) {
  const auto flow = view.find_flow(FlowId{command.id.uuid()});
  FF_TRY(flow);
  const auto timer = *flow ? next_timer(**flow) : std::nullopt;
  if (!timer || timer->due > now) return Plan<TimerReply>{};
  FlowDraft draft(view, **flow, now);
  draft.flow.is_unsealed = draft.flow.state == FlowState::building;
  draft.flow.state = FlowState::expired;
  draft.flow.reason = draft.flow.is_unsealed ? "not sealed in time" : "flow_deadline";
  draft.flow.walk = 0;
  return finish(draft, TimerReply{.fired = true}, EventType::flow_expired);
}

}  // namespace ff::core
