// Nodes on their way into a store.
#pragma once

#include <string_view>
#include <vector>

#include "core/flows/commands.hpp"

namespace ff {

// The graph of each node that is a flow becomes its payload. `field` is the name of the list in errors.
Result<void> pack_subflows(std::string_view field, std::vector<FlowNode>& nodes);

// Nodes that name no fairness key, also those of flows within the flow, get the flow's.
void pass_on_fairness(SubmitFlow& flow);

std::vector<core::NewNode> with_ids(std::vector<FlowNode> nodes, const FlowId& flow,
                                    PartitionIndex partition);

}  // namespace ff
