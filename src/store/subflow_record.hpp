// The graph of a node that is a flow, as the bytes of the node's payload.
#pragma once

#include <flowfabric/graph.hpp>

#include <string>
#include <string_view>

namespace ff::store {

std::string encode(const Subflow& flow);

// Fails with store_damaged.
Result<Subflow> decode_subflow(std::string_view bytes);

}  // namespace ff::store
