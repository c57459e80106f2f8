// The version of what is on disk.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/time.hpp>

#include "store/embedded/database.hpp"

namespace ff::embedded {

// Raised by a change that an older program would misread.
inline constexpr std::uint32_t format_version = 1;

struct Format {
  PartitionIndex partition_count;
};

// Reads the store's own record, or writes it (durably) into an empty database. A version newer than
// ours is store_too_new.
Result<Format> load_format(Database& database, TimePoint now);

}  // namespace ff::embedded
