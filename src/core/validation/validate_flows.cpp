#include <algorithm>
#include <deque>
#include <unordered_map>

#include "base/try.hpp"
#include "core/execution/partitions.hpp"
#include "core/flows/growth.hpp"
#include "core/refusals.hpp"
#include "core/validation/checks.hpp"
#include "core/validation/validate.hpp"

namespace ff::core {
namespace {

// Nodes of one call by their names.
using Positions = std::unordered_map<std::string, std::size_t>;

// A list of nodes in an operation, by the name of its field.
struct NodeList {
  std::string_view field;
  const std::vector<FlowNode>& nodes;
};

std::string path_of(const NodeList& list, std::size_t node) {
  return fmt::format("{}[{}]", list.field, node);
}
std::string path_of(const NodeList& list, std::size_t node, std::size_t dependency) {
  return fmt::format("{}[{}].after[{}]", list.field, node, dependency);
}

Result<void> map_valid(const FlowNode& node) {
  const auto& map = *node.map;
  FF_TRY(all_of({present("map.over", map.input),
                 in_range("map.max_parallel", map.max_parallel.value_or(1), 1u,
                          limits::flow_nodes_max)}));
  const bool is_known = std::ranges::any_of(node.after, [&](const Dependency& dependency) {
    return dependency.input.value_or(dependency.node) == map.input &&
           dependency.on == DependsOn::succeeded;
  });
  if (!is_known)
    return fail_field(Errc::invalid_input, "map.over",
                      fmt::format("map.over names {}, which is no input of this node; it must be "
                                  "that of a dependency on success",
                                  map.input.str()));
  if (!node.payload.empty())
    return fail_field(Errc::invalid_input, "payload",
                      "a node with map has no payload of its own: each item gets its entry of the list");
  // The longest name of an item still has to be a name.
  constexpr std::size_t name_max = node_rule.bytes_max - sizeof ".99999" + 1;
  if (node.name.str().size() > name_max)
    return fail_field(Errc::invalid_input, "name",
                      fmt::format("the name of a node with map has at most {} bytes", name_max));
  return {};
}

Result<void> nodes_valid(const NodeList& list, std::size_t budgets_of_flow, bool may_name_earlier,
                         std::size_t depth = 0);

Result<void> result_known(std::string_view field, const std::optional<NodeName>& result,
                          const std::vector<FlowNode>& nodes) {
  if (!result || std::ranges::find(nodes, *result, &FlowNode::name) != nodes.end()) return {};
  return fail_field(Errc::node_not_found, std::string(field),
                    fmt::format("{}: the flow has no node {}", field, result->str()));
}

Result<void> subflow_valid(const FlowNode& node, std::size_t budgets_of_flow, std::size_t depth) {
  if (node.map)
    return fail_field(Errc::invalid_input, "map",
                      "a node has map or flow, not both; put a node with map into the flow");
  if (!node.payload.empty() || node.content_type)
    return fail_field(Errc::invalid_input, "payload",
                      "a node with flow has no payload; give it to the nodes of that flow");
  if (node.delay_until)
    return fail_field(Errc::invalid_input, "flow",
                      "a node with flow has neither delay_ms nor delay_until_ms; give the delay to "
                      "the first nodes of that flow");
  if (depth == limits::subflow_depth_max)
    return fail_field(Errc::flow_limit_exceeded, "flow",
                      fmt::format("flow: at most {} flows can be within each other",
                                  limits::subflow_depth_max));
  if (node.flow->nodes.empty())
    return fail_field(Errc::invalid_input, "flow.nodes",
                      "flow.nodes is empty; a flow has at least one node");
  FF_TRY(nodes_valid({"flow.nodes", node.flow->nodes},
                     budgets_of_flow + node.policy.budgets.size(), false, depth + 1));
  return result_known("flow.result", node.flow->result, node.flow->nodes);
}

Result<void> node_valid(const FlowNode& node, std::size_t budgets_of_flow, std::size_t depth) {
  FF_TRY(all_of({present("name", node.name), validate(submit_of(node), any_partition),
                 fits("payload", node.payload.size(), limits::payload_bytes_max),
                 in_range("after", node.after.size(), std::size_t{0},
                          std::size_t{limits::node_dependencies_max}),
                 in_range("budgets", node.policy.budgets.size() + budgets_of_flow, std::size_t{0},
                          limits::budgets_per_execution_max)}));
  if (node.flow) FF_TRY(subflow_valid(node, budgets_of_flow, depth));
  if (node.map) FF_TRY(map_valid(node));
  if (!node.needed && node.rest == RestAction::cancel)
    return fail_field(Errc::invalid_input, "rest",
                      "rest is for a node with needed: any other waits for all nodes before it");
  if (!node.needed) return {};
  if (*node.needed >= 1 && *node.needed <= node.after.size()) return {};
  return fail_field(Errc::invalid_input, "needed",
                    fmt::format("needed is {}, but the node has {} dependencies; it must be from 1 "
                                "to their number",
                                *node.needed, node.after.size()));
}

Result<Positions> positions_of(const NodeList& list) {
  const auto& nodes = list.nodes;
  Positions positions;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (!positions.emplace(nodes[i].name.str(), i).second)
      return fail_field(Errc::invalid_input, path_of(list, i) + ".name",
                        fmt::format("{}.name: another node is called {} already", path_of(list, i),
                                    nodes[i].name.str()));
  return positions;
}

// NODE.7 is the name of an item, if NODE has a list.
Result<void> item_names_free(const NodeList& list, const Positions& positions) {
  for (std::size_t i = 0; i < list.nodes.size(); ++i) {
    const auto& name = list.nodes[i].name;
    const auto map = list_of_item(name);
    const auto found = map ? positions.find(map->str()) : positions.end();
    if (found == positions.end() || !list.nodes[found->second].map) continue;
    return refusals::is_item_name(name, *map, {list.field, i});
  }
  return {};
}

Result<void> dependencies_valid(const NodeList& list, const Positions& positions,
                                bool may_name_earlier) {
  const auto& nodes = list.nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t j = 0; j < nodes[i].after.size(); ++j) {
      const auto path = path_of(list, i, j);
      const auto& name = nodes[i].after[j].node;
      FF_TRY(inside(path, all_of({present("node", name), present("input", nodes[i].after[j].input)})));
      if (name == nodes[i].name)
        return fail_field(Errc::self_referencing_edge, path,
                          fmt::format("{}: node {} cannot depend on itself", path, name.str()));
      if (!may_name_earlier && !positions.contains(name.str()))
        return fail_field(Errc::node_not_found, path,
                          list.field == "children"
                              ? fmt::format("{}: children depend only on each other, and none is "
                                            "called {}",
                                            path, name.str())
                              : fmt::format("{}: the flow has no node {}", path, name.str()));
    }
  return {};
}

// Takes off nodes whose dependencies are all taken off; a cycle is left.
Result<void> is_acyclic(const NodeList& list, const Positions& positions) {
  const auto& nodes = list.nodes;
  std::vector<std::size_t> open(nodes.size(), 0);
  std::vector<std::vector<std::size_t>> dependents(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const auto& dependency : nodes[i].after)
      if (const auto found = positions.find(dependency.node.str()); found != positions.end()) {
        open[i] += 1;
        dependents[found->second].push_back(i);
      }
  std::deque<std::size_t> free;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (open[i] == 0) free.push_back(i);
  while (!free.empty()) {
    for (const auto dependent : dependents[free.front()])
      if (--open[dependent] == 0) free.push_back(dependent);
    free.pop_front();
  }
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t j = 0; open[i] > 0 && j < nodes[i].after.size(); ++j) {
      const auto found = positions.find(nodes[i].after[j].node.str());
      if (found == positions.end() || open[found->second] == 0) continue;
      const auto path = path_of(list, i, j);
      return fail_field(
          Errc::cycle_detected, path,
          fmt::format("{}: {} and {} depend on each other, directly or through others", path,
                      nodes[i].name.str(), nodes[i].after[j].node.str()));
    }
  return {};
}

