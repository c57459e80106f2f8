#include "store/embedded/resources/bulks.hpp"

#include <flowfabric/limits.hpp>

#include "base/try.hpp"
#include "core/refusals.hpp"
#include "store/bulk_record.hpp"
#include "store/embedded/disk/keys.hpp"

namespace ff::embedded {

Result<void> Bulks::restore(const Database& database) {
  return database.for_each(
      {.prefix = std::string(keys::bulk_prefix)},
      [this](std::string_view, std::string_view value) -> Result<Database::Next> {
        auto bulk = store::decode_bulk(value);
        FF_TRY(bulk);
        note(*bulk);
        shelf_.add(std::move(*bulk));
        return Database::Next::go_on;
      });
}

void Bulks::note(const core::Bulk& bulk) {
  if (bulk.state == BulkState::running)
    running_.insert(bulk.id);
  else
    running_.erase(bulk.id);
  if (bulk.ended_at) ended_.emplace(*bulk.ended_at, bulk.id);
}

void Bulks::forget(const BulkId& id, Turn& turn) {
  const auto& bulk = shelf_.entries().at(id).thing;
  turn.erase(keys::bulk(id));
  running_.erase(id);
  if (bulk.ended_at) ended_.erase({*bulk.ended_at, id});
  shelf_.erase(id, turn.durable_in());
}

std::size_t Bulks::count_running(const Namespace& ns) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      running_, [&](const BulkId& id) { return shelf_.entries().at(id).thing.ns == ns; }));
}

std::optional<BulkId> Bulks::oldest_ended(const Namespace& ns) const {
  for (const auto& [at, id] : ended_)
    if (shelf_.entries().at(id).thing.ns == ns) return id;
  return std::nullopt;
}

Result<core::CreateBulkReply> Bulks::execute(const core::CreateBulk& command, Turn& turn) {
  if (const auto* known = shelf_.find(command.bulk.id, turn))
    return core::CreateBulkReply{.bulk = known->thing, .duplicate = true};
  const auto& ns = command.bulk.ns;
  if (count_running(ns) >= limits::bulks_running_max) return core::refusals::too_many_bulks(ns);
  if (shelf_.count(ns) >= limits::bulks_kept_max)
    if (const auto oldest = oldest_ended(ns)) forget(*oldest, turn);
  turn.put(keys::bulk(command.bulk.id), store::encode(command.bulk));
  note(command.bulk);
  shelf_.add(command.bulk, turn.durable_in());
  return core::CreateBulkReply{.bulk = command.bulk};
}

Result<core::Bulk> Bulks::execute(const core::ReadBulk& query, Turn& turn) {
  const auto* entry = shelf_.find(query.id, turn);
  if (!entry) return core::refusals::not_found(query.id);
  return entry->thing;
}

Result<bool> Bulks::execute(const core::SaveBulk& command, Turn& turn) {
  auto* entry = shelf_.find(command.bulk.id, turn);
  if (!entry || entry->thing.version != command.bulk.version) return false;
  entry->thing = command.bulk;
  ++entry->thing.version;
  turn.put(keys::bulk(command.bulk.id), store::encode(entry->thing));
  note(entry->thing);
  entry->changed_by(turn);
  return true;
}

Result<std::vector<core::Bulk>> Bulks::execute(const core::FindBulks& query, Turn& turn) {
  std::vector<core::Bulk> found;
  if (query.ns) {
    for (const auto* bulk : shelf_.list(*query.ns, query.after, query.max, turn))
      found.push_back(*bulk);
    return found;
  }
  auto id = query.after ? running_.upper_bound(*query.after) : running_.begin();
  for (; id != running_.end() && found.size() < query.max; ++id)
    found.push_back(shelf_.find(*id, turn)->thing);
  return found;
}

Result<std::size_t> Bulks::execute(const core::ForgetBulks& command, Turn& turn) {
  std::size_t count = 0;
  while (count < command.max && !ended_.empty() && ended_.begin()->first < command.ended_before) {
    const auto id = ended_.begin()->second;  // a copy: forgetting erases the entry
    forget(id, turn);
    ++count;
  }
  return count;
}

}  // namespace ff::embedded
