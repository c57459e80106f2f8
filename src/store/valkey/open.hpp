// Opening a store whose state is in Valkey.
#pragma once

#include <flowfabric/time.hpp>

#include <chrono>
#include <memory>

#include "store/store.hpp"
#include "store/valkey/client_names.hpp"
#include "store/valkey/durability.hpp"

namespace ff::valkey_store {

struct StoreOptions {
  ClientOptions client;
  Durability durability = Durability::server;
  PartitionIndex partitions = 0;  // 0: as the store has them, 256 if it is new
  // Look from time to time whether something was missed, and log at the start what a crash or a
  // failover could lose. Programs that only submit or work need neither.
  bool sweep = true;
  Millis version_budget = std::chrono::seconds{60};
  std::shared_ptr<const Clock> simulated_clock = {};  // tests: instead of the server's
};

Result<std::unique_ptr<store::Store>> open(StoreOptions options);

}  // namespace ff::valkey_store
