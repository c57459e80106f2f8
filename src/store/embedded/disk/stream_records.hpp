// Streams and their frames as bytes on disk (proto/records.proto), and back. What does not hold when it is read is
// store_damaged.
#pragma once

#include <string>
#include <string_view>

#include "core/streams/stream.hpp"

namespace ff::embedded {

// The error for a record that is missing or does not hold.
std::unexpected<Error> damaged_stream(const ExecutionId& id);

std::string encode(const core::Streams& streams);
Result<core::Streams> decode_streams(const ExecutionId& id, std::string_view bytes);

std::string encode(const core::Append& append);
Result<core::Append> decode_append(const ExecutionId& id, core::AppendPlace place,
                                   std::string_view bytes);

}  // namespace ff::embedded
