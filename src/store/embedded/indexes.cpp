#include "store/embedded/indexes.hpp"

#include <algorithm>
#include <charconv>
#include <ranges>

#include <fmt/format.h>

#include "base/assert.hpp"

namespace ff::embedded {

// Also what is blocked for want of a budget, a quota or a capable worker: who has those may take it.
bool is_ready(const core::Execution& execution) {
  if (const auto* blocked = std::get_if<core::Blocked>(&execution.state))
    return !core::is_pause(blocked->reason);
  return std::holds_alternative<core::Waiting>(execution.state);
}

namespace {

std::size_t state_index(const core::Execution& execution) {
  return static_cast<std::size_t>(core::public_state(execution));
}

}  // namespace

store::Ready ready_of(const core::Execution& execution) {
  return {.id = execution.id,
          .ns = execution.ns,
          .lane = execution.lane,
          .priority = execution.priority,
          .queued_at = execution.queued_at,
          .needs = core::needs_of(execution.policy),
          .blocked = std::holds_alternative<core::Blocked>(execution.state)};
}

void Indexes::add(const core::Execution& execution) {
  ++counts_[{execution.ns, execution.lane}][state_index(execution)];
  place(execution);
}

void Indexes::place(const core::Execution& execution) {
  if (is_ready(execution)) ready_.add(ready_of(execution));
  if (const auto timer = core::next_timer(execution))
    timers_[timer->kind].emplace(timer->due, execution.id);
  if (const auto* blocked = std::get_if<core::Blocked>(&execution.state))
    blocked_[blocked->reason].insert({.since = blocked->since, .id = execution.id});
}

void Indexes::remove(const core::Execution& execution) {
  const auto counts = counts_.try_emplace({execution.ns, execution.lane}).first;
  auto& count = counts->second[state_index(execution)];
  FF_ASSERT(count > 0 || core::has_ended(execution));
  --count;
  if (std::ranges::all_of(counts->second, [](auto each) { return each == 0; }))
    counts_.erase(counts);
  if (is_ready(execution)) ready_.remove(ready_of(execution));
  if (const auto timer = core::next_timer(execution))
    timers_[timer->kind].erase({timer->due, execution.id});
  if (const auto* blocked = std::get_if<core::Blocked>(&execution.state))
    blocked_[blocked->reason].erase({.since = blocked->since, .id = execution.id});
}

void Indexes::add_ended(const QueueKey& lane, const CountByState& ended) {
  auto& counts = counts_[lane];
  for (std::size_t state = 0; state < counts.size(); ++state) counts[state] += ended[state];
}

store::DueReply Indexes::due(const store::TimersDue& query, TimePoint now) const {
  store::DueReply reply;
  const auto timers = timers_.find(query.kind);
  if (timers == timers_.end()) return reply;
  for (const auto& [due, id] : timers->second) {
    if (due > now) {
      reply.next = due;
      break;
    }
    if (reply.due.size() == query.max) {
      reply.next = now;
      break;
    }
    reply.due.push_back(id);
  }
  return reply;
}

std::vector<LaneCount> Indexes::counts(const std::optional<Namespace>& ns,
                                       const std::optional<LaneId>& lane) const {
  std::vector<LaneCount> found;
  for (const auto& [queue, counts] : counts_)
    if ((!ns || queue.first == *ns) && (!lane || queue.second == *lane))
      found.push_back({.lane = queue.second, .counts = counts});
  return found;
}

StateCounts sum(const std::vector<std::vector<LaneCount>>& shares) {
  std::map<LaneId, CountByState> lanes;
  for (const auto& [lane, counts] : shares | std::views::join)
    for (std::size_t state = 0; state < counts.size(); ++state) lanes[lane][state] += counts[state];
  StateCounts total;
  for (const auto& [lane, counts] : lanes)
    for (std::size_t state = 0; state < counts.size(); ++state)
      if (counts[state] > 0)
        total.counts.push_back({.lane = lane,
                                .state = static_cast<ExecutionState>(state),
                                .count = static_cast<std::uint64_t>(counts[state])});
  return total;
}

CountByState Indexes::counts_of(const QueueKey& lane) const {
  const auto counts = counts_.find(lane);
  return counts == counts_.end() ? CountByState{} : counts->second;
}

std::vector<BlockedSince> Indexes::blocked(BlockingReason reason,
                                           const std::optional<BlockedSince>& after,
                                           std::size_t max) const {
  std::vector<BlockedSince> found;
  const auto there = blocked_.find(reason);
  if (there == blocked_.end()) return found;
  const auto& places = there->second;
  auto place = after ? places.upper_bound(*after) : places.begin();
  for (; place != places.end() && found.size() < max; ++place) found.push_back(*place);
  return found;
}

std::vector<store::BlockedCount> Indexes::blocked_counts() const {
  std::vector<store::BlockedCount> counts;
  for (const auto& [reason, places] : blocked_)
    if (!places.empty()) counts.push_back({.reason = reason, .count = places.size()});
  return counts;
}

std::vector<store::BlockedCount> sum_blocked(
    const std::vector<std::vector<store::BlockedCount>>& shares) {
  std::map<BlockingReason, std::uint64_t> counts;
  for (const auto& [reason, count] : shares | std::views::join) counts[reason] += count;
  std::vector<store::BlockedCount> total;
  for (const auto& [reason, count] : counts) total.push_back({.reason = reason, .count = count});
  return total;
}

std::string to_cursor(const BlockedSince& place) {
  return fmt::format("{} {}", place.since.time_since_epoch().count(), place.id.str());
}

std::optional<BlockedSince> from_cursor(std::string_view text) {
  Millis::rep since = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), since);
  const auto rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc{} || !rest.starts_with(' ')) return std::nullopt;
  const auto id = ExecutionId::parse(rest.substr(1));
  if (!id) return std::nullopt;
  return BlockedSince{.since = TimePoint{Millis{since}}, .id = *id};
}

