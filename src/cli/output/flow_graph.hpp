// The graph of a flow as text: drawn for a terminal, or in the languages of drawing programs.
#pragma once

#include <flowfabric/flows.hpp>

#include <span>
#include <string>

#include "cli/output/screen.hpp"

namespace ff::cli {

// Layers from top to bottom, a node below all nodes before it, each with a sign for its state; then the meaning of
// the signs, and the dependencies that are not plain. A graph that is too large for the screen becomes a line per
// node.
std::string draw_graph(std::span<const FlowNodeInfo> nodes, const Screen& screen);

std::string to_mermaid(std::span<const FlowNodeInfo> nodes);
std::string to_dot(std::span<const FlowNodeInfo> nodes);

// The name of a node, or its id if it has none.
std::string shown_name(const FlowNodeInfo& node);

// "build, test (failed)": the dependencies of a node in words; "1 of: …" if not all are needed.
std::string shown_dependencies(const FlowNodeInfo& node);

}  // namespace ff::cli
