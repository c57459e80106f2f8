#include "sdk/client/graph_parts.hpp"

#include <flowfabric/limits.hpp>

#include <functional>
#include <numeric>
#include <queue>
#include <unordered_map>

#include <fmt/format.h>

#include "base/try.hpp"

namespace ff {
namespace {

std::size_t bytes_of(const std::vector<FlowNode>& nodes) {
  return std::accumulate(
      nodes.begin(), nodes.end(), std::size_t{0},
      [](std::size_t sum, const FlowNode& node) { return sum + node.payload.size(); });
}

std::size_t edges_of(const FlowNode& node) {
  auto edges = node.after.size();
  if (node.flow)
    for (const auto& inner : node.flow->nodes) edges += edges_of(inner);
  return edges;
}

std::size_t edges_of(const std::vector<FlowNode>& nodes) {
  return std::accumulate(
      nodes.begin(), nodes.end(), std::size_t{0},
      [](std::size_t sum, const FlowNode& node) { return sum + edges_of(node); });
}

bool fits_one_call(const std::vector<FlowNode>& nodes) {
  return nodes.size() <= limits::flow_call_nodes_max &&
         edges_of(nodes) <= limits::flow_call_edges_max &&
         bytes_of(nodes) <= limits::flow_call_bytes_max;
}

// Positions such that each node follows the nodes before it, otherwise in the given order.
Result<std::vector<std::size_t>> dependency_order(const std::vector<FlowNode>& nodes) {
  std::unordered_map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < nodes.size(); ++i) positions.emplace(nodes[i].name.str(), i);
  std::vector<std::size_t> open(nodes.size(), 0);
  std::vector<std::vector<std::size_t>> dependents(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const auto& dependency : nodes[i].after)
      if (const auto found = positions.find(dependency.node.str()); found != positions.end()) {
        ++open[i];
        dependents[found->second].push_back(i);
      }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> free;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (open[i] == 0) free.push(i);
  std::vector<std::size_t> order;
  while (!free.empty()) {
    order.push_back(free.top());
    free.pop();
    for (const auto dependent : dependents[order.back()])
      if (--open[dependent] == 0) free.push(dependent);
  }
  if (order.size() == nodes.size()) return order;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (open[i] > 0)
      return fail_field(
          Errc::cycle_detected, fmt::format("nodes[{}].after", i),
          fmt::format("node {} depends on itself through others", nodes[i].name.str()));
  return order;
}

}  // namespace

Result<std::vector<GraphPart>> graph_parts(std::vector<FlowNode> nodes) {
  std::vector<GraphPart> parts(1);
  if (fits_one_call(nodes)) {
    parts.front() = std::move(nodes);
    return parts;
  }
  const auto order = dependency_order(nodes);
  FF_TRY(order);
  std::size_t bytes = 0;
  std::size_t edges = 0;
  for (const auto position : *order) {
    auto& node = nodes[position];
    const auto edges_of_node = edges_of(node);
    const bool is_full = parts.back().size() == limits::flow_call_nodes_max ||
                         edges + edges_of_node > limits::flow_call_edges_max ||
                         bytes + node.payload.size() > limits::flow_call_bytes_max;
    if (is_full && !parts.back().empty()) {
      parts.emplace_back();
      bytes = edges = 0;
    }
    edges += edges_of_node;
    bytes += node.payload.size();
    parts.back().push_back(std::move(node));
  }
  return parts;
}

}  // namespace ff
