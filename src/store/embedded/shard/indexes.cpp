#include "store/embedded/shard/indexes.hpp"

#include <algorithm>
#include <ranges>

#include "base/assert.hpp"

namespace ff::embedded {

bool is_ready(const core::Execution& execution) {
  return std::holds_alternative<core::Waiting>(execution.state);
}

namespace {

// Timers of executions, which mend() compares with the records.
bool is_counted(core::TimerKind kind) { return kind != core::TimerKind::flow_deadline; }

std::size_t state_index(const core::Execution& execution) {
  return static_cast<std::size_t>(core::public_state(execution));
}

}  // namespace

store::Ready ready_of(const core::Execution& execution) {
  return {.id = execution.id,
          .ns = execution.ns,
          .lane = execution.lane,
          .kind = execution.kind,
          .priority = execution.priority,
          .queued_at = execution.queued_at,
          .needs = core::needs_of(execution.policy)};
}

void Indexes::add(const core::Execution& execution) {
  const QueueKey queue{execution.ns, execution.lane};
  ++counts_[queue][state_index(execution)];
  if (core::waits_for_needs(execution)) ++waiting_[queue][core::held_back_by(core::needs_of(execution.policy))];
  if (core::is_reclaimable(execution)) ++reclaimable_[queue];
  add_holder(execution);
  place(execution);
}

void Indexes::add_holder(const core::Execution& execution) {
  if (const auto* active = std::get_if<core::Active>(&execution.state))
    held_[{execution.ns, active->lease.worker}].insert(execution.id);
}

void Indexes::remove_holder(const core::Execution& execution) {
  const auto* active = std::get_if<core::Active>(&execution.state);
  if (!active) return;
  const auto holder = held_.find({execution.ns, active->lease.worker});
  FF_ASSERT(holder != held_.end());
  holder->second.erase(execution.id);
  if (holder->second.empty()) held_.erase(holder);
}

void Indexes::place(const core::Execution& execution) {
  if (is_ready(execution)) ready_.add(ready_of(execution));
  if (const auto timer = core::next_timer(execution)) add_timer(*timer, execution.id);
}

void Indexes::add_timer(const core::Timer& timer, const ExecutionId& id) {
  const bool added = timers_[timer.kind].emplace(timer.due, id).second;
  if (added && is_counted(timer.kind)) ++timer_counts_[id.partition()];
}

void Indexes::remove_timer(const core::Timer& timer, const ExecutionId& id) {
  const auto removed = timers_[timer.kind].erase({timer.due, id});
  if (is_counted(timer.kind)) timer_counts_[id.partition()] -= removed;
}

void Indexes::remove(const core::Execution& execution) {
  const QueueKey queue{execution.ns, execution.lane};
  const auto counts = counts_.try_emplace(queue).first;
  auto& count = counts->second[state_index(execution)];
  FF_ASSERT(count > 0 || core::has_ended(execution));
  --count;
  if (std::ranges::all_of(counts->second, [](auto each) { return each == 0; }))
    counts_.erase(counts);
  if (core::waits_for_needs(execution)) remove_waiting(execution);
  if (core::is_reclaimable(execution) && --reclaimable_[queue] == 0) reclaimable_.erase(queue);
  remove_holder(execution);
  if (is_ready(execution)) ready_.remove(ready_of(execution));
  if (const auto timer = core::next_timer(execution)) remove_timer(*timer, execution.id);
}

void Indexes::remove_waiting(const core::Execution& execution) {
  const auto queue = waiting_.find({execution.ns, execution.lane});
  FF_ASSERT(queue != waiting_.end());
  const auto group = queue->second.find(core::held_back_by(core::needs_of(execution.policy)));
  FF_ASSERT(group != queue->second.end());
  if (--group->second == 0) queue->second.erase(group);
  if (queue->second.empty()) waiting_.erase(queue);
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
      found.push_back(
          {.lane = queue.second, .counts = counts, .reclaimable = reclaimable_in(queue)});
  return found;
}

std::uint64_t Indexes::reclaimable_in(const QueueKey& queue) const {
  const auto found = reclaimable_.find(queue);
  return found == reclaimable_.end() ? 0 : found->second;
}

std::vector<store::HeldExecution> Indexes::held(const store::FindHeld& query) const {
  std::vector<store::HeldExecution> found;
  for (auto holder = held_.lower_bound({query.ns, query.worker.value_or(WorkerId{})});
       holder != held_.end() && holder->first.first == query.ns; ++holder) {
    const auto& worker = holder->first.second;
    if (query.worker && worker != *query.worker) break;
    for (const auto& id : holder->second) {
      if (found.size() == query.max) return found;
      found.push_back({.worker = worker, .id = id});
    }
  }
  return found;
}

StateCounts sum(const std::vector<std::vector<LaneCount>>& shares) {
  std::map<LaneId, LaneCount> lanes;
  for (const auto& [lane, counts, reclaimable] : shares | std::views::join) {
    auto& all = lanes[lane];
    for (std::size_t state = 0; state < counts.size(); ++state) all.counts[state] += counts[state];
    all.reclaimable += reclaimable;
  }
  StateCounts total;
  for (const auto& [lane, all] : lanes)
    for (std::size_t index = 0; index < all.counts.size(); ++index) {
      if (all.counts[index] <= 0) continue;
      const auto state = static_cast<ExecutionState>(index);
      total.counts.push_back(
          {.lane = lane,
           .state = state,
           .count = static_cast<std::uint64_t>(all.counts[index]),
           .reclaimable = state == ExecutionState::active ? all.reclaimable : 0});
    }
  return total;
}

CountByState Indexes::counts_of(const QueueKey& lane) const {
  const auto counts = counts_.find(lane);
  return counts == counts_.end() ? CountByState{} : counts->second;
}

std::vector<store::WaitingCount> Indexes::waiting(const std::optional<Namespace>& ns) const {
  std::vector<store::WaitingCount> found;
  for (const auto& [queue, groups] : waiting_)
    for (const auto& [needs, count] : groups)
      if (!ns || queue.first == *ns)
        found.push_back({.ns = queue.first, .lane = queue.second, .needs = needs, .count = count});
  return found;
}

std::vector<store::WaitingCount> sum_waiting(
    const std::vector<std::vector<store::WaitingCount>>& shares) {
  std::map<std::tuple<Namespace, LaneId, core::Needs>, std::uint64_t> counts;
  for (const auto& each : shares | std::views::join)
    counts[{each.ns, each.lane, each.needs}] += each.count;
  std::vector<store::WaitingCount> total;
  for (const auto& [group, count] : counts) {
    const auto& [ns, lane, needs] = group;
    total.push_back({.ns = ns, .lane = lane, .needs = needs, .count = count});
  }
  return total;
}

bool Indexes::has(const core::Execution& execution) const {
  const bool queued = !is_ready(execution) || ready_.has(ready_of(execution));
  return queued && has_timer(execution);
}

bool Indexes::has_timer(const core::Execution& execution) const {
  const auto timer = core::next_timer(execution);
  if (!timer) return true;
  const auto timers = timers_.find(timer->kind);
  return timers != timers_.end() && timers->second.contains({timer->due, execution.id});
}

std::size_t Indexes::mend(PartitionIndex partition,
                          const std::vector<core::Execution>& executions) {
  std::size_t mended = 0;
  std::set<std::pair<core::Timer, ExecutionId>> timed;
  for (const auto& execution : executions) {
    if (!has(execution)) {
      place(execution);
      ++mended;
    }
    if (const auto timer = core::next_timer(execution)) timed.emplace(*timer, execution.id);
  }
  // All of them are there: more than that are wrong. Only then are all timers of the shard looked at.
  auto& count = timer_counts_[partition];
  if (count == timed.size()) return mended;
  for (auto& [kind, timers] : timers_) {
    if (!is_counted(kind)) continue;
    mended += std::erase_if(timers, [&](const auto& entry) {
      const auto& [due, id] = entry;
      return id.partition() == partition &&
             !timed.contains({core::Timer{.kind = kind, .due = due}, id});
    });
  }
  count = timed.size();
  return mended;
}

}  // namespace ff::embedded
