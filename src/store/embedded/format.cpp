#include "store/embedded/format.hpp"

#include <limits>

#include <fmt/format.h>

#include "base/version.hpp"
#include "core/partitions.hpp"
#include "records.pb.h"
#include "store/embedded/keys.hpp"

namespace ff::embedded {
namespace {

Result<Format> create(Database& database, TimePoint now) {
  proto::Store record;
  record.set_format_version(format_version);
  record.set_partition_count(core::partition_count_default);
  record.set_created_at_ms(now.time_since_epoch().count());

  Transaction transaction(database);
  transaction.put(keys::store, record.SerializeAsString());
  if (auto written = database.write(transaction); !written) return std::unexpected(written.error());
  if (auto synced = database.sync(); !synced) return std::unexpected(synced.error());
  return Format{.partition_count = core::partition_count_default};
}

Result<Format> parse(const std::string& bytes) {
  proto::Store record;
  if (!record.ParseFromString(bytes) || record.format_version() == 0)
    return fail(Errc::store_damaged,
                "the data directory's own record is damaged; restore it from a backup");
  if (record.format_version() > format_version)
    return fail(
        Errc::store_too_new,
        fmt::format("the data directory has format {}, but FlowFabric {} knows only formats up "
                    "to {}; use a newer version",
                    record.format_version(), version, format_version));
  if (record.partition_count() == 0 ||
      record.partition_count() > std::numeric_limits<PartitionIndex>::max())
    return fail(Errc::store_damaged,
                "the data directory's own record is damaged; restore it from a backup");
  return Format{.partition_count = static_cast<PartitionIndex>(record.partition_count())};
}

}  // namespace

Result<Format> load_format(Database& database, TimePoint now) {
  const auto stored = Transaction(database).get(keys::store);
  if (!stored) return std::unexpected(stored.error());
  return *stored ? parse(**stored) : create(database, now);
}

}  // namespace ff::embedded
