// Nodes that a flow gets, when it is submitted or later.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/flows/draft.hpp"

namespace ff::core {

// A node as the execution that it becomes; without its payload, and without what it has from its flow.
Submit submit_of(const FlowNode& node);

// An execution that is submitted into a flow as the node that it becomes.
FlowNode node_of(Submit submit);

// A node that waits only for nodes that failed or finished.
bool is_finalizer(const FlowNode& node);

// Of a node's payload; a node that is added once more is compared by it.
std::uint64_t digest_of(const std::string& payload);

struct NodeTerms {
  Millis retention{};
  const Execution* spawner = nullptr;  // nodes without dependencies depend on it
  // Of items, the node with the list: their edges tell only whose turn it is.
  const Execution* list = nullptr;
  std::string_view field = "nodes";  // of the operation, that has the nodes; empty: it is one node itself
};

// Refuses a node that the flow has already if its kind or its dependencies are others now.
Result<void> is_same_node(PartitionView& view, const Flow& flow, const NewNode& added,
                          const NodeTerms& terms, std::size_t place);

// Nodes that the flow has already are added again (FlowDraft::add_again). Counts a revision if any is new.
Result<void> add_nodes(PartitionView& view, FlowDraft& draft, std::vector<NewNode> nodes,
                       const NodeTerms& terms, TimePoint now);

}  // namespace ff::core
