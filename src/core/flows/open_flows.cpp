// Flows that get executions as members, and edges between them, one by one.
#include <algorithm>
#include <set>

#include "base/try.hpp"
#include "core/flows/draft.hpp"
#include "core/refusals.hpp"

namespace ff::core {
namespace {

// Nodes that the search for a circle looks at; more below an edge count as one.
constexpr std::size_t searched_max = 10'000;

Result<Flow> load_open(PartitionView& view, const FlowId& id) {
  const auto flow = view.find_flow(id);
  FF_TRY(flow);
  if (!*flow || (*flow)->is_removing) return refusals::not_found(id);
  if (is_terminal((*flow)->state)) return refusals::already_terminal(id, (*flow)->state);
  if (!(*flow)->is_open) return refusals::not_open(id);
  return **flow;
}

Result<Execution> load_member(PartitionView& view, const FlowId& flow, std::string_view field,
                              const ExecutionId& id) {
  const auto found = view.find(id);
  FF_TRY(found);
  if (!*found || !(*found)->flow || (*found)->flow->flow != flow)
    return refusals::not_a_member(flow, field, id);
  return **found;
}

Result<bool> is_reached(PartitionView& view, const ExecutionId& from, const ExecutionId& wanted) {
  constexpr std::size_t page = 1'000;
  std::vector<ExecutionId> queue{from};
  std::set<ExecutionId> seen{from};
  for (std::size_t at = 0; at < queue.size(); ++at) {
    std::optional<EdgeId> after;
    while (true) {
      const auto edges = view.find_edges_out(queue[at], after, page);
      FF_TRY(edges);
      for (const auto& edge : *edges) {
        if (edge.downstream == wanted) return true;
        if (seen.insert(edge.downstream).second) queue.push_back(edge.downstream);
        if (queue.size() > searched_max) return true;
      }
      if (edges->size() < page) break;
      after = edges->back();
    }
  }
  return false;
}

Result<std::optional<Edge>> find_given(PartitionView& view, const Execution& downstream,
                                       const GivenEdgeId& given) {
  for (std::uint32_t index = 0; index < downstream.flow->edges_in; ++index) {
    auto edge = view.find_edge({downstream.id, index});
    FF_TRY(edge);
    if (edge->given == given) return std::move(*edge);
  }
  return std::nullopt;
}

std::uint32_t open_edges(const Membership& node) {
  return node.edges_in - node.children - node.staged - node.satisfied - node.impossible;
}

template <class Reply>
Result<Plan<Reply>> finish_open(FlowDraft& draft, Reply reply) {
  Plan<Reply> plan{.reply = std::move(reply), .has_consequences = true};
  FF_TRY(draft.finish(plan.changes, plan.effects));
  return plan;
}

}  // namespace

Result<Plan<AddFlowMemberReply>> decide(PartitionView& view, const AddFlowMember& command,
                                        TimePoint now) {
  auto flow = load_open(view, command.id);
  FF_TRY(flow);
  const auto found = view.find(command.execution);
  FF_TRY(found);
  if (!*found || (*found)->ns != flow->ns) return refusals::not_found(command.execution);
  AddFlowMemberReply reply{.execution = command.execution, .nodes = flow->counts.nodes};
  if (const auto& earlier = (*found)->flow) {
    if (earlier->flow != command.id)
      return refusals::already_in_flow(command.execution, earlier->flow);
    reply.duplicate = true;
    return Plan<AddFlowMemberReply>{.reply = reply};
  }
  if (flow->counts.nodes >= limits::flow_nodes_max)
    return refusals::flow_too_large(command.id, "execution_id");
  FlowDraft draft(view, std::move(*flow), now);
  draft.add_member(**found);
  reply.nodes = draft.flow.counts.nodes;
  return finish_open(draft, reply);
}

Result<Plan<StageEdgeReply>> decide(PartitionView& view, const StageEdge& command, TimePoint now) {
  auto flow = load_open(view, command.id);
  FF_TRY(flow);
  if (flow->revision != command.expected_revision)
    return refusals::stale_revision(command.id, flow->revision);
  FF_TRY(load_member(view, command.id, "upstream_execution_id", command.upstream));
  const auto downstream =
      load_member(view, command.id, "downstream_execution_id", command.downstream);
  FF_TRY(downstream);
  const auto reached = is_reached(view, command.downstream, command.upstream);
  FF_TRY(reached);
  if (*reached) return refusals::closes_circle(command.upstream, command.downstream);
  const auto earlier = find_given(view, *downstream, command.edge);
  FF_TRY(earlier);
  if (*earlier) return refusals::edge_exists(command.edge);
  if (downstream->flow->edges_in >= limits::node_dependencies_max ||
      flow->edges >= limits::flow_edges_max)
    return refusals::flow_too_large(command.id, "edge_id");
  FlowDraft draft(view, std::move(*flow), now);
  FF_TRY(draft.stage_edge(command.upstream, command.downstream, command.edge));
  return finish_open(draft,
                     StageEdgeReply{.edge = command.edge, .revision = draft.flow.revision});
}

Result<Plan<ApplyEdgeReply>> decide(PartitionView& view, const ApplyEdge& command, TimePoint now) {
  auto flow = load_open(view, command.id);
  FF_TRY(flow);
  const auto downstream =
      load_member(view, command.id, "downstream_execution_id", command.downstream);
  FF_TRY(downstream);
  const auto edge = find_given(view, *downstream, command.edge);
  FF_TRY(edge);
  if (!*edge || (*edge)->upstream != command.upstream)
    return refusals::edge_not_found(command.id, command.edge);
  if ((*edge)->role != EdgeRole::staged)
    return Plan<ApplyEdgeReply>{
        .reply = {.unsatisfied = open_edges(*downstream->flow), .duplicate = true}};
  if (!can_wait(*downstream)) return refusals::has_begun(command.downstream, public_state(*downstream));
  FlowDraft draft(view, std::move(*flow), now);
  FF_TRY(draft.apply_edge((*edge)->id));
  const auto waits = draft.change(command.downstream);
  FF_TRY(waits);
  return finish_open(draft, ApplyEdgeReply{.unsatisfied = open_edges(*(*waits)->flow)});
}

}  // namespace ff::core
