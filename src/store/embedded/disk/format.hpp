// The version of what is on disk.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/time.hpp>

#include "store/embedded/disk/database.hpp"

namespace ff::embedded {

// Raised by a change that an older program would misread.
inline constexpr std::uint32_t format_version = 9;

struct Format {
  std::uint32_t version;
  PartitionIndex partition_count;
};

// Reads the store's own record, or none if the database is empty. A version newer than ours is
// store_too_new.
Result<std::optional<Format>> read_format(const Database& database);

// The same; makes a new store in an empty database, and brings an older one to this version first.
Result<Format> load_format(Database& database, TimePoint now);

// Earlier use of the store, as its record tells.
struct PastUse {
  std::uint64_t
      crash_count;      // programs that ended without closing the store, including the last one
  TimePoint closed_at;  // by the last one that did
};
// Notes that the store is in use from now on.
Result<PastUse> begin_use(Database& database);
// Notes that everything is on disk, and nobody uses it any more.
Result<void> end_use(Database& database, TimePoint now);

}  // namespace ff::embedded
