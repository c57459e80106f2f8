#include "store/ready_queue.hpp"

#include <algorithm>

namespace ff::store {

void ReadyQueue::add(const Ready& ready) {
  const std::lock_guard lock(mutex_);
  taken_.erase(ready.id);
  auto& queue = queues_[{ready.ns, ready.lane}];
  auto& level = queue[ready.required].levels[ready.priority];
  size_ += level.emplace(ready.queued_at, ready.id).second ? 1 : 0;
}

void ReadyQueue::remove(const Ready& ready) {
  const std::lock_guard lock(mutex_);
  if (taken_.erase(ready.id) > 0) return;
  const auto queue = queues_.find({ready.ns, ready.lane});
  if (queue == queues_.end()) return;
  auto& groups = queue->second;
  const auto group = groups.find(ready.required);
  if (group == groups.end()) return;
  auto& levels = group->second.levels;
  const auto level = levels.find(ready.priority);
  if (level == levels.end()) return;
  size_ -= level->second.erase({ready.queued_at, ready.id});
  if (level->second.empty()) levels.erase(level);
  if (levels.empty()) groups.erase(group);
  if (groups.empty()) queues_.erase(queue);
}

std::vector<ExecutionId> ReadyQueue::take(const TakeReady& query) {
  const std::lock_guard lock(mutex_);
  std::vector<ExecutionId> ids;
  const auto open = open_to(query);
  while (ids.size() < query.max) {
    const bool oldest_is_due = std::ranges::any_of(open, [](const Group* group) {
      return group->since_oldest + 1 >= limits::oldest_first_every;
    });
    const auto spot = oldest_is_due ? oldest_of(open) : best_of(open);
    if (!spot) break;
    for (Group* group : open) group->since_oldest = oldest_is_due ? 0 : group->since_oldest + 1;
    ids.push_back(take_head(*spot));
    taken_.insert(ids.back());
    --size_;
  }
  if (!ids.empty()) drop_empty(query);
  return ids;
}

std::vector<ReadyQueue::Group*> ReadyQueue::open_to(const TakeReady& query) {
  std::vector<Group*> open;
  std::vector<const LaneId*> seen;
  for (const auto& lane : query.lanes) {
    if (std::ranges::any_of(seen, [&](const LaneId* each) { return *each == lane; })) continue;
    seen.push_back(&lane);
    const auto queue = queues_.find({query.ns, lane});
    if (queue == queues_.end()) continue;
    for (auto& [required, group] : queue->second)
      if (query.capabilities.covers(required)) open.push_back(&group);
  }
  return open;
}

std::optional<ReadyQueue::Spot> ReadyQueue::best_of(const std::vector<Group*>& open) {
  std::optional<Spot> best;
  for (Group* group : open) {
    const auto level = group->levels.begin();
    if (level == group->levels.end()) continue;
    const auto is_better = [&] {
      if (level->first != best->level->first) return level->first > best->level->first;
      return *level->second.begin() < *best->level->second.begin();
    };
    if (!best || is_better()) best = Spot{group, level};
  }
  return best;
}

std::optional<ReadyQueue::Spot> ReadyQueue::oldest_of(const std::vector<Group*>& open) {
  std::optional<Spot> oldest;
  for (Group* group : open)
    for (auto level = group->levels.begin(); level != group->levels.end(); ++level)
      if (!oldest || *level->second.begin() < *oldest->level->second.begin())
        oldest = Spot{group, level};
  return oldest;
}

ExecutionId ReadyQueue::take_head(const Spot& spot) {
  auto& ages = spot.level->second;
  const ExecutionId id = ages.begin()->second;
  ages.erase(ages.begin());
  if (ages.empty()) spot.group->levels.erase(spot.level);
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
  const auto group = queue->second.find(ready.required);
  if (group == queue->second.end()) return false;
  const auto level = group->second.levels.find(ready.priority);
  return level != group->second.levels.end() && level->second.contains({ready.queued_at, ready.id});
}

std::size_t ReadyQueue::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

}  // namespace ff::store
