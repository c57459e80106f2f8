// Lookups of a store on Valkey in many partitions at once: waiting work, and timers.
#include <cmath>
#include <map>
#include <set>

#include "base/try.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/valkey_store.hpp"

namespace ff::valkey {
namespace {

// How far ahead timers are known; they are looked up again when half of it is over.
constexpr Millis horizon{60'000};
constexpr std::size_t timers_per_look_max = 1'000;

// How many executions of one kind a look is told of, and how many entries of an index it goes through: a
// look at many indexes takes a few of each, one at a single index is to come past much that is held back.
constexpr std::size_t found_max = 64;
constexpr std::size_t entries_min = 64;
constexpr std::size_t entries_max = 1'024;

// A part of an index, as waiting.look of the function library tells of it.
constexpr std::size_t look_parts = 8;
// id, namespace, lane, priority, queued_at, required_capabilities, budget_ids, quota_policy_id
constexpr std::size_t ready_parts = 8;

std::string_view name_of(ReadyIndex index) {
  return index == ReadyIndex::eligible ? "eligible" : "reclaimable";
}

std::optional<IndexedReady> read_ready(std::span<const Reply, ready_parts> parts,
                                       const IndexName& index) {
  const auto id = ExecutionId::parse(text_in(parts[0]));
  auto ns = Namespace::parse(text_in(parts[1]));
  auto lane = LaneId::parse(text_in(parts[2]));
  const auto queued_at = parse_number<std::int64_t>(text_in(parts[4]));
  if (!id || !ns || !lane || !queued_at) return std::nullopt;
  const TimePoint since{Millis{*queued_at}};
  return IndexedReady{
      .ready = {.id = *id,
                .ns = std::move(*ns),
                .lane = std::move(*lane),
                .priority = priority_in(text_in(parts[3])),
                .queued_at = since,
                .needs = needs_in(text_in(parts[5]), text_in(parts[6]), text_in(parts[7]))},
      .index = index,
      .score = score_in(text_in(parts[3]), since)};
}

void read_found(const std::vector<Reply>& flat, IndexLook& look) {
  // By the words that Valkey has for its needs: it counted by them.
  std::map<std::string, std::size_t> counts;
  for (std::size_t i = 0; i + ready_parts <= flat.size(); i += ready_parts) {
    const std::span<const Reply, ready_parts> parts(&flat[i], ready_parts);
    auto ready = read_ready(parts, look.index);
    if (!ready) continue;
    const auto words = fmt::format("{}\x1f{}\x1f{}\x1f{}", text_in(parts[1]), text_in(parts[5]),
                                   text_in(parts[6]), text_in(parts[7]));
    if (++counts[words] == found_max) {
      const IndexEntry last{ready->score, ready->ready.id};
      const auto [at, first] =
          look.cut.try_emplace({.ns = ready->ready.ns, .needs = ready->ready.needs}, last);
      if (!first) at->second = std::min(at->second, last);
    }
    look.found.push_back(std::move(*ready));
  }
}

// `counts` is needs and count of each kind with needs; the rest of the index needs nothing.
std::map<IndexLook::Kind, std::uint64_t> read_totals(const Namespace& ns, std::uint64_t entries,
                                                     const std::vector<Reply>& counts) {
  std::map<IndexLook::Kind, std::uint64_t> totals;
  for (std::size_t i = 0; i + 1 < counts.size(); i += 2) {
    const auto count = parse_number<std::uint64_t>(text_in(counts[i + 1])).value_or(0);
    totals[{.ns = ns, .needs = needs_in(text_in(counts[i]))}] += count;
    entries -= std::min(entries, count);
  }
  if (entries > 0) totals[{.ns = ns, .needs = {}}] += entries;
  return totals;
}

// None: of an index that this program does not know.
Result<std::optional<IndexLook>> read_look(PartitionIndex partition,
                                           std::span<const Reply, look_parts> parts) {
  const auto* counts = parts[6].as_array();
  const auto* found = parts[7].as_array();
  const auto entries = parse_number<std::uint64_t>(text_in(parts[4]));
  if (!counts || !found || !entries) return malformed("a look at waiting executions");
  const auto queue = parse_queue(text_in(parts[0]));
  if (!queue) return std::nullopt;
  IndexLook look{.index = {.queue = text_in(parts[0]), .partition = partition}};
  if (text_in(parts[1]) == name_of(ReadyIndex::reclaimable))
    look.index.index = ReadyIndex::reclaimable;
  const auto last = ExecutionId::parse(text_in(parts[2]));
  if (const auto score = parse_number<double>(text_in(parts[3])); last && score)
    look.stopped_at = IndexEntry{std::llround(*score), *last};
  if (text_in(parts[5]) == "1") look.totals = read_totals(queue->first, *entries, *counts);
  read_found(*found, look);
  return look;
}

// Reads the answer of ff_look_waiting.
Result<IndexLook> read_look_at(const ReadyCache::Gap& gap, Result<Reply> reply) {
  auto list = list_of(std::move(reply));
  FF_TRY(list);
  IndexLook found{.index = gap.index};  // the end, if the index is empty
  if (list->size() >= 2 + look_parts) {
    auto read =
        read_look(gap.index.partition, std::span<const Reply, look_parts>(&(*list)[2], look_parts));
    FF_TRY(read);
    if (*read) found = std::move(**read);
  }
  found.after = gap.after;
  return found;
}

// Answer of ff_sweep_waiting.
struct Sweep {
  std::vector<IndexLook> looks;
  std::set<PartitionIndex> uncounted;  // partitions of older programs
};

Result<void> read_sweep(const std::vector<Reply>& answer, Sweep& sweep) {
  for (std::size_t i = 0; i + 1 < answer.size(); i += 2) {
    const auto partition = parse_tag(answer[i]);
    const auto* parts = answer[i + 1].as_array();
    if (!partition || !parts) return malformed("ff_sweep_waiting");
    for (std::size_t j = 0; j + look_parts <= parts->size(); j += look_parts) {
      auto look =
          read_look(*partition, std::span<const Reply, look_parts>(&(*parts)[j], look_parts));
      FF_TRY(look);
      if (!*look) continue;
      if (!(*look)->totals && (*look)->index.index == ReadyIndex::eligible)
        sweep.uncounted.insert(*partition);
      sweep.looks.push_back(std::move(**look));
    }
  }
  return {};
}

// So that a claim that waits is told of what it may not have heard of.
core::ExecutionChange reminder_of(const store::Ready& ready, TimePoint now) {
  return {.event = {.type = EventType::promoted,
                    .at = now,
                    .id = ready.id,
                    .ns = ready.ns,
                    .lane = ready.lane,
                    .kind = {}},
          .claimable = true,
          .required = ready.needs.capabilities,
          .reminder = true};
}

}  // namespace

// Looks at the best of all queues. Partitions in which older programs left what nobody counted are counted,
// and looked at again.
Async<void> ValkeyStore::look_for_ready(std::vector<PartitionIndex> partitions) {
  constexpr int passes_max = 2;
  for (int pass = 0; pass < passes_max && !partitions.empty(); ++pass) {
    Question question{.function = "ff_sweep_waiting",
                      .arguments = {std::to_string(entries_min), std::to_string(found_max)},
                      .moving = Moving::skip};
    ReadyCache::Look look(ready_);
    const auto answers = co_await ask(std::move(question), partitions);
    FF_CO_TRY(answers);
    Sweep sweep;
    for (const auto& answer : *answers)
      if (auto read = read_sweep(answer, sweep); !read) co_return read;
    take_in(look, sweep.looks);
    partitions.assign(sweep.uncounted.begin(), sweep.uncounted.end());
    for (const auto partition : partitions) {
      const auto counted = co_await recount(partition);
      FF_CO_TRY(counted);
    }
  }
  co_return Result<void>{};
}

Request ValkeyStore::request_for(const ReadyCache::Gap& gap, std::size_t entries) const {
  const auto& [index, after] = gap;
  auto command = with_keys({"FCALL_RO", "ff_look_waiting"}, keys::tag(index.partition),
                           keys::events(index.partition));
  command.push_back(index.queue);
  command.emplace_back(name_of(index.index));
  command.push_back(after.second.str());
  command.push_back(std::to_string(after.first));
  command.push_back(std::to_string(entries));
  command.push_back(std::to_string(found_max));
  return {.command = std::move(command), .route = slots_[index.partition]};
}

// Looks at what stands behind the work that is known.
Async<void> ValkeyStore::look_further(const std::vector<ReadyCache::Gap>& gaps) {
  const auto entries = std::clamp(entries_max / gaps.size(), entries_min, entries_max);
  std::vector<Request> requests;
  for (const auto& gap : gaps) requests.push_back(request_for(gap, entries));
  ReadyCache::Look look(ready_);
  auto replies = co_await call_all(std::move(requests));
  std::vector<IndexLook> looks;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    auto read = read_look_at(gaps[i], std::move(replies[i]));
    FF_CO_TRY(read);
    looks.push_back(std::move(*read));
  }
  take_in(look, looks);
  co_return Result<void>{};
}

void ValkeyStore::take_in(ReadyCache::Look& look, const std::vector<IndexLook>& looks) {
  std::vector<core::ExecutionChange> reminders;
  for (const auto& each : looks)
    for (const auto& ready : look.take_in(each)) reminders.push_back(reminder_of(ready, now()));
  const std::lock_guard lock(sink_mutex_);
  if (sink_ && !reminders.empty()) sink_(reminders);
}

// Returns how many counts were wrong.
Async<std::size_t> ValkeyStore::recount(PartitionIndex partition) {
  constexpr std::string_view counted_again_max = "1000";  // entries of a queue, in one call
  auto command =
      with_keys({"FCALL", "ff_recount_waiting"}, keys::tag(partition), keys::events(partition));
  command.emplace_back(counted_again_max);
  std::vector<Request> requests;
  requests.push_back({.command = std::move(command), .route = slots_[partition]});
  auto replies = co_await call_all(std::move(requests));
  auto list = list_of(std::move(replies.front()));
  FF_CO_TRY(list);
  if (list->size() < 3) co_return malformed("ff_recount_waiting");
  co_return parse_number<std::size_t>(text_in((*list)[2])).value_or(0);
}

Async<store::DueReply> ValkeyStore::timers_due(store::TimersDue query) {
  constexpr int looks_max = 3;  // something may be missed while it looks
  for (int i = 0; i < looks_max && now() + horizon / 2 > timers_.known_until(); ++i)
    FF_CO_TRY(co_await look_for_timers());
  co_return timers_.due(query, now());
}

Async<void> ValkeyStore::look_for_timers() {
  const auto asked_for = now() + horizon;
  auto until = asked_for;
  Question question{.function = "ff_sweep_timers",
                    .arguments = {std::to_string(until.time_since_epoch().count()),
                                  std::to_string(timers_per_look_max)},
                    .moving = Moving::skip};
  timers_.looked_up(until);  // what is heard from now on is kept, the answer does not have it
  const auto answers = co_await ask(std::move(question), all_partitions());
  if (!answers) {
    timers_.looked_up(TimePoint{});
    co_return std::unexpected(answers.error());
  }

  struct Found {
    ExecutionId id;
    core::Timer timer;
  };
  std::vector<Found> found;
  std::map<std::pair<PartitionIndex, core::TimerKind>, std::size_t> counts;
  for (const auto& answer : *answers)
    for (std::size_t i = 0; i + 2 < answer.size(); i += 3) {
      const auto kind = timer_kind_from(text_in(answer[i]));
      const auto id = ExecutionId::parse(text_in(answer[i + 1]));
      const auto due = parse_number<std::int64_t>(text_in(answer[i + 2]));
      if (!kind || !id || !due) co_return malformed("ff_sweep_timers");
      found.push_back({*id, {.kind = *kind, .due = TimePoint{Millis{*due}}}});
      // There may be more behind the last one that it gave.
      if (++counts[{id->partition(), *kind}] == timers_per_look_max)
        until = std::min(until, found.back().timer.due);
    }
  // Unless something was missed meanwhile: then they are looked up once more.
  if (timers_.known_until() == asked_for) timers_.looked_up(until);
  std::ranges::sort(found, {}, [](const Found& each) { return each.timer; });
  for (const auto& [id, timer] : found) timers_.put_earliest(id, timer);
  co_return Result<void>{};
}

}  // namespace ff::valkey
