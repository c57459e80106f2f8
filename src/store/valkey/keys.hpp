// Names of keys and channels. The same names are in lua/lib/keys.lua.
#pragma once

#include <flowfabric/ids.hpp>

#include <string>

#include <fmt/format.h>

namespace ff::valkey::keys {

inline std::string tag(PartitionIndex partition) { return fmt::format("{{fp:{}}}", partition); }

inline std::string of_execution(const ExecutionId& id, std::string_view what) {
  return fmt::format("ff:exec:{}:{}:{}", tag(id.partition()), id.str(), what);
}
inline std::string core(const ExecutionId& id) { return of_execution(id, "core"); }

inline std::string events(PartitionIndex partition) { return "ff:events:" + tag(partition); }

// Nothing is ever stored under it.
inline std::string never(PartitionIndex partition) { return "ff:never:" + tag(partition); }

inline constexpr std::string_view partition_config = "ff:config:partitions";

// Between namespace and lane in the name of a queue; neither may hold it.
inline constexpr char queue_separator = '\x1e';

}  // namespace ff::valkey::keys
