// Flows and edges as bytes on disk (proto/records.proto), and back. What does not hold when it is read is
// store_damaged.
#pragma once

#include <string>
#include <string_view>

#include "core/flows/flow.hpp"

namespace ff::embedded {

std::string encode(const core::Flow& flow);
Result<core::Flow> decode_flow(const ExecutionId& subject, std::string_view bytes);

std::string encode(const core::Edge& edge);
Result<core::Edge> decode_edge(const core::EdgeId& id, std::string_view bytes);

// The value of a member record.
std::string encode_member(const ExecutionId& node);
Result<ExecutionId> decode_member(PartitionIndex partition, std::string_view bytes);

}  // namespace ff::embedded
