#include "store/valkey/resources.hpp"

#include <boost/asio/use_awaitable.hpp>

#include "base/assert.hpp"
#include "base/random.hpp"
#include "base/try.hpp"
#include "core/execution/partitions.hpp"
#include "store/durability.hpp"
#include "store/valkey/boot/contract_workers.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/calls/resource_calls.hpp"

namespace ff::valkey_store {
namespace {

template <class Id>
std::vector<Id> sorted_ids(const Answers& answers, std::size_t max) {
  std::vector<Id> ids;
  for (const auto& answer : answers.of_nodes)
    for (const auto& each : answer)
      if (const auto id = Id::parse(text_in(each))) ids.push_back(*id);
  std::ranges::sort(ids);
  if (ids.size() > max) ids.resize(max);
  return ids;
}

std::string index_of(const BudgetId*, const std::optional<Namespace>& ns) {
  return ns ? "budgets:" + ns->str() : "budget_policies";
}
std::string index_of(const QuotaId*, const std::optional<Namespace>& ns) {
  return ns ? "quotas:" + ns->str() : "quota_policies";
}

// "ms-number", as Valkey makes the ids of a stream's entries.
std::optional<std::pair<std::int64_t, std::uint64_t>> parse_stream_id(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == text.npos) return std::nullopt;
  const auto ms = parse_number<std::int64_t>(text.substr(0, dash));
  const auto number = parse_number<std::uint64_t>(text.substr(dash + 1));
  if (!ms || *ms < 0 || !number) return std::nullopt;
  return std::pair{*ms, *number};
}

template <class Id>
const std::vector<keys::Partition>& places_of(const keys::Places& places) {
  if constexpr (std::is_same_v<Id, BudgetId>)
    return places.budgets;
  else
    return places.quotas;
}

}  // namespace

Resources::Resources(Parts parts) : parts_(parts) {
  SystemRandom random;
  calls_ = make_uuid(TimePoint{}, random).str();
}

// ---- One partition --------------------------------------------------------------------------------

keys::Address Resources::address_of(const Subject& subject) const {
  const auto place_in = [](const std::vector<keys::Partition>& places, const Uuid& uuid) {
    return places[core::partition_of(uuid, static_cast<PartitionIndex>(places.size()))];
  };
  const auto& places = parts_.functions.places();
  if (const auto* budget = std::get_if<BudgetId>(&subject)) {
    auto place = place_in(places.budgets, budget->uuid());
    auto key = keys::budget(place.tag, *budget);
    return {.place = std::move(place), .key = std::move(key)};
  }
  if (const auto* quota = std::get_if<QuotaId>(&subject)) {
    auto place = place_in(places.quotas, quota->uuid());
    auto key = keys::quota(place.tag, *quota);
    return {.place = std::move(place), .key = std::move(key)};
  }
  if (const auto* of_store = std::get_if<OfStore>(&subject)) {
    const bool is_audit = *of_store == OfStore::audit;
    return {.place = keys::Partition(std::string(is_audit ? keys::audit_tag : keys::lanes_tag)),
            .key = is_audit ? keys::audit_log() : keys::paused_lanes()};
  }
  keys::Partition place(keys::workers_tag(std::get<Namespace>(subject)));
  auto key = keys::workers(place.tag);
  return {.place = std::move(place), .key = std::move(key)};
}

template <class Op>
void Resources::send_to_owner(store::Call<Op> call, FunctionCall function) {
  Sent sent{.address = address_of(subject_of(call.operation)),
            .refusal = resource_context_of(call.operation),
            .only_reads = only_reads<Op>,
            .waits_for_disk = store::waits_for_disk<Op>};
  auto request =
      parts_.functions.at(sent.address, std::move(function),
                          only_reads<Op> ? Functions::Access::reads : Functions::Access::writes);
  // Steps of a claim, and of scanners: one resource of many.
  if constexpr (store::OneOf<Op, core::CheckBudget, core::Admit, core::ReleaseToken,
                             core::ForgetSpending, core::ResetIfDue, RegisterWorker>)
    request = parts_.functions.unless_down(std::move(request));
  send(std::move(sent), std::move(request), std::make_shared<SentCallOf<Op>>(std::move(call)));
}

void Resources::send(Sent sent, Request request, std::shared_ptr<SentCall> call) {
  parts_.functions.call(std::move(request), [this, sent = std::move(sent),
                                             call = std::move(call)](Result<Reply> reply) {
    auto list = list_of(std::move(reply));
    const auto server_run = sent.only_reads ? std::string{} : take_run(list);
    if (!list) {
      call->fail(std::move(list.error()));
    } else if (is_refusal(*list)) {
      call->fail(refused(sent.refusal, *list).error());
    } else {
      const bool duplicate = *(*list)[1].as_text() == "DUPLICATE";
      Answer answer(duplicate, {}, without(std::move(*list), 2));
      call->read(answer);
      if (answer.malformed()) call->fail(malformed("a resource's answer").error());
    }
    if (!sent.waits_for_disk) return call->finish();
    finish_when_safe(parts_.confirmations, sent.address.place, server_run, call);
  });
}

