#include "store/embedded/disk/migration.hpp"

#include <map>

#include "base/log.hpp"
#include "base/try.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/disk/records.hpp"
#include "store/embedded/disk/resource_records.hpp"
#include "store/embedded/disk/suspension_records.hpp"

namespace ff::embedded {
namespace {

constexpr std::size_t chunk_max = 1'000;

class Migration {
 public:
  explicit Migration(Database& database) : database_(database) {}

  Result<void> run() {
    for (const auto prefix : {keys::live_prefix, keys::ended_prefix})
      if (auto rewritten = rewrite(prefix); !rewritten) return rewritten;
    for (const auto& [lane, counts] : ended_)
      changes_.put(keys::ended_count(0, lane.first, lane.second), encode_ended(counts));
    if (auto written = database_.write(changes_); !written) return written;
    log::info("brought the data directory to a newer format, executions={}", count_);
    return database_.sync();
  }

 private:
  Result<void> rewrite(std::string_view prefix) {
    return database_.for_each(
        {.prefix = std::string(prefix)},
        [&](std::string_view key, std::string_view value) -> Result<Database::Next> {
          const auto id = keys::execution_id(key);
          FF_TRY(id);
          const auto execution = decode(*id, value);
          FF_TRY(execution);
          add(key, *execution);
          if (++count_ % chunk_max != 0) return Database::Next::go_on;
          FF_TRY(database_.write(changes_));
          changes_.clear();
          return Database::Next::go_on;
        });
  }

  void add(std::string_view key, const core::Execution& execution) {
    changes_.put(key, encode(execution));
    changes_.put(keys::by_time(execution.ns, execution.created_at, execution.id), "");
    if (!core::has_ended(execution)) return;
    changes_.put(keys::retention(core::retained_until(execution), execution.id), "");
    const auto state = static_cast<std::size_t>(core::public_state(execution));
    ++ended_[{execution.ns, execution.lane}][state];
  }

  Database& database_;
  Changes changes_;
  std::size_t count_ = 0;
  std::map<std::pair<Namespace, LaneId>, CountByState> ended_;
};

// Before format 5 a reset erased the ledger, so all of its entries were written after the last reset.
Result<void> number_ledgers(Database& database) {
  Changes changes;
  std::size_t count = 0;
  std::optional<core::Budget> budget;
  auto visited = database.for_each(
      {.prefix = std::string(keys::ledger_prefix)},
      [&](std::string_view key, std::string_view value) -> Result<Database::Next> {
        const auto entry = keys::parse_ledger(key);
        FF_TRY(entry);
        auto spending = decode_spending(value);
        FF_TRY(spending);
        if (!budget || budget->id != entry->budget) {
          const auto stored = database.get(keys::budget(entry->budget));
          FF_TRY(stored);
          if (!*stored) return Database::Next::go_on;
          auto decoded = decode_budget(entry->budget, **stored);
          FF_TRY(decoded);
          budget = std::move(*decoded);
        }
        spending->reset_count = budget->reset_count;
        changes.put(key, encode(*spending));
        if (++count % chunk_max != 0) return Database::Next::go_on;
        FF_TRY(database.write(changes));
        changes.clear();
        return Database::Next::go_on;
      });
  FF_TRY(visited);
  FF_TRY(database.write(changes));
  return database.sync();
}

// Before format 7 a record of waits had its details in it.
Result<void> split_waits(Database& database) {
  Changes changes;
  std::size_t count = 0;
  auto visited = database.for_each(
      {.prefix = std::string(keys::waits_prefix)},
      [&](std::string_view key, std::string_view value) -> Result<Database::Next> {
        const auto id = keys::execution_id(key);
        FF_TRY(id);
        const auto details = details_in_waits(*id, value);
        FF_TRY(details);
        if (*details == core::WaitDetails{}) return Database::Next::go_on;
        auto waits = decode_waits(*id, value);
        FF_TRY(waits);
        waits->has_details = true;
        changes.put(keys::belonging(*id, core::Belonging::wait_details), encode(*details));
        changes.put(key, encode(*waits));
        if (++count % chunk_max != 0) return Database::Next::go_on;
        FF_TRY(database.write(changes));
        changes.clear();
        return Database::Next::go_on;
      });
  FF_TRY(visited);
  FF_TRY(database.write(changes));
  return database.sync();
}

}  // namespace

Result<void> migrate(Database& database, std::uint32_t from_format) {
  // Formats 3, 4, 6, 8 and 9 added what a record may say and new kinds of records; older records stay as they
  // are.
  if (from_format < 2) FF_TRY(Migration(database).run());
  // From format 5 on, outdated entries stay for a while; numbering them anew would make them count again.
  if (from_format < 5) FF_TRY(number_ledgers(database));
  return from_format < 7 ? split_waits(database) : Result<void>{};
}

}  // namespace ff::embedded
