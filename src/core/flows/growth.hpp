// Nodes that a flow gets, when it is submitted or later.
#pragma once

#include <optional>
#include <vector>

#include "core/flows/draft.hpp"

namespace ff::core {

// A node as the execution that it becomes; without its payload, and without what it has from its flow.
Submit submit_of(const FlowNode& node);

// A node that waits only for nodes that failed or finished.
bool is_finalizer(const FlowNode& node);

struct NodeTerms {
  Millis retention{};
  const Execution* spawner = nullptr;  // nodes without dependencies depend on it
  // Of items, the node with the list: their edges tell only whose turn it is.
  const Execution* list = nullptr;
};

// Nodes that the flow has already are added again (FlowDraft::add_again). Counts a revision if any is new.
Result<void> add_nodes(PartitionView& view, FlowDraft& draft, std::vector<NewNode> nodes,
                       const NodeTerms& terms, TimePoint now);

}  // namespace ff::core
