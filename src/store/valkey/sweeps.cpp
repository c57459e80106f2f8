// What a store on Valkey looks up in many partitions at once: work that waits, and timers.
#include <map>

#include "store/valkey/answers.hpp"
#include "store/valkey/fields.hpp"
#include "store/valkey/valkey_store.hpp"

namespace ff::valkey {
namespace {

// How far ahead timers are known; they are looked up again when half of it is over.
constexpr Millis horizon{60'000};
constexpr std::size_t timers_per_look_max = 1'000;

using Queue = std::pair<Namespace, LaneId>;

// What one partition answered to ff_sweep_ready.
struct ReadyShare {
  PartitionIndex partition = 0;
  std::vector<store::Ready> found;
  std::vector<Queue> with_more;

  std::map<Queue, std::int64_t> worst_scores() const {
    std::map<Queue, std::int64_t> worst;
    for (const auto& ready : found) {
      const auto score = core::ready_score(ready.priority, ready.queued_at);
      const auto [at, first] = worst.try_emplace({ready.ns, ready.lane}, score);
      if (!first) at->second = std::max(at->second, score);
    }
    return worst;
  }
};

// id, namespace, lane, priority, queued_at, required_capabilities, budget_ids, quota_policy_id
constexpr std::size_t ready_parts = 8;
std::optional<store::Ready> read_ready(std::span<const Reply, ready_parts> parts) {
  const auto id = ExecutionId::parse(text_in(parts[0]));
  auto ns = Namespace::parse(text_in(parts[1]));
  auto lane = LaneId::parse(text_in(parts[2]));
  const auto queued_at = parse_number<std::int64_t>(text_in(parts[4]));
  if (!id || !ns || !lane || !queued_at) return std::nullopt;
  return store::Ready{.id = *id,
                      .ns = std::move(*ns),
                      .lane = std::move(*lane),
                      .priority = priority_in(text_in(parts[3])),
                      .queued_at = TimePoint{Millis{*queued_at}},
                      .needs = needs_in(text_in(parts[5]), text_in(parts[6]), text_in(parts[7]))};
}

Result<std::vector<ReadyShare>> read_shares(const std::vector<Reply>& answer) {
  std::vector<ReadyShare> shares;
  for (std::size_t i = 0; i + 2 < answer.size(); i += 3) {
    const auto partition = parse_tag(answer[i]);
    const auto* found = answer[i + 1].as_array();
    const auto* more = answer[i + 2].as_array();
    if (!partition || !found || !more) return malformed("ff_sweep_ready");
    ReadyShare share{.partition = *partition, .found = {}, .with_more = {}};
    for (std::size_t j = 0; j + ready_parts <= found->size(); j += ready_parts)
      if (auto ready = read_ready(std::span<const Reply, ready_parts>(&(*found)[j], ready_parts)))
        share.found.push_back(std::move(*ready));
    for (const auto& each : *more)
      if (auto queue = parse_queue(text_in(each))) share.with_more.push_back(std::move(*queue));
    shares.push_back(std::move(share));
  }
  return shares;
}

// So that a claim that waits is told of what it may not have heard of.
core::Happening reminder_of(const store::Ready& ready, TimePoint now) {
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

Async<void> ValkeyStore::look_for_ready(std::vector<PartitionIndex> partitions,
                                        std::size_t ask_for) {
  Question question{
      .function = "ff_sweep_ready", .arguments = {std::to_string(ask_for)}, .moving = Moving::skip};
  ReadyCache::Look look(ready_);
  const auto answers = co_await ask(std::move(question), std::move(partitions));
  if (!answers) co_return std::unexpected(answers.error());
  std::vector<core::Happening> reminders;
  for (const auto& answer : *answers) {
    const auto shares = read_shares(answer);
    if (!shares) co_return std::unexpected(shares.error());
    for (const auto& share : *shares) {
      // First how far this look reached, then what it found: nothing beyond that is kept.
      for (const auto& [queue, worst] : share.worst_scores()) {
        if (std::ranges::find(share.with_more, queue) != share.with_more.end())
          ready_.note_more(share.partition, queue.first, queue.second, worst);
        else
          ready_.note_all(share.partition, queue.first, queue.second);
      }
      for (const auto& ready : share.found)
        if (look.put(ready)) reminders.push_back(reminder_of(ready, now()));
    }
  }
  const std::lock_guard lock(sink_mutex_);
  if (sink_ && !reminders.empty()) sink_(reminders);
  co_return Result<void>{};
}

Async<store::DueReply> ValkeyStore::timers_due(store::TimersDue query) {
  constexpr int looks_max = 3;  // something may be missed while it looks
  for (int i = 0; i < looks_max && now() + horizon / 2 > timers_.known_until(); ++i)
    if (auto looked = co_await look_for_timers(); !looked)
      co_return std::unexpected(looked.error());
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