bool Indexes::has(const core::Execution& execution) const {
  const bool queued = !is_ready(execution) || ready_.has(ready_of(execution));
  return queued && has_timer(execution) && has_blocked(execution);
}

bool Indexes::has_timer(const core::Execution& execution) const {
  const auto timer = core::next_timer(execution);
  if (!timer) return true;
  const auto timers = timers_.find(timer->kind);
  return timers != timers_.end() && timers->second.contains({timer->due, execution.id});
}

bool Indexes::has_blocked(const core::Execution& execution) const {
  const auto* blocked = std::get_if<core::Blocked>(&execution.state);
  if (!blocked) return true;
  const auto places = blocked_.find(blocked->reason);
  return places != blocked_.end() &&
         places->second.contains({.since = blocked->since, .id = execution.id});
}

std::size_t Indexes::mend(PartitionIndex partition,
                          const std::vector<core::Execution>& executions) {
  std::size_t mended = 0;
  std::set<std::pair<core::Timer, ExecutionId>> timed;
  std::set<std::pair<BlockingReason, BlockedSince>> blocked;
  for (const auto& execution : executions) {
    if (!has(execution)) {
      place(execution);
      ++mended;
    }
    if (const auto timer = core::next_timer(execution)) timed.emplace(*timer, execution.id);
    if (const auto* state = std::get_if<core::Blocked>(&execution.state))
      blocked.insert({state->reason, {.since = state->since, .id = execution.id}});
  }
  for (auto& [kind, timers] : timers_)
    mended += std::erase_if(timers, [&](const auto& entry) {
      const auto& [due, id] = entry;
      return id.partition() == partition &&
             !timed.contains({core::Timer{.kind = kind, .due = due}, id});
    });
  for (auto& [reason, places] : blocked_)
    mended += std::erase_if(places, [&](const BlockedSince& each) {
      return each.id.partition() == partition && !blocked.contains({reason, each});
    });
  return mended;
}

}  // namespace ff::embedded
