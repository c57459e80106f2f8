#include "store/valkey/caches/local_copy.hpp"

#include <map>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "base/try.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/calls/resource_calls.hpp"
#include "store/valkey/calls/waiting_looks.hpp"

namespace ff::valkey_store {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Millis sweep_interval{30'000};
constexpr int deep_look_every = 10;  // looks: what was missed behind a long backlog is found, too
constexpr Millis retry_interval{10'000};
// How often partitions are asked that did not answer; while their node is down that costs nothing.
constexpr Millis absent_interval{500};

// How long the process that made work ready is left to take it, and how much longer each further one. Longer
// than a claim takes, shorter than a person notices.
constexpr Millis held_first{3};
constexpr Millis held_each{2};
constexpr Millis held_max{15};

// How far ahead timers are known; they are looked up again when half of it is over.
constexpr Millis horizon{60'000};
constexpr Millis look_again_interval{100};  // at a partition with more timers than a look finds

// How many entries of an index a look goes through: a look at many indexes takes a few of each, one at a
// single index is to come past much that is held back.
constexpr std::size_t entries_min = 64;
constexpr std::size_t entries_max = 1'024;

// How many priorities are asked for their oldest executions, the lowest first, and for how many: some may be for other workers.
constexpr std::size_t oldest_priorities_max = 16;
constexpr std::size_t oldest_each_max = 8;

// So that a claim that waits is told of what it may not have heard of.
core::ExecutionChange reminder_of(const store::Ready& ready, TimePoint now,
                                  std::optional<WorkerId> preferred = {}) {
  return {.event = {.type = EventType::promoted,
                    .at = now,
                    .id = ready.id,
                    .ns = ready.ns,
                    .lane = ready.lane,
                    .kind = ready.kind},
          .claimable = true,
          .required = ready.needs.capabilities,
          .preferred = std::move(preferred)};
}

// "PROCESS.CALL": the process. Programs of the contract have no name.
std::string_view process_in(std::string_view origin) { return origin.substr(0, origin.find('.')); }

// Each process has its own copy of what waits, so each has to look whether it missed something, but all of them
// together only as often as one. A process without claims needs to know of nothing.
bool is_turn_to_look(const Division& division, std::size_t sweeps) {
  constexpr std::size_t turns_max = 10;
  const auto turns = std::clamp<std::size_t>(division.claimers(), 1, turns_max);
  return division.claims() && (sweeps + division.seed()) % turns == 0;
}

FunctionCall look_at(const ReadyCache::Gap& gap, std::size_t entries, std::string kinds) {
  const auto& [index, after] = gap;
  return {"ff_look_waiting",
          {index.queue, std::string(name_of(index.index)), after.second.str(),
           std::to_string(after.first), std::to_string(entries), std::to_string(found_max),
           std::move(kinds), "shares"}};
}

std::string joined(const std::vector<Kind>& kinds) {
  std::string text;
  for (const auto& kind : kinds) text += (text.empty() ? "" : "\x1f") + kind.str();
  return text;
}

}  // namespace

// ---- Notices -------------------------------------------------------------------------------------

void LocalCopy::set_sinks(store::Sinks sinks) {
  const std::lock_guard lock(sinks_mutex_);
  sinks_ = std::move(sinks);
}

// The channel of a partition has all its events in order, this process's own among them. Replies do not:
// they are on other connections.
void LocalCopy::hear(std::string_view text) {
  if (const auto id = parse_frames(text)) {
    const std::lock_guard lock(sinks_mutex_);
    return sinks_.on_frames(*id);
  }
  auto messages = parse_events(text);
  if (messages.empty()) {
    const auto opening = parse_opening(text);
    const std::lock_guard lock(sinks_mutex_);
    if (opening) sinks_.on_opening(*opening);
    return;
  }
  {
    const std::lock_guard lock(sinks_mutex_);
    for (const auto& message : messages)
      if (message.is_event) sinks_.on_events({&message.change, 1});
  }
  for (const auto& message : parts_.own_events.hear(std::move(messages))) learn(message);
}

void LocalCopy::learn(const EventMessage& message) {
  const auto& change = message.change;
  const auto& id = message.indexed.ready.id;
  bool is_held = false;
  if (change.claimable)
    is_held = hold(message);
  else if (message.is_event && !is_of_flow(change.event.type))
    ready_.erase(id, message.version);
  if (message.is_event) note_timer(id, change.timer, message.version);
  const bool is_others = change.timer && !parts_.membership.looks_after(id.partition());
  if (!is_held && !is_others) {
    const std::lock_guard lock(sinks_mutex_);
    return sinks_.on_changes({&change, 1});
  }
  auto told = change;
  if (is_held) told.claimable = false;
  if (is_others) told.timer.reset();
  const std::lock_guard lock(sinks_mutex_);
  sinks_.on_changes({&told, 1});
}

bool LocalCopy::hold(const EventMessage& message) {
  const auto& ready = message.indexed.ready;
  const auto rank = parts_.membership.division()->rank(ready.id, process_in(message.origin));
  const bool is_kept = ready_.put(message.indexed, message.version, rank > 0);
  if (rank == 0 || !is_kept) return false;
  const auto wait = std::min(held_first + static_cast<Millis::rep>(rank - 1) * held_each, held_max);
  const auto until = SteadyClock::now() + wait;
  const std::lock_guard lock(held_mutex_);
  const auto place =
      held_.emplace(until, reminder_of(ready, parts_.clock.now(), message.change.preferred));
  if (place == held_.begin()) held_wakeup_.wake();
  return true;
}

asio::awaitable<void> LocalCopy::release_held() {
  while (!parts_.background.is_stopping()) {
    std::vector<core::ExecutionChange> due;
    auto next = SteadyClock::time_point::max();
    {
      const std::lock_guard lock(held_mutex_);
      const auto end = held_.upper_bound(SteadyClock::now());
      for (auto each = held_.begin(); each != end; ++each) due.push_back(std::move(each->second));
      held_.erase(held_.begin(), end);
      if (!held_.empty()) next = held_.begin()->first;
    }
    std::erase_if(due, [this](const core::ExecutionChange& each) {
      return !ready_.put_back(each.event.id);  // another process has taken it
    });
    if (!due.empty()) {
      const std::lock_guard lock(sinks_mutex_);
      sinks_.on_changes(due);
    }
    co_await held_wakeup_.wait_until(next);
  }
}

void LocalCopy::note_timer(const ExecutionId& id, const std::optional<core::Timer>& timer,
                           std::optional<Version> version) {
  if (parts_.membership.looks_after(id.partition())) timers_.put(id, timer, version);
}

void LocalCopy::note_division() {
  ready_.divide(parts_.membership.division());
  const auto partitions = parts_.membership.own_partitions();
  std::set<PartitionIndex> own(partitions.begin(), partitions.end());
  std::set<PartitionIndex> lost;
  std::vector<PartitionIndex> gained;
  std::ranges::set_difference(own_, own, std::inserter(lost, lost.end()));
  std::ranges::set_difference(own, own_, std::back_inserter(gained));
  own_ = std::move(own);
  timers_.forget(lost);
  std::erase_if(cut_short_, [&](const auto& each) { return lost.contains(each.first.second); });
  if (gained.empty() || timers_.known_until() == TimePoint{}) return;
  parts_.background.spawn([this, gained] { return take_over(gained); });
}

// What came due there while nobody looked is acted on at once.
asio::awaitable<void> LocalCopy::take_over(std::vector<PartitionIndex> partitions) {
  log::debug("partitions taken over={}", partitions.size());
  const auto looked = co_await look_for_timers(std::move(partitions), timers_.known_until());
  if (!looked) timers_.looked_up(TimePoint{});
  for (const auto& timer : timers_.first_of_each()) {
    const core::ExecutionChange reminder{.event = {.type = EventType::promoted,
                                                   .at = parts_.clock.now(),
                                                   .id = {},
                                                   .ns = {},
                                                   .lane = {},
                                                   .kind = {}},
                                         .timer = timer};
    const std::lock_guard lock(sinks_mutex_);
    sinks_.on_changes({&reminder, 1});
  }
}

void LocalCopy::note_gap() {
  ready_.forget_versions();
  timers_.forget_versions();
  parts_.own_events.note_gap();
  missed_something_ = true;
  wakeup_.wake();
  const std::lock_guard lock(sinks_mutex_);
  sinks_.on_gap();
}

void LocalCopy::note_unreachable(PartitionIndex partition) {
  const auto neighbours = parts_.functions.neighbours_of(partition);
  const std::set<PartitionIndex> gone(neighbours.begin(), neighbours.end());
  ready_.forget(gone);
  timers_.forget(gone);
  const auto before = absent_.size();
  absent_.insert(gone.begin(), gone.end());
  if (absent_.size() > before) wakeup_.wake();
}

void LocalCopy::note_missing(const std::vector<keys::Partition>& places) {
  for (const auto& place : places)
    if (const auto partition = parse_tag(std::string_view(place.tag))) absent_.insert(*partition);
}

// ---- Waiting work ---------------------------------------------------------------------------------

asio::awaitable<void> LocalCopy::keep_up() {
  auto next_sweep = SteadyClock::now() + sweep_interval;
  std::size_t sweeps = 0;
  int looks = 0;
  while (!parts_.background.is_stopping()) {
    const auto pause = absent_.empty() ? retry_interval : absent_interval;
    co_await wakeup_.wait_until(SteadyClock::now() + pause);
    if (parts_.background.is_stopping()) co_return;
    if (!absent_.empty()) co_await look_for_absent();
    const bool sweep = parts_.sweep && SteadyClock::now() >= next_sweep;
    const bool missed = missed_something_.exchange(false);
    if (!missed && !sweep) continue;
    next_sweep = SteadyClock::now() + sweep_interval;
    timers_.looked_up(TimePoint{});
    ++sweeps;
    if (!missed && !is_turn_to_look(*parts_.membership.division(), sweeps)) continue;
    if (++looks % deep_look_every == 0) ready_.forget_extents();
    const auto looked = co_await look_for_ready(parts_.functions.all_partitions());
    if (!looked) missed_something_ = true;
  }
}

asio::awaitable<void> LocalCopy::look_for_absent() {
  const auto absent = absent_;
  const auto looked = co_await look_for_ready({absent.begin(), absent.end()});
  if (!looked) {  // their timers were not looked for
    absent_.insert(absent.begin(), absent.end());
    co_return;
  }
  std::vector<PartitionIndex> back;
  std::ranges::set_difference(absent, absent_, std::back_inserter(back));
  std::erase_if(back, [this](PartitionIndex each) { return !parts_.membership.looks_after(each); });
  const auto known_until = timers_.known_until();
  if (back.empty() || known_until == TimePoint{}) co_return;
  if (!co_await look_for_timers(back, known_until)) timers_.looked_up(TimePoint{});
}

// Looks at the best of all queues. Partitions in which older programs left what nobody counted are counted,
// and looked at again.
Async<void> LocalCopy::look_for_ready(std::vector<PartitionIndex> partitions) {
  constexpr int passes_max = 2;
  for (int pass = 0; pass < passes_max && !partitions.empty(); ++pass) {
    Question question{
        .function = "ff_sweep_waiting",
        .arguments = {std::to_string(entries_min), std::to_string(found_max), "shares"},
        .moving = Moving::skip};
    ReadyCache::Look look(ready_);
    const auto answers = co_await parts_.functions.ask(std::move(question), partitions);
    FF_CO_TRY(answers);
    for (const auto partition : partitions) absent_.erase(partition);
    note_missing(answers->missing);
    WaitingSweep sweep;
    for (const auto& answer : answers->of_nodes)
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

// Looks for these kinds behind the work that is known.
Async<void> LocalCopy::look_further(const std::vector<ReadyCache::Gap>& gaps,
                                    const std::vector<Kind>& kinds) {
  const auto entries = std::clamp(entries_max / gaps.size(), entries_min, entries_max);
  std::vector<Request> requests;
  for (const auto& gap : gaps)
    requests.push_back(parts_.functions.at_partition(
        gap.index.partition, look_at(gap, entries, joined(kinds)), Functions::Access::reads));
  ReadyCache::Look look(ready_);
  auto replies = co_await parts_.functions.call_all(std::move(requests));
  std::vector<IndexLook> looks;
  Result<void> looked;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (!replies[i] && is_unreachable(replies[i].error()))
      note_unreachable(gaps[i].index.partition);
    auto read = read_look_at(gaps[i].index, std::move(replies[i]));
    if (!read) {
      looked = std::unexpected(read.error());
      continue;
    }
    read->after = gaps[i].after;
    looks.push_back(std::move(*read));
  }
  take_in(look, looks);
  co_return looked;
}

// Without an answer the claim gets what is known.
asio::awaitable<void> LocalCopy::look_for_oldest(IndexName index) {
  FunctionCall function{"ff_look_oldest",
                        {std::to_string(parts_.clock.now().time_since_epoch().count()), index.queue,
                         std::to_string(oldest_priorities_max), std::to_string(oldest_each_max)}};
  auto request = parts_.functions.at_partition(index.partition, std::move(function),
                                               Functions::Access::reads);
  ReadyCache::Look look(ready_, false);
  std::vector<Request> requests;
  requests.push_back(std::move(request));
  auto replies = co_await parts_.functions.call_all(std::move(requests));
  if (const auto found = read_look_at(index, std::move(replies.front()))) look.take_in_oldest(*found);
}

void LocalCopy::take_in(ReadyCache::Look& look, const std::vector<IndexLook>& looks) {
  std::vector<core::ExecutionChange> reminders;
  for (const auto& each : looks)
    for (const auto& ready : look.take_in(each))
      reminders.push_back(reminder_of(ready, parts_.clock.now()));
  const std::lock_guard lock(sinks_mutex_);
  if (!reminders.empty()) sinks_.on_changes(reminders);
}

Async<std::size_t> LocalCopy::recount(PartitionIndex partition) {
  constexpr std::string_view counted_again_max = "1000";  // entries of queues, in one call
  std::size_t wrong = 0;
  std::string after;
  do {
    FunctionCall function{"ff_recount_waiting", {std::string(counted_again_max), std::move(after)}};
    auto request =
        parts_.functions.at_partition(partition, std::move(function), Functions::Access::writes);
    const auto list = co_await parts_.functions.list_from(std::move(request));
    FF_CO_TRY(list);
    if (list->empty()) co_return malformed("ff_recount_waiting");
    wrong += parse_number<std::size_t>(text_in(list->front())).value_or(0);
    after = list->size() > 1 ? text_in((*list)[1]) : "";
  } while (!after.empty());
  co_return wrong;
}

void LocalCopy::start(store::Call<store::TakeReady>& call) {
  parts_.membership.note_claim();
  auto oldest = ready_.index_of_oldest(call.operation);
  if (!oldest && ready_.gaps(call.operation).empty())
    return call.done(ready_.take(call.operation));
  parts_.background.answer(call, [this, oldest = std::move(oldest)](store::TakeReady query) {
    return take_ready(std::move(query), oldest);
  });
}

void LocalCopy::start(store::Call<store::PeekReady>& call) {
  call.done(ready_.peek(call.operation));
}

// Work for this worker can stand behind much that it may not have. Every look comes further, or to the end;
// one claim looks at a time, as what it finds is for all.
Async<std::vector<store::Candidate>> LocalCopy::take_ready(store::TakeReady query,
                                                           std::optional<IndexName> oldest) {
  if (oldest) co_await look_for_oldest(std::move(*oldest));
  while (!parts_.background.is_stopping()) {
    while (looking_) {
      boost::system::error_code ended;
      co_await look_ended_.async_wait(asio::redirect_error(asio::use_awaitable, ended));
    }
    const auto gaps = ready_.gaps(query);
    if (gaps.empty()) break;
    looking_ = true;
    const auto looked = co_await look_further(gaps, query.kinds);
    looking_ = false;
    look_ended_.cancel();
    if (auto taken = ready_.take(query); !taken.empty()) co_return taken;
    FF_CO_TRY(looked);
  }
  co_return ready_.take(query);
}

// ---- Timers ---------------------------------------------------------------------------------------

void LocalCopy::start(store::Call<store::TimersDue>& call) {
  parts_.background.answer(call, [this](store::TimersDue query) { return timers_due(query); });
}

// A scanner with a filter asks for more the more timers of others are due: they must not hide its own.
Async<store::DueReply> LocalCopy::timers_due(store::TimersDue query) {
  auto per_look = timers_per_look_.load();
  while (per_look < query.max && !timers_per_look_.compare_exchange_weak(per_look, query.max)) {
  }
  constexpr int looks_max = 3;  // something may be missed while it looks
  for (int i = 0; i < looks_max && parts_.clock.now() + horizon / 2 > timers_.known_until(); ++i)
    FF_CO_TRY(co_await look_for_all_timers());
  auto reply = timers_.due(query, parts_.clock.now());
  const auto behind = cut_short(query.kind, parts_.clock.now());
  if (reply.due.size() < query.max && !behind.empty()) {
    FF_CO_TRY(co_await look_for_timers(behind, timers_.known_until()));
    reply = timers_.due(query, parts_.clock.now());
  }
  for (const auto& [place, known_until] : cut_short_) {
    if (place.first != query.kind) continue;
    const auto next = std::max(known_until, parts_.clock.now() + look_again_interval);
    reply.next = std::min(reply.next.value_or(next), next);
  }
  co_return reply;
}

std::vector<PartitionIndex> LocalCopy::cut_short(core::TimerKind kind, TimePoint before) const {
  std::vector<PartitionIndex> partitions;
  for (const auto& [place, known_until] : cut_short_)
    if (place.first == kind && known_until <= before) partitions.push_back(place.second);
  return partitions;
}

Async<void> LocalCopy::look_for_all_timers() {
  const auto asked_for = parts_.clock.now() + horizon;
  timers_.looked_up(asked_for);  // what is heard from now on is kept, the answer does not have it
  const auto looked = co_await look_for_timers(parts_.membership.own_partitions(), asked_for);
  if (!looked) timers_.looked_up(TimePoint{});
  co_return looked;
}

Async<void> LocalCopy::look_for_timers(std::vector<PartitionIndex> partitions, TimePoint until) {
  const auto per_look = timers_per_look_.load();
  Question question{
      .function = "ff_sweep_timers",
      .arguments = {std::to_string(until.time_since_epoch().count()), std::to_string(per_look),
                    "flows"},
      .moving = Moving::skip};
  const auto answers = co_await parts_.functions.ask(std::move(question), partitions);
  FF_CO_TRY(answers);
  note_missing(answers->missing);

  struct Found {
    ExecutionId id;
    core::Timer timer;
  };
  std::vector<Found> found;
  std::map<TimersPlace, std::size_t> counts;
  std::map<TimersPlace, TimePoint> ended_early;
  for (const auto& answer : answers->of_nodes)
    for (std::size_t i = 0; i + 2 < answer.size(); i += 3) {
      const auto kind = timer_kind_from(text_in(answer[i]));
      const auto id = ExecutionId::parse(text_in(answer[i + 1]));
      const auto due = parse_number<std::int64_t>(text_in(answer[i + 2]));
      if (!kind || !id || !due) co_return malformed("ff_sweep_timers");
      found.push_back({*id, {.kind = *kind, .due = TimePoint{Millis{*due}}}});
      // There may be more behind the last one that it gave.
      const TimersPlace place{*kind, id->partition()};
      if (++counts[place] == per_look) ended_early[place] = found.back().timer.due;
    }
  const std::set<PartitionIndex> looked_at(partitions.begin(), partitions.end());
  std::erase_if(cut_short_,
                [&](const auto& each) { return looked_at.contains(each.first.second); });
  cut_short_.merge(ended_early);
  std::ranges::sort(found, {}, [](const Found& each) { return each.timer; });
  for (const auto& [id, timer] : found)
    if (parts_.membership.looks_after(id.partition())) timers_.put_earliest(id, timer);
  co_return Result<void>{};
}

}  // namespace ff::valkey_store