struct Size {
  std::size_t nodes = 0;
  std::size_t edges = 0;
  std::size_t bytes = 0;  // of their payloads
};

// With the nodes of flows within the flow.
Size size_of(const std::vector<FlowNode>& nodes) {
  Size size{.nodes = nodes.size()};
  for (const auto& node : nodes) {
    size.edges += node.after.size();
    size.bytes += node.payload.size();
    if (!node.flow) continue;
    const auto inner = size_of(node.flow->nodes);
    size.nodes += inner.nodes;
    size.edges += inner.edges;
    size.bytes += inner.bytes;
  }
  return size;
}

Result<void> nodes_valid(const NodeList& list, std::size_t budgets_of_flow, bool may_name_earlier,
                         std::size_t depth) {
  const auto& nodes = list.nodes;
  const auto size = size_of(nodes);
  const auto too_many = [&](std::size_t count, std::string_view what, std::size_t max) {
    return fail_field(
        Errc::flow_limit_exceeded, std::string(list.field),
        fmt::format("{} has {} {}, and one call takes at most {}; {}", list.field, count, what, max,
                    list.field != "nodes" || may_name_earlier ? "add them in several calls"
                                     : "submit the flow with building set, extend it, "
                                       "then seal it"));
  };
  if (size.nodes > limits::flow_call_nodes_max)
    return too_many(size.nodes, "entries", limits::flow_call_nodes_max);
  if (size.edges > limits::flow_call_edges_max)
    return too_many(size.edges, "dependencies", limits::flow_call_edges_max);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    FF_TRY(inside(path_of(list, i), node_valid(nodes[i], budgets_of_flow, depth)));
  FF_TRY(fits(list.field, size.bytes, limits::flow_call_bytes_max));
  const auto positions = positions_of(list);
  FF_TRY(positions);
  FF_TRY(item_names_free(list, *positions));
  FF_TRY(dependencies_valid(list, *positions, may_name_earlier));
  return is_acyclic(list, *positions);
}

Result<void> has_nodes(const std::vector<FlowNode>& nodes) {
  if (!nodes.empty()) return {};
  return fail_field(Errc::invalid_input, "nodes", "nodes is empty; a flow has at least one node");
}

}  // namespace

