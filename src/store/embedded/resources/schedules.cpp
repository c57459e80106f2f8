#include "store/embedded/resources/schedules.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/disk/resource_records.hpp"

namespace ff::embedded {
namespace {

using Next = Database::Next;

}  // namespace

Result<void> Schedules::restore(const Database& database) {
  return database.for_each({.prefix = std::string(keys::schedule_prefix)},
                           [this](std::string_view key, std::string_view value) -> Result<Next> {
                             const auto named = keys::parse_schedule(key);
                             FF_TRY(named);
                             const auto stored = decode_stored_schedule(value);
                             FF_TRY(stored);
                             if (stored->due) due_.emplace(*stored->due, *named);
                             schedules_[named->ns][named->name] = {
                                 .version = stored->schedule.version, .due = stored->due};
                             return Next::go_on;
                           });
}

Schedules::Entry* Schedules::find(const core::ScheduleKey& key, Turn& turn) {
  const auto there = schedules_.find(key.ns);
  if (there != schedules_.end()) {
    if (const auto found = there->second.find(key.name); found != there->second.end()) {
      turn.see(found->second.durable_in);
      return &found->second;
    }
  }
  turn.see(erased_in_);
  return nullptr;
}

void Schedules::forget_due(const core::ScheduleKey& key, const Entry& entry) {
  if (entry.due) due_.erase({*entry.due, key});
}

Result<std::optional<core::StoredSchedule>> Schedules::execute(const core::ReadSchedule& query,
                                                               Turn& turn) {
  if (!find(query.key, turn)) return std::nullopt;
  const auto bytes = turn.get(keys::schedule(query.key));
  FF_TRY(bytes);
  if (!*bytes) return fail(Errc::store_damaged, "the record of a schedule is missing");
  auto stored = decode_stored_schedule(**bytes);
  FF_TRY(stored);
  return std::move(stored->schedule);
}

Result<bool> Schedules::execute(const core::SwapSchedule& command, Turn& turn) {
  const auto& key = command.key;
  const auto* known = find(key, turn);
  const auto version = known ? std::optional(known->version) : std::nullopt;
  if (version != command.expected) return false;
  if (known) forget_due(key, *known);
  if (!command.next) {
    if (!known) return true;
    turn.erase(keys::schedule(key));
    const auto there = schedules_.find(key.ns);
    there->second.erase(key.name);
    if (there->second.empty()) schedules_.erase(there);
    erased_in_ = std::max(erased_in_, turn.durable_in());
    return true;
  }
  turn.put(keys::schedule(key), encode(StoredScheduleRecord{*command.next, command.due}));
  auto& entry = schedules_[key.ns][key.name];
  entry = {.version = command.next->version,
           .due = command.due,
           .durable_in = std::max(entry.durable_in, turn.durable_in())};
  if (command.due) due_.emplace(*command.due, key);
  return true;
}

Result<core::SchedulesDueReply> Schedules::execute(const core::SchedulesDue& query, Turn& turn) {
  core::SchedulesDueReply reply;
  for (const auto& [due, key] : due_) {
    if (due > turn.now() || reply.due.size() == query.max) {
      reply.next = std::max(due, turn.now());
      break;
    }
    reply.due.push_back(key);
  }
  return reply;
}

Result<std::vector<ScheduleName>> Schedules::execute(const core::FindSchedules& query, Turn& turn) {
  std::vector<ScheduleName> names;
  turn.see(erased_in_);
  const auto there = schedules_.find(query.ns);
  if (there == schedules_.end()) return names;
  const auto& by_name = there->second;
  auto at = query.after ? by_name.upper_bound(*query.after) : by_name.begin();
  for (; at != by_name.end() && names.size() < query.max; ++at) {
    turn.see(at->second.durable_in);
    names.push_back(at->first);
  }
  return names;
}

Result<std::uint64_t> Schedules::execute(const core::CountSchedules& query, Turn&) {
  const auto there = schedules_.find(query.ns);
  return there == schedules_.end() ? 0 : there->second.size();
}

}  // namespace ff::embedded
