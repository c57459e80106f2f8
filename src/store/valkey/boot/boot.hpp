// Checks and setup of a Valkey before an engine uses it.
#pragma once

#include <flowfabric/async.hpp>
#include <flowfabric/ids.hpp>

#include <string>
#include <vector>

#include "store/valkey/client_names.hpp"

namespace ff::valkey_store {

struct BootOptions {
  PartitionIndex partitions = 0;                     // 0: as the store has them, 256 if it is new
  Millis version_budget = std::chrono::seconds{60};  // how long a server may take to become usable
};

struct Booted {
  PartitionIndex partitions = 0;
  PartitionIndex budget_partitions = 0;
  PartitionIndex quota_partitions = 0;
  std::vector<std::string> losses;  // what a crash or a failover could lose, in sentences
};

// Checks the version, fixes or verifies the number of partitions, loads the function library.
Async<Booted> boot(Client& client, BootOptions options);

// Loads the library unless one that serves is there.
Async<void> ensure_library(Client& client);

// INFO's version: of Valkey, and 8.0 or later.
Result<void> check_version(std::string_view info);

}  // namespace ff::valkey_store
