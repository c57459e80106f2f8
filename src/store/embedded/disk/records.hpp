// Executions and what belongs to them as bytes on disk (proto/records.proto), and back. Reading checks
// everything; what does not hold is store_damaged.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/execution/execution.hpp"

namespace ff::embedded {

std::string encode(const core::Execution& execution);
Result<core::Execution> decode(const ExecutionId& id, std::string_view bytes);

std::string encode(const core::Attempt& attempt);
Result<core::Attempt> decode_attempt(const ExecutionId& id, std::string_view bytes);

struct IdempotencyEntry {
  ExecutionId id;
  TimePoint until;
};
std::string encode(const IdempotencyEntry& entry);
Result<IdempotencyEntry> decode_idempotency(std::string_view bytes);

// How many there are, by ExecutionState. A shard's share may be below zero: what it forgets may have
// been counted by another one, before the number of shards changed. The sum is right.
using CountByState = std::array<std::int64_t, Names<ExecutionState>::values.size()>;
std::string encode_ended(const CountByState& counts);
Result<CountByState> decode_ended(std::string_view bytes);

}  // namespace ff::embedded
