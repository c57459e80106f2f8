#include "store/embedded/disk/format.hpp"

#include <limits>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/try.hpp"
#include "base/version.hpp"
#include "core/execution/partitions.hpp"
#include "records.pb.h"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/disk/migration.hpp"

namespace ff::embedded {
namespace {

Result<void> write(Database& database, const proto::Store& record) {
  Changes changes;
  changes.put(keys::store, record.SerializeAsString());
  if (auto written = database.write(changes); !written) return written;
  return database.sync();
}

std::unexpected<Error> damaged() {
  return fail(Errc::store_damaged,
              "the data directory's own record is damaged; restore it from a backup");
}

Result<proto::Store> parse(const std::string& bytes) {
  proto::Store record;
  if (!record.ParseFromString(bytes) || record.format_version() == 0) return damaged();
  if (record.format_version() > format_version)
    return fail(
        Errc::store_too_new,
        fmt::format("the data directory has format {}, but FlowFabric {} knows only formats up "
                    "to {}; use a newer version",
                    record.format_version(), version, format_version));
  if (record.partition_count() == 0 ||
      record.partition_count() > std::numeric_limits<PartitionIndex>::max())
    return damaged();
  return record;
}

Result<std::optional<proto::Store>> read(const Database& database) {
  const auto stored = database.get(keys::store);
  FF_TRY(stored);
  if (!*stored) return std::nullopt;
  auto record = parse(**stored);
  FF_TRY(record);
  return std::move(*record);
}

Format format_of(const proto::Store& record) {
  return {.version = record.format_version(),
          .partition_count = static_cast<PartitionIndex>(record.partition_count())};
}

}  // namespace

Result<std::optional<Format>> read_format(const Database& database) {
  const auto record = read(database);
  FF_TRY(record);
  if (!*record) return std::nullopt;
  return format_of(**record);
}

Result<Format> load_format(Database& database, TimePoint now) {
  auto record = read(database);
  FF_TRY(record);
  if (*record && (*record)->format_version() == format_version) return format_of(**record);

  proto::Store wanted;
  if (*record) {
    wanted = std::move(**record);
    FF_TRY(migrate(database, wanted.format_version()));
    // Older versions did not note whether they were closed.
    if (wanted.format_version() < 5) wanted.set_in_use(true);
  } else {
    wanted.set_partition_count(core::partition_count_default);
    wanted.set_created_at_ms(now.time_since_epoch().count());
  }
  // Last: if a migration is cut short, it begins again.
  wanted.set_format_version(format_version);
  FF_TRY(write(database, wanted));
  return format_of(wanted);
}

Result<PastUse> begin_use(Database& database) {
  auto record = read(database);
  FF_TRY(record);
  FF_ASSERT(*record);
  auto& store = **record;
  if (store.in_use()) store.set_crash_count(store.crash_count() + 1);
  store.set_in_use(true);
  FF_TRY(write(database, store));
  return PastUse{.crash_count = store.crash_count(),
                 .closed_at = TimePoint{Millis{store.closed_at_ms()}}};
}

Result<void> end_use(Database& database, TimePoint now) {
  auto record = read(database);
  FF_TRY(record);
  FF_ASSERT(*record);
  (*record)->set_in_use(false);
  (*record)->set_closed_at_ms(now.time_since_epoch().count());
  return write(database, **record);
}

}  // namespace ff::embedded