// A namespace may have only so many; they are in all partitions.
template <class Create>
void Resources::send_if_there_is_room(store::Call<Create>& call) {
  using Id = typename decltype(Create::id)::value_type;
  constexpr auto most = std::is_same_v<Id, BudgetId> ? limits::budgets_max : limits::quotas_max;
  auto shared = std::make_shared<store::Call<Create>>(std::move(call));
  parts_.background.spawn([this, shared]() -> asio::awaitable<void> {
    const Id* const family = nullptr;
    Question question{.function = "ff_admission_count",
                      .arguments = {index_of(family, shared->operation.ns)}};
    const auto answers = co_await parts_.functions.ask(std::move(question),
                                                       places_of<Id>(parts_.functions.places()));
    if (!answers) {
      shared->done(std::unexpected(answers.error()));
      co_return;
    }
    std::uint64_t count = 0;
    for (const auto& answer : answers->of_nodes)
      for (const auto& each : answer)
        count += parse_number<std::uint64_t>(text_in(each)).value_or(0);
    auto function = call_for(shared->operation, count < most);
    send_to_owner(std::move(*shared), std::move(function));
  });
}

// ---- Many partitions ------------------------------------------------------------------------------

template <class Id>
Async<std::vector<Id>> Resources::find_ids(std::optional<Namespace> ns, std::optional<Id> after,
                                           std::size_t max) {
  const Id* const family = nullptr;
  Question question{.function = "ff_admission_ids",
                    .arguments = {index_of(family, ns), after ? after->str() : std::string{},
                                  std::to_string(max)}};
  const auto answers =
      co_await parts_.functions.ask(std::move(question), places_of<Id>(parts_.functions.places()));
  FF_CO_TRY(answers);
  co_return sorted_ids<Id>(*answers, max);
}

// Replies of `Get` for all ids, in order; objects deleted in the meantime are left out.
template <class Get, class Id>
Async<std::vector<typename Get::Reply>> Resources::get_all(const std::vector<Id>& ids) {
  std::vector<Request> requests;
  for (const auto& id : ids)
    requests.push_back(parts_.functions.unless_down(
        parts_.functions.at(address_of(id), call_for(Get{id}), Functions::Access::reads)));
  auto replies = co_await parts_.functions.call_all(std::move(requests));
  std::vector<typename Get::Reply> found;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto list = list_of(std::move(replies[i]));
    FF_CO_TRY(list);
    if (is_refusal(*list)) continue;
    Answer answer(false, {}, without(std::move(*list), 2));
    found.push_back(read_answer(Get{ids[i]}, answer));
    if (answer.malformed()) co_return malformed("a resource's answer");
  }
  co_return found;
}

Async<BudgetList> Resources::answer(ListBudgets query) {
  auto ids = co_await find_ids<BudgetId>(query.ns, query.after, query.limit + std::size_t{1});
  FF_CO_TRY(ids);
  BudgetList list;
  if (ids->size() > query.limit) {
    ids->pop_back();
    list.next = ids->back();
  }
  auto budgets = co_await get_all<GetBudget>(*ids);
  FF_CO_TRY(budgets);
  list.budgets = std::move(*budgets);
  co_return list;
}

Async<QuotaList> Resources::answer(ListQuotas query) {
  auto ids = co_await find_ids<QuotaId>(query.ns, query.after, query.limit + std::size_t{1});
  FF_CO_TRY(ids);
  QuotaList list;
  if (ids->size() > query.limit) {
    ids->pop_back();
    list.next = ids->back();
  }
  auto quotas = co_await get_all<GetQuota>(*ids);
  FF_CO_TRY(quotas);
  list.quotas = std::move(*quotas);
  co_return list;
}

Async<std::vector<BudgetId>> Resources::answer(core::AllBudgets query) {
  co_return co_await find_ids<BudgetId>(std::nullopt, query.after, query.max);
}
Async<std::vector<QuotaId>> Resources::answer(core::AllQuotas query) {
  co_return co_await find_ids<QuotaId>(std::nullopt, query.after, query.max);
}

