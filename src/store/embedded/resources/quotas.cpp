#include "store/embedded/resources/quotas.hpp"

#include <flowfabric/limits.hpp>

#include "base/try.hpp"
#include "core/refusals.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/disk/resource_records.hpp"

namespace ff::embedded {
namespace {

using Next = Database::Next;

store::Opening opening_of(const core::Quota& quota) { return {.ns = quota.ns, .of = quota.id}; }

}  // namespace

Result<void> Quotas::restore(const Database& database) {
  auto quotas =
      database.for_each({.prefix = std::string(keys::quota_prefix)},
                        [this](std::string_view key, std::string_view value) -> Result<Next> {
                          const auto id = keys::parse_quota(key);
                          FF_TRY(id);
                          auto quota = decode_quota(*id, value);
                          FF_TRY(quota);
                          shelf_.add(std::move(*quota));
                          return Next::go_on;
                        });
  if (!quotas) return quotas;
  return database.for_each({.prefix = std::string(keys::place_prefix)},
                           [this](std::string_view key, std::string_view) -> Result<Next> {
                             const auto parsed = keys::parse_place(key);
                             FF_TRY(parsed);
                             const auto entry = shelf_.entries().find(parsed->quota);
                             if (entry != shelf_.entries().end())
                               entry->second.thing.window.add(parsed->place);
                             return Next::go_on;
                           });
}

void Quotas::hold(const core::Execution& execution, TimePoint now) {
  const auto held = core::held_token(execution);
  if (!held || !execution.policy.quota) return;
  const auto entry = shelf_.entries().find(*execution.policy.quota);
  if (entry == shelf_.entries().end() || !entry->second.thing.spec.max_concurrent) return;
  const auto* active = std::get_if<core::Active>(&execution.state);
  entry->second.thing.holders[*held] = {.execution = execution.id,
                                        .admitted_at = active ? active->lease.acquired_at : now};
}

Result<Quotas::Entry*> Quotas::load(const QuotaId& id, Turn& turn) {
  if (auto* entry = shelf_.find(id, turn)) return entry;
  return core::refusals::not_found(id);
}

void Quotas::forget_past(Entry& entry, Turn& turn) {
  const auto past = core::forget_past(entry.thing, turn.now());
  for (const auto& place : past) turn.erase(keys::place(entry.thing.id, place));
  if (!past.empty()) entry.changed_by(turn);
}

Result<CreateQuotaReply> Quotas::execute(const CreateQuota& command, Turn& turn) {
  auto quota = core::make_quota(command, turn.now());
  const auto id = quota.id;
  if (const auto* known = shelf_.find(id, turn)) {
    if (known->thing.ns != command.ns || known->thing.spec != command.spec)
      return core::refusals::duplicate_mismatch(id);
    return CreateQuotaReply{.id = id, .duplicate = true};
  }
  if (shelf_.count(command.ns) >= limits::quotas_max)
    return core::refusals::too_many_quotas(command.ns);
  turn.put(keys::quota(id), encode(quota));
  turn.tell(opening_of(quota));
  shelf_.add(std::move(quota), turn.durable_in());
  return CreateQuotaReply{.id = id};
}

Result<QuotaInfo> Quotas::execute(const GetQuota& query, Turn& turn) {
  const auto entry = load(query.id, turn);
  FF_TRY(entry);
  return core::info_of((*entry)->thing, turn.now());
}

Result<QuotaList> Quotas::execute(const ListQuotas& query, Turn& turn) {
  QuotaList page;
  for (const auto* quota : shelf_.list(query.ns, query.after, query.limit + std::size_t{1}, turn)) {
    if (page.quotas.size() == query.limit) {
      page.next = page.quotas.back().id;
      break;
    }
    page.quotas.push_back(core::info_of(*quota, turn.now()));
  }
  return page;
}

Result<Done> Quotas::execute(const DeleteQuota& command, Turn& turn) {
  const auto entry = load(command.id, turn);
  FF_TRY(entry);
  const auto& quota = (*entry)->thing;
  for (const auto& place : quota.window.places()) turn.erase(keys::place(command.id, place));
  turn.erase(keys::quota(command.id));
  turn.tell(opening_of(quota));
  shelf_.erase(command.id, turn.durable_in());
  return Done{};
}

Result<Done> Quotas::execute(const core::KeepQuota& command, Turn& turn) {
  auto* entry = shelf_.find(command.id, turn);
  if (entry && entry->thing.spec.max_concurrent == command.max_concurrent) return Done{};
  if (!entry) {
    if (shelf_.count(command.ns) >= limits::quotas_max)
      return core::refusals::too_many_quotas(command.ns);
    entry = &shelf_.add(core::make_quota(command, turn.now()));
  }
  entry->thing.spec.max_concurrent = command.max_concurrent;
  turn.put(keys::quota(command.id), encode(entry->thing));
  entry->changed_by(turn);
  turn.tell(opening_of(entry->thing));
  return Done{};
}

Result<core::AdmitReply> Quotas::execute(const core::Admit& command, Turn& turn) {
  const auto entry = load(command.quota, turn);
  FF_TRY(entry);
  forget_past(**entry, turn);
  auto& quota = (*entry)->thing;
  const bool had_place = quota.window.find(command.token).has_value();
  auto reply = core::admit(quota, command, turn.now());
  if (const auto at = quota.window.find(command.token); at && !had_place) {
    turn.put(keys::place(quota.id, {.at = *at, .token = command.token}), "");
    (*entry)->changed_by(turn);
  }
  return reply;
}

// Of a quota that is gone nothing is held.
Result<Done> Quotas::execute(const core::ReleaseToken& command, Turn& turn) {
  auto* entry = shelf_.find(command.quota, turn);
  if (!entry) return Done{};
  const auto released = core::release(entry->thing, command);
  if (released.place) {
    turn.erase(keys::place(command.quota, *released.place));
    entry->changed_by(turn);
  }
  if (released.freed()) turn.tell(opening_of(entry->thing));
  return Done{};
}

Result<std::vector<core::HeldToken>> Quotas::execute(const core::HeldTokens& query, Turn& turn) {
  const auto* entry = shelf_.find(query.quota, turn);
  return entry ? core::held(entry->thing, query) : std::vector<core::HeldToken>{};
}

Result<Done> Quotas::execute(const core::ReconcileQuotas&, Turn& turn) {
  for (auto& [id, entry] : shelf_.entries()) forget_past(entry, turn);
  return Done{};
}

Result<std::vector<QuotaId>> Quotas::execute(const core::AllQuotas& query, Turn&) {
  return shelf_.ids(query.after, query.max);
}

}  // namespace ff::embedded
