// The effects of a shard's partitions that are not settled, as texts (core/effects).
#pragma once

#include <flowfabric/ids.hpp>

#include <set>
#include <string>
#include <utility>

namespace ff::embedded {

// Kept in memory as well as on disk: a scan of the disk would walk what was settled long ago. An effect is
// here for as long as it takes to carry it out. Not thread-safe.
using PendingEffects = std::set<std::pair<PartitionIndex, std::string>>;

}  // namespace ff::embedded
