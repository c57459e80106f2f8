// A graph that is too large for one call to the engine, in parts.
#pragma once

#include <flowfabric/flows.hpp>

#include <vector>

namespace ff {

using GraphPart = std::vector<FlowNode>;

// The nodes in as few parts as one call each may have. A node stands in the same part as the nodes before it or in
// a later one. Fails with cycle_detected if that is not possible. A graph that fits into one call is not reordered.
Result<std::vector<GraphPart>> graph_parts(std::vector<FlowNode> nodes);

}  // namespace ff
