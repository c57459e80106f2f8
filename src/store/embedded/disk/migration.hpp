// Bringing an older data directory to the format of this version.
#pragma once

#include "store/embedded/disk/database.hpp"

namespace ff::embedded {

// From format 1: records get their new form, and the indexes on disk are made. Before format 5: entries of
// ledgers get the reset count of their budget. Safe to repeat.
Result<void> migrate(Database& database, std::uint32_t from_format);

}  // namespace ff::embedded