Async<core::BudgetsDue> Resources::answer(core::ResetsDue query) {
  Question question{.function = "ff_sweep_resets",
                    .arguments = {std::to_string(query.max + 1)},
                    .moving = Moving::skip};
  const auto answers =
      co_await parts_.functions.ask(std::move(question), parts_.functions.places().budgets);
  FF_CO_TRY(answers);
  std::vector<std::pair<TimePoint, BudgetId>> resets;
  for (const auto& answer : answers->of_nodes)
    for (std::size_t i = 0; i + 1 < answer.size(); i += 2) {
      const auto id = BudgetId::parse(text_in(answer[i]));
      const auto due = parse_number<std::int64_t>(text_in(answer[i + 1]));
      if (id && due) resets.emplace_back(TimePoint{Millis{*due}}, *id);
    }
  std::ranges::sort(resets);
  core::BudgetsDue reply{.due = {}};
  for (const auto& [due, id] : resets) {
    if (due > parts_.clock.now() || reply.due.size() == query.max) {
      reply.next = std::max(due, parts_.clock.now());
      break;
    }
    reply.due.push_back(id);
  }
  co_return reply;
}

// Read in parts, so that no other call waits for it.
Async<std::vector<core::HeldToken>> Resources::answer(core::HeldTokens query) {
  const auto address = address_of(query.quota);
  std::vector<core::HeldToken> found;
  std::string cursor = "0";
  do {
    Request request{.command = {"HSCAN", address.key + ":holders", cursor, "COUNT", "1000"},
                    .route = address.place.slot};
    const auto reply = co_await parts_.client.run(parts_.functions.unless_down(std::move(request)));
    FF_CO_TRY(reply);
    if (const auto* error = reply->as_error()) co_return server_error(*error);
    const auto* parts = reply->as_array();
    const auto* flat = parts && parts->size() == 2 ? (*parts)[1].as_array() : nullptr;
    if (!flat) co_return malformed("HSCAN");
    for (std::size_t i = 0; i + 1 < flat->size(); i += 2) {
      const auto held = parse_holder(text_in((*flat)[i]), text_in((*flat)[i + 1]));
      if (held && held->admitted_at < query.before && (!query.after || held->token > *query.after))
        found.push_back(*held);
    }
    cursor = text_in(parts->front());
  } while (cursor != "0" && !parts_.background.is_stopping());
  std::ranges::sort(found, {}, &core::HeldToken::token);
  // A scan may tell of one twice.
  const auto twice = std::ranges::unique(found);
  found.erase(twice.begin(), twice.end());
  if (found.size() > query.max) found.resize(query.max);
  co_return found;
}

Async<std::vector<ExecutionId>> Resources::answer(core::LedgerOf query) {
  FunctionCall function{
      "ff_budget_ledger",
      {query.after ? query.after->str() : std::string{}, std::to_string(query.max)}};
  const auto list =
      co_await parts_.functions.list_from(parts_.functions.unless_down(parts_.functions.at(
          address_of(query.budget), std::move(function), Functions::Access::reads)));
  FF_CO_TRY(list);
  std::vector<ExecutionId> found;
  for (const auto& each : *list)
    if (const auto id = ExecutionId::parse(text_in(each))) found.push_back(*id);
  co_return found;
}

Async<std::string> Resources::ask_at(keys::Address address, FunctionCall function) {
  const auto list = co_await parts_.functions.list_from(parts_.functions.unless_down(
      parts_.functions.at(address, std::move(function), Functions::Access::writes)));
  FF_CO_TRY(list);
  co_return list->empty() ? std::string{} : text_in(list->front());
}

Async<bool> Resources::answer(core::ReconcileBudgets) {
  constexpr std::string_view at_once = "1000";
  std::optional<Error> failure;
  bool any = false;
  for (const auto& place : parts_.functions.places().budgets) {
    const keys::Address address{.place = place, .key = keys::events(place.tag)};
    std::string more = "1";
    while (more == "1" && !parts_.background.is_stopping()) {
      FunctionCall function{"ff_budget_tidy", {std::string(at_once)}};
      auto told = co_await ask_at(address, std::move(function));
      if (!told) failure = told.error();
      any |= told.has_value();
      more = told ? std::move(*told) : "0";
    }
  }
  // The node of some partitions may be down; the others are tidied all the same.
  if (failure && !any) co_return std::unexpected(std::move(*failure));
  co_return false;
}

Async<Done> Resources::answer(core::ReconcileQuotas) {
  constexpr std::size_t page_max = 1'000;
  std::optional<QuotaId> after;
  do {
    const auto page = co_await find_ids<QuotaId>(std::nullopt, after, page_max);
    FF_CO_TRY(page);
    for (const auto& id : *page) {
      std::string cursor = "0";
      do {
        FunctionCall function{"ff_quota_mend", {cursor}};
        auto told = co_await ask_at(address_of(id), std::move(function));
        FF_CO_TRY(told);
        cursor = std::move(*told);
      } while (cursor != "0" && !parts_.background.is_stopping());
    }
    after = page->size() == page_max ? std::optional(page->back()) : std::nullopt;
  } while (after && !parts_.background.is_stopping());
  co_return Done{};
}

