// The store in this process, on RocksDB.
#pragma once

#include <flowfabric/time.hpp>

#include <filesystem>
#include <memory>

#include "store/durability.hpp"
#include "store/store.hpp"

namespace rocksdb {
class Env;
}

namespace ff::embedded {

struct Options {
  std::filesystem::path directory;
  std::shared_ptr<const Clock> clock;
  std::size_t shards = 2;
  store::Durability durability = store::Durability::standard;
  std::size_t hot_bytes_max = 256 << 20;  // of executions in memory, all shards together
  std::optional<WaitpointSecret> waitpoint_secret = {};  // the first one; none: a random one
  rocksdb::Env* env = nullptr;  // for tests: a file system with faults, or in memory
  bool lock = true;             // the directory; false if it is in memory
};

// Opens or makes the store. Fails with store_not_writable, store_locked, store_too_new,
// store_damaged or store_unavailable; what was in the directory is then as it was.
Result<std::unique_ptr<store::Store>> open(Options options);

}  // namespace ff::embedded
