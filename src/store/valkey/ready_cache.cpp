#include "store/valkey/ready_cache.hpp"

#include "core/execution.hpp"

namespace ff::valkey {

std::int64_t ReadyCache::score_of(const store::Ready& ready) {
  return core::ready_score(ready.priority, ready.queued_at);
}

ReadyCache::ShareKey ReadyCache::share_of(const store::Ready& ready) {
  return {ready.ns, ready.lane, ready.id.partition()};
}

void ReadyCache::put(const store::Ready& ready) {
  const std::lock_guard lock(mutex_);
  if (looks_ > 0) heard_meanwhile_.insert(ready.id);
  remember(ready);
}

ReadyCache::Look::Look(ReadyCache& cache) : cache_(cache) {
  const std::lock_guard lock(cache_.mutex_);
  ++cache_.looks_;
}

ReadyCache::Look::~Look() {
  const std::lock_guard lock(cache_.mutex_);
  if (--cache_.looks_ == 0) cache_.heard_meanwhile_.clear();
}

bool ReadyCache::Look::put(const store::Ready& ready) {
  const std::lock_guard lock(cache_.mutex_);
  if (cache_.heard_meanwhile_.contains(ready.id)) return false;
  const auto known = cache_.known_.find(ready.id);
  if (known != cache_.known_.end() && known->second == ready) return false;
  cache_.remember(ready);
  return true;
}

void ReadyCache::remember(const store::Ready& ready) {
  forget(ready.id);
  auto& share = shares_[share_of(ready)];
  const auto score = score_of(ready);
  if (share.more && score > share.worst) return;  // it is found when those before it are gone
  known_.insert_or_assign(ready.id, ready);
  queue_.add(ready);
  share.places.emplace(score, ready.id);
  if (share.places.size() > share_max_) shorten(share);
}

void ReadyCache::shorten(Share& share) {
  const auto last = std::prev(share.places.end());
  const auto id = last->second;
  share.more = true;
  forget(id);
  share.worst = share.places.rbegin()->first;
}

void ReadyCache::erase(const ExecutionId& id) {
  const std::lock_guard lock(mutex_);
  if (looks_ > 0) heard_meanwhile_.insert(id);
  forget(id);
}

void ReadyCache::forget(const ExecutionId& id) {
  const auto known = known_.find(id);
  if (known == known_.end()) return;
  queue_.remove(known->second);
  const auto share = shares_.find(share_of(known->second));
  if (share != shares_.end()) {
    share->second.places.erase({score_of(known->second), id});
    if (share->second.places.empty() && !share->second.more) shares_.erase(share);
  }
  known_.erase(known);
}

std::vector<store::Candidate> ReadyCache::take(const store::TakeReady& query) {
  const std::lock_guard lock(mutex_);
  auto taken = queue_.take(query);
  for (const auto& [id, needs] : taken) {
    const auto& ready = known_.at(id);
    const auto share = shares_.find(share_of(ready));
    if (share != shares_.end()) share->second.places.erase({score_of(ready), id});
  }
  return taken;
}

void ReadyCache::put_back(const ExecutionId& id) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(id);
  if (known == known_.end()) return;
  queue_.add(known->second);
  shares_[share_of(known->second)].places.emplace(score_of(known->second), id);
}

std::vector<ReadyCache::Dry> ReadyCache::dry(const store::TakeReady& query) {
  constexpr std::size_t ask_for_max = 8'192;
  const std::lock_guard lock(mutex_);
  std::vector<Dry> found;
  for (const auto& lane : query.lanes)
    for (auto share = shares_.lower_bound({query.ns, lane, 0});
         share != shares_.end() && std::get<0>(share->first) == query.ns &&
         std::get<1>(share->first) == lane;
         ++share) {
      auto& [places, more, worst, asked_for] = share->second;
      if (!more) continue;
      const bool has_some = std::ranges::any_of(places, [&](const Place& place) {
        const auto& needs = known_.at(place.second).needs;
        return query.capabilities.covers(needs.capabilities) && !query.closed.holds_back(needs);
      });
      if (has_some) continue;
      asked_for = places.empty() ? ask_for_min : std::min(asked_for * 4, ask_for_max);
      found.push_back({.partition = std::get<2>(share->first), .ask_for = asked_for});
    }
  return found;
}

void ReadyCache::note_more(PartitionIndex partition, const Namespace& ns, const LaneId& lane,
                           std::int64_t worst_score) {
  const std::lock_guard lock(mutex_);
  auto& share = shares_[{ns, lane, partition}];
  share.more = true;
  share.worst = worst_score;
}

void ReadyCache::note_all(PartitionIndex partition, const Namespace& ns, const LaneId& lane) {
  const std::lock_guard lock(mutex_);
  const auto share = shares_.find({ns, lane, partition});
  if (share == shares_.end()) return;
  share->second.more = false;
  if (share->second.places.empty()) shares_.erase(share);
}

}  // namespace ff::valkey
