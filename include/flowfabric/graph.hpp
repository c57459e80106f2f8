// The graph of a flow: nodes, and the edges between them.
#pragma once

#include <flowfabric/dependency.hpp>
#include <flowfabric/executions.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ff {

// The fate of the nodes before a node that starts without waiting for all of them.
enum class RestAction : std::uint8_t {
  let_run,
  cancel,  // those that no other node waits for
};
FF_NAMES(RestAction, "let_run", "cancel");

// After the failure of a node that is not optional.
enum class FlowFailure : std::uint8_t {
  finish,  // nodes that do not depend on it still run
  stop,    // the others are cancelled, except nodes that wait only for failed or finished ones
};
FF_NAMES(FlowFailure, "finish", "stop");

// Makes a node run once for each entry of a list. The node's own kind, lane, priority and policy are those of its
// items; they are nodes of the flow as well, called NODE.0, NODE.1 and so on. It ends when all of them have, and
// its result is the list of their results, with null for those that failed.
struct MapOver {
  NodeName input;  // of a dependency whose result is the list, in JSON
  std::optional<std::uint32_t> max_parallel = {};  // items that run at the same time; absent: all
  std::uint32_t tolerated_failures = 0;            // with more of them the node fails
  bool operator==(const MapOver&) const = default;
};

struct FlowNode;

// Makes a node a flow of its own, which the engine submits when the node's dependencies allow it. The node ends with
// that flow, with its result. The node's kind is the kind of that flow; its budgets apply to all nodes in it.
struct Subflow {
  std::vector<FlowNode> nodes;  // those without dependencies see the inputs of this node
  FlowFailure on_failure = FlowFailure::finish;
  std::optional<NodeName> result = {};  // the node whose result is the flow's
};

struct FlowNode {
  NodeName name;
  LaneId lane = default_lane();
  Kind kind;
  std::int32_t priority = 0;
  std::string payload = {};
  std::optional<ContentType> content_type = {};
  std::optional<TimePoint> delay_until = {};  // not before, also if its dependencies allow it
  std::optional<TimePoint> deadline = {};
  Tags tags = {};
  Policy policy = {};
  std::vector<Dependency> after = {};
  std::optional<std::uint32_t> needed = {};  // so many of `after` suffice; absent: all
  RestAction rest = RestAction::let_run;     // with `needed`
  bool optional = false;                     // its failure does not fail the flow
  std::optional<MapOver> map = {};
  std::optional<Subflow> flow = {};
};

}  // namespace ff