Result<void> validate(const SubmitFlow& operation, PartitionIndex) {
  if (operation.id && operation.idempotency_key)
    return fail_field(Errc::invalid_input, "idempotency_key",
                      "give an id or an idempotency_key, not both");
  if (!operation.building) FF_TRY(has_nodes(operation.nodes));
  FF_TRY(all_of({present("idempotency_key", operation.idempotency_key),
                 present("namespace", operation.ns), present("kind", operation.kind),
                 time_in_range("deadline_ms", operation.deadline),
                 duration_in_range("retention_ms", operation.retention, Millis{0}),
                 tags_valid("tags", operation.tags),
                 in_range("budgets", operation.budgets.size(), std::size_t{0},
                          limits::budgets_per_execution_max),
                 share_valid({.fairness_key = operation.fairness_key,
                              .fairness_weight = operation.fairness_weight}),
                 nodes_valid({"nodes", operation.nodes}, operation.budgets.size(), false)}));
  return operation.building ? Result<void>{}
                            : result_known("result", operation.result, operation.nodes);
}

Result<void> validate(const ExtendFlow& operation, PartitionIndex) {
  return all_of({has_nodes(operation.nodes), nodes_valid({"nodes", operation.nodes}, 0, true)});
}

Result<void> validate(const Complete& operation, PartitionIndex partition_count) {
  FF_TRY(all_of({
      validate_id(operation.id, partition_count),
      present("content_type", operation.content_type),
      fits("result", operation.result ? operation.result->size() : 0, limits::result_bytes_max),
  }));
  return operation.spawn.empty() ? Result<void>{}
                                 : nodes_valid({"spawn", operation.spawn}, 0, true);
}

// Children that depended on other nodes might wait for their parent, which waits for them.
Result<void> validate(const WaitForChildren& operation, PartitionIndex partition_count) {
  FF_TRY(validate_id(operation.id, partition_count));
  return operation.children.empty() ? Result<void>{}
                                    : nodes_valid({"children", operation.children}, 0, false);
}

Result<void> validate(const GetFlow& operation, PartitionIndex) {
  return duration_in_range("wait_ms", operation.wait, Millis{0}, limits::wait_max);
}

Result<void> validate(const ListFlowNodes& operation, PartitionIndex) {
  return in_range("limit", operation.limit, 1u, limits::list_page_max);
}

Result<void> validate(const ListFlows& operation, PartitionIndex) {
  return all_of({tag_condition_valid(operation.tag), present("namespace", operation.ns),
                 present("kind", operation.kind),
                 in_range("limit", operation.limit, 1u, limits::list_page_max)});
}

Result<void> validate(const CancelFlow& operation, PartitionIndex) {
  return all_of({short_text("reason", operation.reason, limits::reason_bytes_max),
                 duration_in_range("wait_ms", operation.wait, Millis{0}, limits::wait_max)});
}

Result<void> validate(const PauseFlow& operation, PartitionIndex) {
  return short_text("reason", operation.reason, limits::reason_bytes_max);
}

Result<void> validate(const RedriveFlow& operation, PartitionIndex) {
  return all_of({present("from", operation.from),
                 short_text("reason", operation.reason, limits::reason_bytes_max)});
}

// ---- Open flows ----------------------------------------------------------------------------------

namespace {

// Members live in the partition of their flow.
Result<void> member_valid(const FlowId& flow, std::string_view field, const ExecutionId& id,
                          PartitionIndex partition_count) {
  const auto partition = partition_of(flow.uuid(), partition_count);
  if (id.partition() == partition) return {};
  return fail_field(Errc::invalid_input, field,
                    fmt::format("{}: execution {} is in another partition than flow {}; submit it with an "
                                "id that begins with {{fp:{}}}:",
                                field, id.str(), flow.str(), partition));
}

template <class Op>
Result<void> edge_valid(const Op& operation, PartitionIndex partition_count) {
  FF_TRY(all_of({member_valid(operation.id, "upstream_execution_id", operation.upstream,
                              partition_count),
                 member_valid(operation.id, "downstream_execution_id", operation.downstream,
                              partition_count)}));
  if (operation.upstream == operation.downstream)
    return refusals::depends_on_itself(operation.upstream);
  return {};
}

}  // namespace

Result<void> validate(const OpenFlow& operation, PartitionIndex) {
  return all_of({present("namespace", operation.ns), present("flow_kind", operation.kind)});
}

Result<void> validate(const AddFlowMember& operation, PartitionIndex partition_count) {
  return member_valid(operation.id, "execution_id", operation.execution, partition_count);
}

Result<void> validate(const StageEdge& operation, PartitionIndex partition_count) {
  return edge_valid(operation, partition_count);
}

Result<void> validate(const ApplyEdge& operation, PartitionIndex partition_count) {
  return edge_valid(operation, partition_count);
}

Result<void> validate(const CancelMembers& operation, PartitionIndex) {
  return all_of({short_text("reason", operation.reason, limits::reason_bytes_max),
                 duration_in_range("wait_ms", operation.wait, Millis{0}, limits::wait_max)});
}

}  // namespace ff::core
