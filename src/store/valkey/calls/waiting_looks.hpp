// Reading what the function library tells of waiting executions.
#pragma once

#include <set>

#include "store/valkey/caches/ready_cache.hpp"
#include "store/valkey/client_names.hpp"

namespace ff::valkey_store {

// How many executions of one group a look is told of.
inline constexpr std::size_t found_max = 64;

std::string_view name_of(ReadyIndex index);

// The answer of ff_look_waiting or ff_look_oldest.
Result<IndexLook> read_look_at(const IndexName& index, Result<Reply> reply);

// The answer of ff_sweep_waiting.
struct WaitingSweep {
  std::vector<IndexLook> looks;
  std::set<PartitionIndex> uncounted;  // partitions of older programs
};
Result<void> read_sweep(const std::vector<Reply>& answer, WaitingSweep& sweep);

}  // namespace ff::valkey_store