// Programs of the contract keep theirs apart. A name that is in both is that of ours.
Async<std::vector<WorkerInfo>> Resources::answer(core::LiveWorkers query) {
  std::vector<Request> requests;
  requests.push_back(parts_.functions.unless_down(
      parts_.functions.at(address_of(query.ns), call_for(query), Functions::Access::writes)));
  auto replies = co_await parts_.functions.call_all(std::move(requests));
  auto list = list_of(std::move(replies.front()));
  static_cast<void>(take_run(list));
  FF_CO_TRY(list);
  Answer answer(false, {}, without(std::move(*list), 2));
  auto workers = read_answer(query, answer);
  if (answer.malformed()) co_return malformed("ff_worker_list");

  ContractWorkers others(parts_.client);
  auto found = co_await others.live(query.ns, parts_.clock.now());
  FF_CO_TRY(found);
  for (auto& worker : *found) {
    const auto at = std::ranges::lower_bound(workers, worker.worker, {}, &WorkerInfo::worker);
    if (at == workers.end() || at->worker != worker.worker) workers.insert(at, std::move(worker));
  }
  co_return workers;
}

// ---- Lanes and the audit log ----------------------------------------------------------------------

Async<std::size_t> Resources::answer(core::RefreshPausedLanes) {
  co_return co_await parts_.lanes.refresh();
}

// A program of another version, or of another kind, may have written entries that are none.
Async<AuditPage> Resources::answer(ReadAudit query) {
  constexpr std::size_t chunk_max = 1'000;
  const auto address = address_of(OfStore::audit);
  std::string end = "+";
  // A cursor is the id of the last entry that was looked at.
  if (query.until) end = fmt::format("({}-0", query.until->time_since_epoch().count());
  if (query.after) {
    const auto place = parse_stream_id(*query.after);
    if (!place) co_return core::wrong_audit_cursor();
    if (!query.until || place->first < query.until->time_since_epoch().count())
      end = '(' + *query.after;
  }
  const auto begin = query.since ? std::to_string(query.since->time_since_epoch().count()) : "-";
  AuditPage page;
  if (query.until && *query.until <= TimePoint{}) co_return page;
  for (std::size_t looked_at = 0; looked_at < core::audit_looked_at_max;) {
    const auto wanted = std::min(chunk_max, query.who || query.what || query.ns
                                                ? chunk_max
                                                : query.limit - page.entries.size());
    Request request{.command = {"XREVRANGE", address.key, end, begin, "COUNT",
                                std::to_string(wanted)},
                    .route = address.place.slot};
    const auto reply = co_await parts_.client.run(parts_.functions.unless_down(std::move(request)));
    FF_CO_TRY(reply);
    if (const auto* error = reply->as_error()) co_return server_error(*error);
    const auto* stored = reply->as_array();
    if (!stored) co_return malformed("XREVRANGE");
    page.next.reset();
    for (const auto& each : *stored) {
      auto entry = parse_audit_entry(each);
      if (!entry) continue;
      ++looked_at;
      page.next = entry->id;
      if (core::matches(query, *entry)) page.entries.push_back(std::move(*entry));
      if (page.entries.size() == query.limit) co_return page;
    }
    if (stored->size() < wanted || !page.next) {
      page.next.reset();
      co_return page;
    }
    end = '(' + *page.next;
  }
  co_return page;
}

// ---- Routes ---------------------------------------------------------------------------------------

template <class Op>
void Resources::run(store::Call<Op>& call) {
  if constexpr (store::OneOf<Op, CreateBudget, CreateQuota>) {
    send_if_there_is_room(call);
  } else if constexpr (requires { answer(std::move(call.operation)); }) {
    parts_.background.answer(call, [this](Op query) { return answer(std::move(query)); });
  } else {
    auto function = call_for(call.operation);
    if constexpr (std::is_same_v<Op, ReportUsage>) {
      if (!call.operation.dedup_key) function.arguments.front() = '\x1f' + make_call_id();
    }
    if (function.takes_call_id) function.arguments.push_back(make_call_id());
    send_to_owner(std::move(call), std::move(function));
  }
}

void Resources::start(store::AnyCall& any) {
  any.visit([this]<class Op>(store::Call<Op>& call) {
    if constexpr (store::OfResource<Op> || std::is_same_v<Op, ReadAudit>)
      run(call);
    else
      FF_ASSERT(!"an operation on something else");
  });
}

}  // namespace ff::valkey_store
