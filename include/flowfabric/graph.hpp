// The graph of a flow: nodes, and the edges between them.
#pragma once

#include <flowfabric/executions.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ff {

// The end of a node that an edge from it waits for. Any other end makes the edge impossible.
enum class DependsOn : std::uint8_t {
  succeeded,  // completed
  failed,     // failed, expired or cancelled
  finished,   // any end, also skipped
};
FF_NAMES(DependsOn, "succeeded", "failed", "finished");

// An edge from another node of the flow.
struct Dependency {
  NodeName node;
  DependsOn on = DependsOn::succeeded;
  std::optional<NodeName> input = {};  // the name of its result for the handler; absent: the node's name
  bool operator==(const Dependency&) const = default;
};

// The fate of the nodes before a node that starts without waiting for all of them.
enum class RestAction : std::uint8_t {
  let_run,
  cancel,  // those that no other node waits for
};
FF_NAMES(RestAction, "let_run", "cancel");

// Makes a node run once for each entry of a list. The node's own kind, lane, priority and policy are those of its
// items; they are nodes of the flow as well, called NODE.0, NODE.1 and so on. It ends when all of them have, and
// its result is the list of their results, with null for those that failed.
struct MapOver {
  NodeName input;  // of a dependency whose result is the list, in JSON
  std::optional<std::uint32_t> max_parallel = {};  // items that run at the same time; absent: all
  std::uint32_t tolerated_failures = 0;            // with more of them the node fails
  bool operator==(const MapOver&) const = default;
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
};

}  // namespace ff
