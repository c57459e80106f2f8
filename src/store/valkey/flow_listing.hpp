// Listing flows over all partitions, and the nodes of one.
#pragma once

#include <flowfabric/async.hpp>

#include "store/valkey/calls/functions.hpp"

namespace ff::valkey_store {

Async<FlowList> list_flows(Functions& functions, ListFlows query);
Async<FlowNodes> list_flow_nodes(Functions& functions, ListFlowNodes query);

}  // namespace ff::valkey_store
