#include "store/ready_queue.hpp"

#include <algorithm>

namespace ff::store {

bool Closed::holds_back(const core::Needs& needs) const {
  return (needs.quota && quotas.contains(*needs.quota)) ||
         std::ranges::any_of(needs.budgets,
                             [this](const BudgetId& id) { return budgets.contains(id); });
}

void ReadyQueue::add(const Ready& ready) {
  const std::lock_guard lock(mutex_);
  taken_.erase(ready.id);
  auto& queue = queues_[{ready.ns, ready.lane}];
  auto& group = queue[{ready.kind, ready.needs}];
  size_ += group.levels[ready.priority].emplace(ready.queued_at, ready.id).second ? 1 : 0;
}

void ReadyQueue::remove(const Ready& ready) {
  const std::lock_guard lock(mutex_);
  if (taken_.erase(ready.id) > 0) return;
  const auto queue = queues_.find({ready.ns, ready.lane});
  if (queue == queues_.end()) return;
  auto& groups = queue->second;
  const auto group = groups.find({ready.kind, ready.needs});
  if (group == groups.end()) return;
  auto& levels = group->second.levels;
  const auto level = levels.find(ready.priority);
  if (level == levels.end()) return;
  size_ -= level->second.erase({ready.queued_at, ready.id});
  if (level->second.empty()) levels.erase(level);
  if (levels.empty()) groups.erase(group);
  if (groups.empty()) queues_.erase(queue);
}

std::vector<Candidate> ReadyQueue::take(const TakeReady& query) {
  const std::lock_guard lock(mutex_);
  std::vector<Candidate> taken;
  const auto open = open_to(query);
  while (taken.size() < query.max) {
    const bool oldest_is_due = std::ranges::any_of(open, [](const Open* each) {
      return each->second.since_oldest + 1 >= limits::oldest_first_every;
    });
    const auto spot = oldest_is_due ? oldest_of(open) : best_of(open);
    if (!spot) break;
    for (Open* each : open)
      each->second.since_oldest = oldest_is_due ? 0 : each->second.since_oldest + 1;
    taken.push_back({take_head(*spot), spot->open->first.needs});
    taken_.insert(taken.back().id);
    --size_;
  }
  if (!taken.empty()) drop_empty(query);
  return taken;
}

bool PeekReady::concerns(const core::Needs& needs) const {
  return (needs.quota && needing.contains(*needs.quota)) ||
         std::ranges::any_of(needs.budgets,
                             [this](const BudgetId& id) { return needing.contains(id); });
}

std::vector<ReadyGroup> ReadyQueue::peek(const PeekReady& query) const {
  const std::lock_guard lock(mutex_);
  std::vector<ReadyGroup> groups;
  for (const auto& [place, queue] : queues_)
    for (const auto& [key, group] : queue) {
      if (!query.concerns(key.needs)) continue;
      auto& told = groups.emplace_back(ReadyGroup{
          .ns = place.first, .lane = place.second, .kind = key.kind, .needs = key.needs});
      for (const auto& [priority, ages] : group.levels)
        for (const auto& [queued_at, id] : ages) {
          if (told.best.size() == query.members_max) break;
          told.best.push_back(id);
        }
    }
  return groups;
}

// Visits the groups that the query may take from, each once, until `visit` returns false. Groups of kinds
// that it does not name are not even looked at.
template <class Queues, class Visit>
void ReadyQueue::visit_open(Queues& queues, const TakeReady& query, Visit visit) {
  const auto is_open = [&](const core::Needs& needs) {
    return query.capabilities.covers(needs.capabilities) && !query.closed.holds_back(needs);
  };
  std::vector<const LaneId*> seen;
  for (const auto& lane : query.lanes) {
    if (std::ranges::any_of(seen, [&](const LaneId* each) { return *each == lane; })) continue;
    seen.push_back(&lane);
    const auto queue = queues.find({query.ns, lane});
    if (queue == queues.end()) continue;
    auto& groups = queue->second;
    if (query.kinds.empty())
      for (auto& each : groups)
        if (is_open(each.first.needs) && !visit(each)) return;
    for (const auto& kind : query.kinds)
      for (auto each = groups.lower_bound({kind, {}});
           each != groups.end() && each->first.kind == kind; ++each)
        if (is_open(each->first.needs) && !visit(*each)) return;
  }
}

std::vector<ReadyQueue::Open*> ReadyQueue::open_to(const TakeReady& query) {
  std::vector<Open*> open;
  visit_open(queues_, query, [&](Open& each) {
    open.push_back(&each);
    return true;
  });
  return open;
}

bool ReadyQueue::offers(const TakeReady& query) const {
  const std::lock_guard lock(mutex_);
  bool any = false;
  visit_open(queues_, query, [&](const Open&) {
    any = true;
    return false;
  });
  return any;
}

std::optional<ReadyQueue::Spot> ReadyQueue::best_of(const std::vector<Open*>& open) {
  std::optional<Spot> best;
  for (Open* each : open) {
    auto& levels = each->second.levels;
    const auto level = levels.begin();
    if (level == levels.end()) continue;
    const auto is_better = [&] {
      if (level->first != best->level->first) return level->first > best->level->first;
      return *level->second.begin() < *best->level->second.begin();
    };
    if (!best || is_better()) best = Spot{each, level};
  }
  return best;
}

std::optional<ReadyQueue::Spot> ReadyQueue::oldest_of(const std::vector<Open*>& open) {
  std::optional<Spot> oldest;
  for (Open* each : open) {
    auto& levels = each->second.levels;
    for (auto level = levels.begin(); level != levels.end(); ++level)
      if (!oldest || *level->second.begin() < *oldest->level->second.begin())
        oldest = Spot{each, level};
  }
  return oldest;
}

ExecutionId ReadyQueue::take_head(const Spot& spot) {
  auto& ages = spot.level->second;
  const ExecutionId id = ages.begin()->second;
  ages.erase(ages.begin());
  if (ages.empty()) spot.open->second.levels.erase(spot.level);
  return id;
}

void ReadyQueue::drop_empty(const TakeReady& query) {
  for (const auto& lane : query.lanes) {
    const auto queue = queues_.find({query.ns, lane});
    if (queue == queues_.end()) continue;
    std::erase_if(queue->second, [](const auto& each) { return each.second.levels.empty(); });
    if (queue->second.empty()) queues_.erase(queue);
  }
}

bool ReadyQueue::has(const Ready& ready) const {
  const std::lock_guard lock(mutex_);
  if (taken_.contains(ready.id)) return true;
  const auto queue = queues_.find({ready.ns, ready.lane});
  if (queue == queues_.end()) return false;
  const auto group = queue->second.find({ready.kind, ready.needs});
  if (group == queue->second.end()) return false;
  const auto level = group->second.levels.find(ready.priority);
  return level != group->second.levels.end() && level->second.contains({ready.queued_at, ready.id});
}

std::size_t ReadyQueue::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

}  // namespace ff::store
