#include "core/flows/growth.hpp"

#include <algorithm>
#include <unordered_set>

#include "base/assert.hpp"
#include "base/text/digest.hpp"
#include "base/try.hpp"
#include "core/refusals.hpp"
#include "core/transitions/ending.hpp"

namespace ff::core {

Submit submit_of(const FlowNode& node) {
  return {.lane = node.lane,
          .kind = node.kind,
          .priority = node.priority,
          .content_type = node.content_type,
          .delay_until = node.delay_until,
          .deadline = node.deadline,
          .tags = node.tags,
          .policy = node.policy};
}

FlowNode node_of(Submit submit) {
  return {.name = std::move(submit.node).value_or(NodeName{}),
          .lane = std::move(submit.lane),
          .kind = std::move(submit.kind),
          .priority = submit.priority,
          .payload = std::move(submit.payload),
          .content_type = std::move(submit.content_type),
          .delay_until = submit.delay_until,
          .deadline = submit.deadline,
          .tags = std::move(submit.tags),
          .policy = std::move(submit.policy),
          .after = std::move(submit.after)};
}

bool is_finalizer(const FlowNode& node) {
  return !node.after.empty() && std::ranges::none_of(node.after, [](const Dependency& dependency) {
    return dependency.on == DependsOn::succeeded;
  });
}

std::uint64_t digest_of(const std::string& payload) { return Digest().add(payload).value(); }

namespace {

Submit submit_in(const Flow& flow, const FlowNode& node) {
  auto submit = submit_of(node);
  submit.ns = flow.ns;
  for (const auto& budget : flow.budgets)
    if (std::ranges::find(submit.policy.budgets, budget) == submit.policy.budgets.end())
      submit.policy.budgets.push_back(budget);
  return submit;
}

std::vector<Edge> edges_of(const NewNode& added, const Flow& flow, const NodeTerms& terms) {
  std::vector<Edge> edges;
  for (const auto& dependency : added.node.after)
    edges.push_back({.id = {added.id, static_cast<std::uint32_t>(edges.size())},
                     .upstream = node_id(flow.id, flow.partition, dependency.node),
                     .role = terms.list ? EdgeRole::turn : EdgeRole::dependency,
                     .on = dependency.on,
                     .input = dependency.input});
  const auto* spawner = terms.spawner;
  if (!spawner) return edges;
  if (edges.empty()) edges.push_back({.id = {added.id, 0}, .upstream = spawner->id});
  for (auto& edge : edges)
    if (edge.upstream == spawner->id && edge.on == DependsOn::succeeded)
      edge.role = EdgeRole::spawn;
  return edges;
}

ContentType json_type() { return ContentType::parse("application/json").value(); }

Result<void> add_node(FlowDraft& draft, NewNode added, std::vector<Edge> edges,
                      const NodeTerms& terms, TimePoint now) {
  auto& node = added.node;
  auto step = apply(nullptr,
                    Create{.id = added.id,
                           .submit = submit_in(draft.flow, node),
                           .retention_default = terms.retention},
                    now);
  FF_TRY(step);
  auto& created = *step->next;
  created.request_digest = digest_of(node.payload);
  created.flow =
      Membership{.flow = draft.flow.id,
                 .node = node.name,
                 .index = draft.flow.counts.nodes,
                 .is_optional = node.optional,
                 .is_finalizer = terms.list ? terms.list->flow->is_finalizer : is_finalizer(node),
                 .cancel_rest = node.rest == RestAction::cancel,
                 .needed = node.needed};
  if (terms.spawner) created.flow->spawned_in = terms.spawner->replay_count;
  if (node.map) created.flow->map = MapState{.over = *node.map};
  if (node.flow) created.flow->subflow_turn = 0;
  draft.add(std::move(created), std::move(node.payload), std::move(edges));
  return {};
}

Result<bool> add_again(FlowDraft& draft, NewNode& added, const NodeTerms& terms) {
  const auto digest = digest_of(added.node.payload);
  const auto run = terms.spawner ? std::optional(terms.spawner->replay_count) : std::nullopt;
  return draft.add_again({.id = added.id,
                          .payload = added.node.payload,
                          .content_type = added.node.content_type,
                          .digest = digest,
                          .spawned_in = run,
                          .is_item = terms.list != nullptr});
}

// Submits can choose ids of executions, also one that a node would have.
bool is_node(const Execution& existing, const NewNode& added) {
  return existing.flow && existing.flow->node == added.node.name;
}

// A worker replaces what it spawned before, and nothing else.
Result<void> may_spawn(PartitionView& view, const NewNode& added, const refusals::NodePath& path) {
  const auto existing = view.find(added.id);
  FF_TRY(existing);
  if (*existing && (!is_node(**existing, added) || !(*existing)->flow->spawned_in))
    return refusals::not_a_child(added.node.name, path);
  return {};
}

// The items of an earlier run are those of this one, too; any other node of that name is not an item.
Result<void> is_own_item(PartitionView& view, const NewNode& item, const Execution& list) {
  const auto existing = view.find(item.id);
  FF_TRY(existing);
  if (!*existing) return {};
  const auto is_child = leads_to(view, item.id, list.id, EdgeRole::child);
  FF_TRY(is_child);
  if (!*is_child) return refusals::item_name_taken(item.node.name, list.flow->node);
  return {};
}

// Refuses a new node that would have the name of an item, or whose first item would have its name.
Result<void> is_apart_from_items(PartitionView& view, const Flow& flow, const FlowNode& node,
                                 const refusals::NodePath& path) {
  const auto find = [&](const NodeName& name) {
    return view.find(node_id(flow.id, flow.partition, name));
  };
  if (const auto name = list_of_item(node.name)) {
    const auto list = find(*name);
    FF_TRY(list);
    if (*list && (*list)->flow && (*list)->flow->map)
      return refusals::is_item_name(node.name, *name, path);
  }
  if (!node.map) return {};
  const auto item = find(item_name(node.name, 0));
  FF_TRY(item);
  if (*item) return refusals::item_exists(node.name, path);
  return {};
}

// Apart from its role: a spawned node may be added by others as well.
bool is_same(const Edge& one, const Edge& other) {
  return one.upstream == other.upstream && one.on == other.on && one.input == other.input;
}

}  // namespace

Result<void> is_same_node(PartitionView& view, const Flow& flow, const NewNode& added,
                          const NodeTerms& terms, std::size_t place) {
  const auto stored = view.find(added.id);
  FF_TRY(stored);
  if (!*stored) return {};
  const auto& name = added.node.name;
  const refusals::NodePath path{terms.field, place};
  if (!is_node(**stored, added)) return refusals::not_a_child(name, path);
  if ((*stored)->kind != added.node.kind) return refusals::another_node(name, path, "kind");
  const auto& counts = *(*stored)->flow;
  const auto edges = edges_of(added, flow, terms);
  bool same = counts.edges_in - counts.children == edges.size();
  for (std::size_t i = 0; same && i < edges.size(); ++i) {
    const auto before = view.find_edge(edges[i].id);
    FF_TRY(before);
    same = is_same(*before, edges[i]);
  }
  if (!same) return refusals::another_node(name, path, "after");
  return {};
}

Result<void> add_nodes(PartitionView& view, FlowDraft& draft, std::vector<NewNode> nodes,
                       const NodeTerms& terms, TimePoint now) {
  const auto nodes_before = draft.flow.counts.nodes;
  const bool is_new_flow = draft.flow.revision == 1 && nodes_before == 0;
  std::unordered_set<ExecutionId> known;
  for (const auto& node : nodes) known.insert(node.id);
  for (std::size_t place = 0; place < nodes.size(); ++place) {
    auto& added = nodes[place];
    const refusals::NodePath path{terms.field, place};
    if (!is_new_flow) {
      if (terms.spawner) FF_TRY(may_spawn(view, added, path));
      FF_TRY(terms.list ? is_own_item(view, added, *terms.list)
                        : is_same_node(view, draft.flow, added, terms, place));
      const auto is_there = add_again(draft, added, terms);
      FF_TRY(is_there);
      if (*is_there) continue;
      if (!terms.list) FF_TRY(is_apart_from_items(view, draft.flow, added.node, path));
    }
    auto edges = edges_of(added, draft.flow, terms);
    for (const auto& edge : edges) {
      if (known.contains(edge.upstream)) continue;
      const auto upstream = view.find(edge.upstream);
      FF_TRY(upstream);
      if (!*upstream)
        return refusals::node_not_found(draft.flow.id, added.node.after[edge.id.index].node, path,
                                        edge.id.index);
      known.insert(edge.upstream);
    }
    FF_TRY(add_node(draft, std::move(added), std::move(edges), terms, now));
  }
  if (draft.flow.counts.nodes > limits::flow_nodes_max || draft.flow.edges > limits::flow_edges_max)
    return refusals::flow_too_large(draft.flow.id, terms.field);
  if (!is_new_flow && draft.flow.counts.nodes > nodes_before) draft.flow.revision += 1;
  return {};
}

// ---- Growth at run time --------------------------------------------------------------------------

Result<Plan<EndReply>> decide(PartitionView& view, Grow command, TimePoint now) {
  const auto before = view.find(command.id);
  FF_TRY(before);
  if (!*before) return refusals::not_found(command.id);
  if (!(*before)->flow) return refusals::not_a_node(command.id);
  auto step =
      std::visit([&](auto& end) { return apply(**before, std::move(end), now); }, command.end);
  FF_TRY(step);
  auto plan = plan_of(*before, std::move(*step));
  if (plan.changes.empty()) return plan;  // it was told before
  const auto flow = flow_of(view, **before);
  FF_TRY(flow);
  if ((*flow)->is_open) return refusals::not_a_node(command.id);
  FlowDraft draft(view, **flow, now);
  FF_TRY(draft.take(*before, take_put(plan.changes)));
  const bool waits = std::holds_alternative<WaitForChildren>(command.end);
  std::vector<std::pair<ExecutionId, NodeName>> added;
  for (const auto& node : command.nodes) added.emplace_back(node.id, node.node.name);
  const auto spawner = **before;
  FF_TRY(add_nodes(view, draft, std::move(command.nodes),
                   {.retention = command.retention_default,
                    .spawner = waits ? nullptr : &spawner,
                    .field = waits ? "children" : "spawn"},
                   now));
  if (waits) {
    const auto parent = draft.change(command.id);
    FF_TRY(parent);
    for (std::size_t place = 0; place < added.size(); ++place) {
      const auto is_child = draft.add_child(command.id, added[place].first);
      FF_TRY(is_child);
      if (!*is_child) return refusals::not_a_child(added[place].second, {"children", place});
    }
    if (!has_ended(**parent)) (*parent)->state = WaitingChildren{};
    draft.settle_last(command.id);
  }
  plan.has_consequences = true;
  FF_TRY(draft.finish(plan.changes, plan.effects));
  for (const auto& change : plan.changes)
    if (const auto* put = std::get_if<PutExecution>(&change); put && put->next.id == command.id)
      plan.reply.state = public_state(put->next);
  return plan;
}

namespace {

// The node that the engine runs, if it is still in this run.
Result<const Execution*> node_in(PartitionView& view, const ExecutionId& id, std::uint32_t run) {
  const auto node = view.find(id);
  FF_TRY(node);
  const bool is_current = *node && (*node)->flow && is_run_by_engine(*(*node)->flow) &&
                          !has_ended(**node) && (*node)->replay_count == run;
  return is_current ? *node : nullptr;
}

FlowNode item_of(const Execution& node, std::uint32_t index, std::string payload) {
  const auto& over = node.flow->map->over;
  FlowNode item{.name = item_name(node.flow->node, index),
                .lane = node.lane,
                .kind = node.kind,
                .priority = node.priority,
                .payload = std::move(payload),
                .content_type = json_type(),
                .deadline = node.deadline,
                .tags = node.tags,
                .policy = node.policy,
                .optional = true};
  if (over.max_parallel && index >= *over.max_parallel)
    item.after.push_back({.node = item_name(node.flow->node, index - *over.max_parallel),
                          .on = DependsOn::finished});
  return item;
}

}  // namespace

Result<Plan<Done>> decide(PartitionView& view, AddItems command, TimePoint now) {
  const auto node = node_in(view, command.id, command.run);
  FF_TRY(node);
  if (!*node || !(*node)->flow->map || (*node)->flow->map->phase != MapPhase::adds_items ||
      (*node)->flow->map->items != command.first)
    return Plan<Done>{};
  const auto flow = flow_of(view, **node);
  FF_TRY(flow);
  const Execution parent = **node;
  FlowDraft draft(view, **flow, now);
  std::vector<ExecutionId> ids;
  std::vector<NewNode> items;
  for (auto& each : command.items) {
    const auto index = command.first + static_cast<std::uint32_t>(ids.size());
    ids.push_back(each.id);
    items.push_back({each.id, item_of(parent, index, std::move(each.payload))});
  }
  FF_TRY(add_nodes(view, draft, std::move(items),
                   {.retention = command.retention_default, .list = &parent}, now));
  for (const auto& id : ids) FF_TRY(draft.add_child(command.id, id));
  const auto next = draft.change(command.id);
  FF_TRY(next);
  auto& map = *(*next)->flow->map;
  map.items += static_cast<std::uint32_t>(ids.size());
  if (command.is_last) map.phase = MapPhase::runs_items;
  draft.settle_last(command.id);  // some of the items may run again
  Plan<Done> plan{.reply = {}, .has_consequences = true};
  FF_TRY(draft.finish(plan.changes, plan.effects));
  return plan;
}

Result<Plan<Done>> decide(PartitionView& view, EndNode command, TimePoint now) {
  const auto before = node_in(view, command.id, command.run);
  FF_TRY(before);
  if (!*before) return Plan<Done>{};
  const auto& node = *(*before)->flow;
  const bool may_complete = node.map ? node.map->phase == MapPhase::collects : has_subflow(node);
  if (!command.failure && !may_complete) return Plan<Done>{};
  const auto flow = flow_of(view, **before);
  FF_TRY(flow);
  FlowDraft draft(view, **flow, now);
  PutExecution put{.next = **before,
                   .event = command.failure ? EventType::failed : EventType::completed};
  if (auto& failure = command.failure)
    end_execution(put.next, now, Failed{std::move(failure->reason), std::move(failure->category)});
  else
    end_execution(put.next, now, Completed{std::move(command.content_type)});
  FF_TRY(draft.take(*before, std::move(put)));
  if (!command.failure && command.result) draft.set_result(command.id, std::move(*command.result));
  Plan<Done> plan{.reply = {}, .has_consequences = true};
  FF_TRY(draft.finish(plan.changes, plan.effects));
  return plan;
}

}  // namespace ff::core
