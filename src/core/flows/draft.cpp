#include "core/flows/draft.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/try.hpp"
#include "core/refusals.hpp"
#include "core/transitions/ending.hpp"

namespace ff::core {
namespace {

bool is_failure(const Execution& execution) {
  const auto state = public_state(execution);
  return state == ExecutionState::failed || state == ExecutionState::expired ||
         state == ExecutionState::cancelled;
}

std::string name_of(const Execution& node) {
  return node.flow->node.str().empty() ? node.id.str() : node.flow->node.str();
}

// It waits, and nothing of its run has happened yet.
bool is_untouched(const Execution& node) {
  const bool has_begun = node.attempt && !node.attempt->end;
  const auto& map = node.flow->map;
  return std::holds_alternative<WaitingChildren>(node.state) && !has_begun &&
         !has_subflow(*node.flow) && (!map || map->phase == MapPhase::waits);
}

// Tells apart the causes for which the edges out of a node are brought in line.
std::uint32_t turn_of(const Execution& node) {
  return 2 * node.replay_count + (has_ended(node) ? 1 : 0);
}

// The work that the phase of its list means for an engine.
std::optional<Effect> effect_of_map(const Execution& node) {
  const auto& map = node.flow->map;
  if (map && map->phase == MapPhase::adds_items)
    return ExpandMap{node.id, node.replay_count, map->over.input};
  if (map && map->phase == MapPhase::collects)
    return CollectMap{node.id, node.replay_count, map->items, map->over.tolerated_failures};
  return std::nullopt;
}

EventType event_of_end(FlowState state) {
  switch (state) {
    case FlowState::failed: return EventType::flow_failed;
    case FlowState::cancelled: return EventType::flow_cancelled;
    case FlowState::expired: return EventType::flow_expired;
    default: return EventType::flow_completed;
  }
}

}  // namespace

std::string reason_of_rest(const std::string& started) { return started + " started without it"; }

Result<bool> leads_to(PartitionView& view, const ExecutionId& upstream,
                      const ExecutionId& downstream, std::optional<EdgeRole> role) {
  std::optional<EdgeId> after;
  while (true) {
    const auto edges = view.find_edges_out(upstream, after, flow_step_max);
    FF_TRY(edges);
    for (const auto& id : *edges) {
      if (id.downstream != downstream) continue;
      if (!role) return true;
      const auto edge = view.find_edge(id);
      FF_TRY(edge);
      if (edge->role == *role) return true;
    }
    if (edges->size() < flow_step_max) return false;
    after = edges->back();
  }
}

Result<const Flow*> flow_of(PartitionView& view, const Execution& execution) {
  FF_ASSERT(execution.flow);
  const auto flow = view.find_flow(execution.flow->flow);
  FF_TRY(flow);
  if (!*flow)
    return fail(Errc::store_damaged,
                fmt::format("flow {} of execution {} is missing; restore the data from a backup",
                            execution.flow->flow.str(), execution.id.str()));
  return *flow;
}

FlowDraft::Node& FlowDraft::insert(Node node) {
  const auto id = node.next.id;
  order_.push_back(id);
  return nodes_.emplace(id, std::move(node)).first->second;
}

Result<FlowDraft::Node*> FlowDraft::node(const ExecutionId& id) {
  if (const auto found = nodes_.find(id); found != nodes_.end()) return &found->second;
  const auto stored = view_.find(id);
  FF_TRY(stored);
  if (!*stored || !(*stored)->flow || (*stored)->flow->flow != flow.id)
    return fail(Errc::store_damaged,
                fmt::format("node {} of flow {} is missing; restore the data from a backup",
                            id.str(), flow.id.str()));
  return &insert({.before = **stored, .next = **stored});
}

Result<Edge*> FlowDraft::edge(const EdgeId& id) {
  if (const auto found = edges_.find(id); found != edges_.end()) return &found->second;
  const auto stored = view_.find_edge(id);
  FF_TRY(stored);
  edges_before_.emplace(id, *stored);
  return &edges_.emplace(id, *stored).first->second;
}

// ---- Nodes ---------------------------------------------------------------------------------------

// The flow that a node is does not go on after the end of that run, unless it caused that end.
void FlowDraft::leave_subflow(const Execution& node) {
  const auto state = public_state(node);
  const bool is_over = state == ExecutionState::completed || state == ExecutionState::failed;
  if (has_subflow(*node.flow) && !is_over)
    effects_.emplace_back(RunSubflow{node.id, node.replay_count, *node.flow->subflow_turn + 1});
}

void FlowDraft::note_end(const Node& node) {
  count_end(flow, node.next, 1);
  to_align_.push_back(node.next.id);
  leave_subflow(node.next);
  if (!fails_flow(node.next) || is_terminal(flow.state)) return;
  if (flow.reason.empty())
    flow.reason = fmt::format("node {} {}", name_of(node.next), to_string(public_state(node.next)));
  if (flow.on_failure == FlowFailure::stop && !flow.is_stopping) {
    flow.is_stopping = true;
    flow.walk = 0;
  }
}

void FlowDraft::settle(Node& node) {
  const auto phase_of = [&] {
    const auto& map = node.next.flow->map;
    return map ? map->phase : MapPhase::waits;
  };
  const bool was_blocked = std::holds_alternative<WaitingChildren>(node.next.state);
  const auto phase = phase_of();
  const auto turn = node.next.flow->subflow_turn;
  const auto event = core::settle(node.next, flow, now_);
  if (phase_of() != phase)
    if (auto effect = effect_of_map(node.next)) effects_.push_back(std::move(*effect));
  if (node.next.flow->subflow_turn != turn)
    effects_.emplace_back(
        RunSubflow{node.next.id, node.next.replay_count, *node.next.flow->subflow_turn});
  if (!event) return;
  node.event = event;
  if (has_ended(node.next)) return note_end(node);
  const auto& edges = *node.next.flow;
  const bool starts = was_blocked && !std::holds_alternative<WaitingChildren>(node.next.state);
  const auto decided = edges.satisfied + edges.impossible + edges.children;
  if (starts && edges.cancel_rest && decided < edges.edges_in)
    to_cancel_rest_.push_back(node.next.id);
}

Result<void> FlowDraft::take(const Execution* before, PutExecution put) {
  auto& node = insert({.before = before ? std::optional(*before) : std::nullopt,
                       .next = std::move(put.next),
                       .event = put.event});
  const bool had_ended = node.before && has_ended(*node.before);
  const bool ended = has_ended(node.next);
  if (ended && !had_ended) {
    note_end(node);
  } else if (had_ended && !ended) {
    count_end(flow, *node.before, -1);
    node.next.flow->is_cancelled_as_rest = false;
    to_align_.push_back(node.next.id);
    if (is_run_by_engine(*node.next.flow)) wait_again(node.next);
    settle(node);
  } else if (!ended) {
    settle(node);
  }
  return {};
}

void FlowDraft::set_result(const ExecutionId& id, std::string result) {
  nodes_.at(id).result = std::move(result);
}

void FlowDraft::add(Execution created, std::string payload, std::vector<Edge> edges) {
  created.flow->edges_in = static_cast<std::uint32_t>(edges.size());
  const auto* delayed = std::get_if<Delayed>(&created.state);
  created.state = WaitingChildren{delayed ? std::optional(delayed->until) : std::nullopt};
  insert(
      {.next = std::move(created), .event = EventType::submitted, .payload = std::move(payload)});
  flow.counts.nodes += 1;
  for (auto& each : edges) add_edge(std::move(each));
}

void FlowDraft::add_edge(Edge edge) {
  flow.edges += 1;
  new_edges_[edge.upstream].push_back(edge.id);
  edges_.emplace(edge.id, std::move(edge));
}

Result<bool> FlowDraft::add_again(Again again) {
  const auto stored = view_.find(again.id);
  FF_TRY(stored);
  if (!*stored) return false;
  const auto found = node(again.id);
  FF_TRY(found);
  auto& next = (*found)->next;
  if (again.spawned_in) next.flow->spawned_in = again.spawned_in;
  const bool is_same = next.request_digest == again.digest;
  const bool has_failed = is_failure(next) && !next.flow->is_cancelled_as_rest;
  if (is_same && !(again.is_item && has_failed)) return true;
  if (!is_same) {
    next.request_digest = again.digest;
    next.content_type = std::move(again.content_type);
    (*found)->payload = std::move(again.payload);
  }
  if (!is_untouched(next)) {
    start_anew(**found,
               {.reason = is_same ? "its list is read again" : "added with another payload",
                .requested_by = {},
                .at = now_});
    settle(**found);
  }
  return true;
}

Result<bool> FlowDraft::add_child(const ExecutionId& parent, const ExecutionId& child) {
  const auto upstream = node(child);
  FF_TRY(upstream);
  if ((*upstream)->before) return leads_to(view_, child, parent);
  const auto found = node(parent);
  FF_TRY(found);
  auto& counts = *(*found)->next.flow;
  add_edge({.id = {parent, counts.edges_in},
            .upstream = child,
            .role = EdgeRole::child,
            .on = DependsOn::finished});
  counts.edges_in += 1;
  counts.children += 1;
  counts.open_children += 1;
  return true;
}

void FlowDraft::add_member(const Execution& execution) {
  auto& added = insert({.before = execution, .next = execution});
  const auto index = flow.counts.nodes;
  added.next.flow = Membership{.flow = flow.id, .index = index};
  flow.counts.nodes += 1;
  flow.revision += 1;
  other_changes_.emplace_back(AddMember{.flow = flow.id, .index = index, .node = execution.id});
  if (has_ended(execution))
    count_end(flow, added.next, 1);
  else
    settle(added);
}

Result<void> FlowDraft::stage_edge(const ExecutionId& upstream, const ExecutionId& downstream,
                                   const GivenEdgeId& given) {
  const auto found = node(downstream);
  FF_TRY(found);
  auto& counts = *(*found)->next.flow;
  add_edge({.id = {downstream, counts.edges_in},
            .upstream = upstream,
            .role = EdgeRole::staged,
            .given = given});
  counts.edges_in += 1;
  counts.staged += 1;
  flow.revision += 1;
  return {};
}

Result<void> FlowDraft::apply_edge(const EdgeId& id) {
  const auto staged = edge(id);
  FF_TRY(staged);
  const auto downstream = node(id.downstream);
  FF_TRY(downstream);
  const auto upstream = node((*staged)->upstream);
  FF_TRY(upstream);
  (*staged)->role = EdgeRole::dependency;
  (*downstream)->next.flow->staged -= 1;
  if (has_ended((*upstream)->next)) return align(**staged, (*upstream)->next);
  settle(**downstream);
  return {};
}

Result<Execution*> FlowDraft::change(const ExecutionId& id) {
  const auto found = node(id);
  FF_TRY(found);
  return &(*found)->next;
}

void FlowDraft::start_anew(Node& node, const ReplayRequest& request) {
  auto& next = node.next;
  if (has_ended(next))
    count_end(flow, next, -1);
  else
    leave_subflow(next);
  const auto reason = "redriven: " + request.reason;
  end_open_attempt(next, {.at = now_, .how = LeaseEnd::cancelled, .reason = reason},
                   {.at = now_, .outcome = AttemptOutcome::cancelled, .reason = reason});
  begin_replay(next, request);
  next.flow->is_cancelled_as_rest = false;
  wait_again(next);
  node.event = EventType::reset;
  node.starts_anew = true;
  to_align_.push_back(next.id);
}

Result<void> FlowDraft::reset(const ExecutionId& id, const ReplayRequest& request) {
  const auto found = node(id);
  FF_TRY(found);
  start_anew(**found, request);
  settle(**found);
  return {};
}

Result<void> FlowDraft::advance() {
  if (!flow.walk) return {};
  const auto members = view_.find_members(flow.id, *flow.walk, flow_step_max);
  FF_TRY(members);
  for (const auto& id : *members) {
    if (flow.is_removing) {
      const auto stored = view_.find(id);
      FF_TRY(stored);
      if (*stored) other_changes_.emplace_back(RemoveExecution{**stored, EventType::removed});
      continue;
    }
    const auto found = node(id);
    FF_TRY(found);
    const auto& next = (*found)->next;
    if (flow.is_redriving && is_failure(next) && !next.flow->is_cancelled_as_rest)
      start_anew(**found, {.reason = "redrive of failed nodes", .requested_by = {}, .at = now_});
    settle(**found);
  }
  *flow.walk += static_cast<std::uint32_t>(members->size());
  if (members->size() < flow_step_max) {
    flow.walk.reset();
    // Lists wait until all nodes that run again are reset; another walk lets them go on.
    if (flow.is_redriving) flow.walk = 0;
    flow.is_redriving = false;
  }
  return {};
}

// ---- Edges ---------------------------------------------------------------------------------------

namespace {

EdgeState target_of(const Edge& edge, const Execution& upstream, const Membership& downstream) {
  if (edge.role == EdgeRole::turn && edge.state == EdgeState::satisfied) return edge.state;
  if (!has_ended(upstream)) return EdgeState::pending;
  const bool spawned =
      edge.role != EdgeRole::spawn || downstream.spawned_in == upstream.replay_count;
  return spawned ? decided_by(edge.on, public_state(upstream)) : EdgeState::impossible;
}

// An edge that was in one state is in another one.
void recount(Membership& node, const Edge& edge, EdgeState target) {
  if (edge.role == EdgeRole::child) {
    if (edge.state != EdgeState::pending) node.open_children += 1;
    if (target != EdgeState::pending) node.open_children -= 1;
    return;
  }
  const auto count_of = [&](EdgeState state) -> std::uint32_t& {
    return state == EdgeState::satisfied ? node.satisfied : node.impossible;
  };
  if (edge.state != EdgeState::pending) count_of(edge.state) -= 1;
  if (target != EdgeState::pending) count_of(target) += 1;
}

bool is_aligned(const Edge& edge, const Execution& upstream, const Membership& downstream) {
  const bool by_this_run = edge.state == EdgeState::pending || edge.role == EdgeRole::turn ||
                           edge.run == upstream.replay_count;
  return by_this_run && edge.state == target_of(edge, upstream, downstream);
}

}  // namespace

Result<void> FlowDraft::align(Edge& edge, const Execution& upstream) {
  if (edge.role == EdgeRole::staged) return {};
  const auto found = node(edge.id.downstream);
  FF_TRY(found);
  auto& downstream = **found;
  if (is_aligned(edge, upstream, *downstream.next.flow)) return {};
  const auto target = target_of(edge, upstream, *downstream.next.flow);
  recount(*downstream.next.flow, edge, target);
  // A node that waits for its children goes on waiting if one of them runs again, unless their results are being
  // collected.
  const auto& map = downstream.next.flow->map;
  const bool waits_for_children = edge.role == EdgeRole::child &&
                                  (!map || map->phase != MapPhase::collects) &&
                                  std::holds_alternative<WaitingChildren>(downstream.next.state);
  const bool may_wait = waits_for_children || is_untouched(downstream.next);
  if (edge.state != EdgeState::pending && !may_wait)
    start_anew(downstream,
               {.reason = name_of(upstream) + " runs again", .requested_by = {}, .at = now_});
  edge.state = target;
  edge.run = upstream.replay_count;
  settle(downstream);
  return {};
}

Result<void> FlowDraft::align_new_edges(const ExecutionId& upstream) {
  const auto state = node(upstream);
  FF_TRY(state);
  if (!has_ended((*state)->next)) return {};
  const Execution& ended = (*state)->next;
  const auto found = new_edges_.find(upstream);
  if (found == new_edges_.end()) return {};
  for (const auto& id : found->second) FF_TRY(align(edges_.at(id), ended));
  return {};
}

Result<SliceReply> FlowDraft::align_edges(const ExecutionId& id,
                                          const std::optional<EdgeId>& after) {
  const auto upstream = node(id);
  FF_TRY(upstream);
  const Execution& state = (*upstream)->next;
  if (!after) FF_TRY(align_new_edges(id));
  if (!(*upstream)->before || (*upstream)->before->flow->edges_out == 0) return SliceReply{};
  const auto slice = budget_;
  if (slice == 0) return SliceReply{.more = true, .next = after};
  const auto edges = view_.find_edges_out(id, after, slice);
  FF_TRY(edges);
  for (const auto& each : *edges) {
    const auto found = edge(each);
    FF_TRY(found);
    FF_TRY(align(**found, state));
  }
  budget_ -= edges->size();
  if (edges->size() < slice) return SliceReply{};
  return SliceReply{.more = true, .next = edges->back()};
}

// The first edges out of a node, stored or new.
Result<std::vector<EdgeId>> FlowDraft::edges_out(const ExecutionId& upstream, std::size_t max) {
  auto edges = view_.find_edges_out(upstream, std::nullopt, max);
  FF_TRY(edges);
  if (const auto added = new_edges_.find(upstream); added != new_edges_.end())
    std::ranges::copy(added->second | std::views::take(max - edges->size()),
                      std::back_inserter(*edges));
  return edges;
}

Result<bool> FlowDraft::is_needed_by_others(const ExecutionId& upstream,
                                            const ExecutionId& except) {
  // A node with very many dependents is needed by one of them, in all likelihood.
  const auto edges = edges_out(upstream, flow_step_max);
  FF_TRY(edges);
  budget_ -= std::min(budget_, edges->size());
  if (edges->size() == flow_step_max) return true;
  for (const auto& each : *edges) {
    if (each.downstream == except) continue;
    const auto found = edge(each);
    FF_TRY(found);
    if ((*found)->state != EdgeState::pending) continue;
    const auto downstream = node(each.downstream);
    FF_TRY(downstream);
    const auto& next = (*downstream)->next;
    if (std::holds_alternative<WaitingChildren>(next.state)) return true;
  }
  return false;
}

Result<SliceReply> FlowDraft::cancel_rest(const ExecutionId& id,
                                          const std::optional<EdgeId>& after) {
  const auto found = node(id);
  FF_TRY(found);
  const auto count = (*found)->next.flow->edges_in;
  auto index = after ? after->index + 1 : 0;
  for (; index < count && budget_ > 0; ++index) {
    --budget_;
    const auto each = edge({id, index});
    FF_TRY(each);
    if ((*each)->state != EdgeState::pending) continue;
    const auto rest = node((*each)->upstream);
    FF_TRY(rest);
    auto& next = (*rest)->next;
    if (has_ended(next)) continue;
    const auto needed = is_needed_by_others(next.id, id);
    FF_TRY(needed);
    if (*needed) continue;
    const auto reason = reason_of_rest(name_of((*found)->next));
    end_open_attempt(next, {.at = now_, .how = LeaseEnd::cancelled, .reason = reason},
                     {.at = now_, .outcome = AttemptOutcome::cancelled, .reason = reason});
    next.flow->is_cancelled_as_rest = true;
    end_execution(next, now_, Cancelled{.reason = reason, .by = std::nullopt});
    (*rest)->event = EventType::cancelled;
    note_end(**rest);
  }
  if (index == count) return SliceReply{};
  return SliceReply{.more = true, .next = EdgeId{id, index - 1}};
}

Result<void> FlowDraft::align_queued() {
  while (!to_align_.empty() || !to_cancel_rest_.empty()) {
    if (!to_align_.empty()) {
      const auto id = to_align_.front();
      to_align_.pop_front();
      const auto slice = align_edges(id, std::nullopt);
      FF_TRY(slice);
      if (slice->more)
        effects_.emplace_back(ResolveEdges{.id = id, .turn = turn_of(nodes_.at(id).next)});
      continue;
    }
    const auto id = to_cancel_rest_.front();
    to_cancel_rest_.pop_front();
    const auto slice = cancel_rest(id, std::nullopt);
    FF_TRY(slice);
    if (slice->more)
      effects_.emplace_back(CancelRest{.id = id, .run = nodes_.at(id).next.replay_count});
  }
  return {};
}

// ---- Repairs -------------------------------------------------------------------------------------

// True if it was repaired.
Result<bool> FlowDraft::check_edge(const EdgeId& id) {
  const auto found = edge(id);
  FF_TRY(found);
  const auto upstream = node((*found)->upstream);
  FF_TRY(upstream);
  const auto downstream = node(id.downstream);
  FF_TRY(downstream);
  const auto& before = (*upstream)->next;
  if (is_aligned(**found, before, *(*downstream)->next.flow)) return false;
  if (view_.has_effect(flow.partition, ResolveEdges{.id = before.id, .turn = turn_of(before)}))
    return false;
  FF_TRY(align(**found, before));
  return true;
}

// True if the node counted its edges wrongly.
Result<bool> FlowDraft::recount_edges(Node& node) {
  auto& counted = *node.next.flow;
  auto right = counted;
  right.satisfied = right.impossible = right.children = right.open_children = 0;
  for (std::uint32_t index = 0; index < counted.edges_in; ++index) {
    const auto found = edge({node.next.id, index});
    FF_TRY(found);
    const auto& each = **found;
    if (each.role == EdgeRole::child) {
      right.children += 1;
      right.open_children += each.state == EdgeState::pending ? 1 : 0;
    } else {
      right.satisfied += each.state == EdgeState::satisfied ? 1 : 0;
      right.impossible += each.state == EdgeState::impossible ? 1 : 0;
    }
  }
  if (right == counted) return false;
  counted = right;
  return true;
}

// True if the effect that the phase of its list needs was lost.
Result<bool> FlowDraft::renew_effect_of_map(Node& node) {
  auto effect = effect_of_map(node.next);
  const bool emitted = effect && std::ranges::find(effects_, *effect) != effects_.end();
  if (!effect || emitted || view_.has_effect(flow.partition, *effect)) return false;
  effects_.push_back(std::move(*effect));
  node.event = EventType::waiting_children;  // announces the effect
  return true;
}

Result<CheckReply> FlowDraft::check(const ExecutionId& id, std::uint32_t from) {
  const auto found = node(id);
  FF_TRY(found);
  auto& checked = **found;
  const auto waits = [&] { return std::holds_alternative<WaitingChildren>(checked.next.state); };
  const auto edges = checked.next.flow->edges_in;
  const auto end = std::min<std::uint64_t>(edges, from + flow_step_max);
  CheckReply reply;
  const auto note = [&](bool repaired) { reply.repaired += repaired ? 1 : 0; };
  if (edges <= flow_step_max) {  // more could not be counted in one step
    const auto recounted = recount_edges(checked);
    FF_TRY(recounted);
    note(*recounted);
  }
  for (auto index = from; index < end && waits(); ++index) {
    const auto repaired = check_edge({id, index});
    FF_TRY(repaired);
    note(*repaired);
  }
  if (!waits()) return reply;
  if (end < edges) {
    reply.next = static_cast<std::uint32_t>(end);
    return reply;
  }
  const auto event = checked.event;
  settle(checked);
  note(checked.event != event);
  if (!waits()) return reply;
  const auto renewed = renew_effect_of_map(checked);
  FF_TRY(renewed);
  note(*renewed);
  return reply;
}

// ---- The plan ------------------------------------------------------------------------------------

// With their edges from nodes that have ended, and from each other.
Result<void> FlowDraft::settle_new_nodes() {
  for (const auto& [upstream, edges] : new_edges_) {
    const auto found = node(upstream);
    FF_TRY(found);
    (*found)->next.flow->edges_out += static_cast<std::uint32_t>(edges.size());
  }
  for (const auto& [upstream, edges] : new_edges_) FF_TRY(align_new_edges(upstream));
  for (const auto& id : std::vector(order_)) {
    auto& each = nodes_.at(id);
    if (each.before) continue;
    other_changes_.emplace_back(
        AddMember{.flow = flow.id, .index = each.next.flow->index, .node = id});
    settle(each);
    if (!has_ended(each.next)) each.event = EventType::submitted;
  }
  return {};
}

// In the order of their keys, which a store writes fastest.
void FlowDraft::add_edge_changes(std::vector<Change>& changes) {
  std::vector<Edge*> sorted;
  sorted.reserve(edges_.size());
  for (auto& [id, each] : edges_) sorted.push_back(&each);
  std::ranges::sort(sorted, {}, [](const Edge* edge) -> const EdgeId& { return edge->id; });
  for (auto* each : sorted) {
    const auto before = edges_before_.find(each->id);
    if (before == edges_before_.end())
      changes.emplace_back(AddEdge{std::move(*each)});
    else if (*each != before->second)
      changes.emplace_back(PutEdge{std::move(*each)});
  }
}

Result<void> FlowDraft::finish(std::vector<Change>& changes, std::vector<Effect>& effects,
                               std::optional<EventType> event) {
  FF_TRY(settle_new_nodes());
  FF_TRY(align_queued());
  if (settled_last_) {
    settle(nodes_.at(*settled_last_));
    FF_TRY(align_queued());
  }
  // A walk that begins anew has an effect of its own: the one before it may be settled at any time.
  const bool begins_walk = flow.walk == 0u && before_.walk != 0u;
  if (begins_walk && !flow.is_removing) {
    FF_TRY(advance());
    FF_TRY(align_queued());
    if (flow.walk == 0u) FF_TRY(advance());
    FF_TRY(align_queued());
  }
  if (begins_walk && flow.walk) effects_.emplace_back(AdvanceFlow{flow.id});

  constexpr std::size_t changes_of_a_node = 2;  // its payload or result, and the node
  changes.reserve(changes.size() + changes_of_a_node * order_.size() + edges_.size() +
                  other_changes_.size() + 1);
  for (const auto& id : order_) {
    auto& each = nodes_.at(id);
    if (each.before && *each.before == each.next && !each.event) continue;
    Step<Done> step{.reply = {},
                    .next = std::move(each.next),
                    .event = each.event,
                    .payload = std::move(each.payload),
                    .result = std::move(each.result),
                    .drop_result = each.starts_anew,
                    .start_anew = each.starts_anew};
    auto plan = plan_of(each.before ? &*each.before : nullptr, std::move(step));
    std::ranges::move(plan.changes, std::back_inserter(changes));
    for (auto& effect : plan.effects)  // those of the command's own execution are there already
      if (std::ranges::find(effects, effect) == effects.end()) effects.push_back(std::move(effect));
  }
  add_edge_changes(changes);
  std::ranges::move(other_changes_, std::back_inserter(changes));
  std::ranges::move(effects_, std::back_inserter(effects));

  if (flow.is_removing && !flow.walk) {
    changes.emplace_back(RemoveFlow{flow});
    return {};
  }
  if (const auto end = end_of(flow)) {
    flow.state = *end;
    flow.ended_at = now_;
    event = event_of_end(*end);
    if (flow.parent)
      effects.emplace_back(
          EndSubflow{flow.parent->node, flow.parent->run, flow.id, flow.generation});
  }
  if (flow == before_ && !event) return {};
  flow.version += 1;
  changes.emplace_back(PutFlow{flow, event});
  return {};
}

namespace {

auto find_node(std::vector<Change>& changes) {
  return std::ranges::find_if(changes, [](const Change& change) {
    const auto* put = std::get_if<PutExecution>(&change);
    return put && put->next.flow;
  });
}

}  // namespace

PutExecution take_put(std::vector<Change>& changes) {
  const auto found = find_node(changes);
  FF_ASSERT(found != changes.end());
  auto put = std::move(std::get<PutExecution>(*found));
  changes.erase(found);
  return put;
}

Result<void> add_consequences(PartitionView& view, std::vector<Change>& changes,
                              std::vector<Effect>& effects, TimePoint now) {
  const auto found = find_node(changes);
  if (found == changes.end()) return {};
  const auto& next = std::get<PutExecution>(*found).next;
  const auto before = view.find(next.id);
  FF_TRY(before);
  const bool had_ended = *before && has_ended(**before);
  const bool is_held = std::holds_alternative<Active>(next.state) ||
                       std::holds_alternative<Granted>(next.state) ||
                       std::holds_alternative<Suspended>(next.state);
  if (is_held || (had_ended && has_ended(next))) return {};
  auto put = take_put(changes);
  const auto flow = flow_of(view, put.next);
  FF_TRY(flow);
  FlowDraft draft(view, **flow, now);
  if (had_ended) {
    if (draft.flow.deadline && *draft.flow.deadline <= now) draft.flow.deadline.reset();
    reopen(draft.flow);
  }
  FF_TRY(draft.take(*before, std::move(put)));
  return draft.finish(changes, effects);
}

}  // namespace ff::core
