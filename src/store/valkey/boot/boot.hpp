// Checks and setup of a Valkey before an engine uses it.
#pragma once

#include <flowfabric/async.hpp>
#include <flowfabric/ids.hpp>

#include <string>
#include <vector>

#include "store/valkey/client_names.hpp"
#include "store/valkey/partition_counts.hpp"

namespace ff::valkey_store {

struct BootOptions {
  PartitionCounts partitions = {};
  Millis version_budget = std::chrono::seconds{60};  // how long a server may take to become usable
};

struct Booted {
  PartitionCounts partitions;
  std::vector<std::string> losses;  // what a crash or a failover could lose, in sentences
};

// Checks the version, fixes or verifies the numbers of partitions, loads the function library. Nodes of a
// cluster that are down are left out, unless one of them has the numbers of partitions.
Async<Booted> boot(Client& client, BootOptions options);

// The numbers of partitions that are stored; those that are not are stored as wanted. Fails if they are not
// what is wanted.
Async<PartitionCounts> fix_partition_counts(Client& client, PartitionCounts wanted);

// Loads the library into the nodes that answer, unless one that serves is there.
Async<void> ensure_library(Client& client);

// INFO's version: of Valkey, and 8.0 or later.
Result<void> check_version(std::string_view info);

}  // namespace ff::valkey_store
