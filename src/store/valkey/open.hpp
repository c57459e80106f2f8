// Opening a store whose state is in Valkey.
#pragma once

#include <flowfabric/time.hpp>

#include <chrono>
#include <memory>

#include "store/store.hpp"
#include "store/valkey/client_names.hpp"
#include "store/valkey/durability.hpp"
#include "store/valkey/fleet/division.hpp"
#include "store/valkey/partition_counts.hpp"

namespace ff::valkey_store {

struct StoreOptions {
  ClientOptions client;
  Durability durability = Durability::server;
  PartitionCounts partitions = {};
  // Take part in looking after all partitions, and log at the start what a crash or a failover could lose. Programs
  // that only submit, serve or work need neither.
  bool sweep = true;
  Share share = Share::part;
  std::optional<WaitpointSecret> waitpoint_secret = {};  // the first one; none: a random one
  // How often the server's time, and what the store needs to find there, are looked at.
  Millis server_interval = std::chrono::seconds{10};
  // Signs of life to the other processes, and how soon one that falls silent is taken for dead.
  Pace pace = {};
  Millis version_budget = std::chrono::seconds{60};
  std::shared_ptr<const Clock> simulated_clock = {};  // tests: instead of the server's
};

Result<std::unique_ptr<store::Store>> open(StoreOptions options);

}  // namespace ff::valkey_store
