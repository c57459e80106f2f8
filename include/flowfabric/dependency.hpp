// The edges of a flow's graph.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/states.hpp>

#include <cstdint>
#include <optional>

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

}  // namespace ff
