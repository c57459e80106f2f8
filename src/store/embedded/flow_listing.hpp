// Looking through flows, their nodes, and the results that nodes pass on.
#pragma once

#include "core/flows/flow.hpp"
#include "store/embedded/disk/database.hpp"
#include "store/store.hpp"

namespace ff::embedded {

// One page. invalid_input if the cursor is not one of ours.
Result<FlowList> list_flows(const Database& database, const ListFlows& query);

Result<FlowNodes> list_nodes(const Database& database, const ExecutionId& subject,
                             const ListFlowNodes& query);

// For scanners: look at a slice of the live executions, or of all flows. `next` is the last key looked at.
Result<store::BlockedPage> find_waiting_nodes(const Database& database,
                                              const store::FindBlocked& query);
Result<store::FlowPage> find_open_flows(const Database& database,
                                        const store::FindOpenFlows& query);

Result<NodeInputs> read_inputs(const Database& database, const GetInputs& query);

}  // namespace ff::embedded
