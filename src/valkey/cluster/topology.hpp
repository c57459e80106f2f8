// Which node of a cluster serves which slots.
#pragma once

#include <flowfabric/error.hpp>

#include <vector>

#include "valkey/protocol/reply.hpp"
#include "valkey/protocol/request.hpp"

namespace ff::valkey {

// The primaries in the answer to CLUSTER SLOTS, sorted by name. A node without a host is at the host that
// was asked. Fails with malformed_response.
Result<std::vector<Node>> parse_cluster_slots(const Reply& reply, const Endpoint& asked);

// A node at `address`, whose host may be empty: that of the node that said so.
TcpEndpoint complete_address(TcpEndpoint address, const Endpoint& said_by);

}  // namespace ff::valkey
