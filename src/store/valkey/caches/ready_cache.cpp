#include "store/valkey/caches/ready_cache.hpp"

#include <algorithm>

#include "store/valkey/calls/answers.hpp"
#include "store/valkey/keys.hpp"

namespace ff::valkey_store {

ReadyCache::GroupKey ReadyCache::key_of(const IndexedReady& ready) {
  return {.index = ready.index, .kind = {.ns = ready.ready.ns, .needs = ready.ready.needs}};
}

// ---- What changes ---------------------------------------------------------------------------------

bool ReadyCache::is_outdated(const ExecutionId& id, std::optional<Version> version) const {
  const auto known = known_.find(id);
  return version && known != known_.end() && known->second.version > *version;
}

Version ReadyCache::version_of(const ExecutionId& id) const {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(id);
  return known == known_.end() ? 0 : known->second.version;
}

void ReadyCache::forget(const std::set<PartitionIndex>& partitions) {
  const std::lock_guard lock(mutex_);
  const auto is_of = [&](const GroupKey& key) { return partitions.contains(key.index.partition); };
  std::erase_if(known_, [&](const auto& each) {
    const auto& ready = each.second.indexed.ready;
    if (!partitions.contains(each.first.partition())) return false;
    queue_.remove(ready);
    return true;
  });
  std::erase_if(groups_, [&](const auto& each) { return is_of(each.first); });
  std::erase_if(dry_, is_of);
  std::erase_if(foreign_,
                [&](const auto& each) { return partitions.contains(each.first.partition); });
}

void ReadyCache::forget_versions() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, known] : known_) known.version = 0;
  foreign_.clear();
}

void ReadyCache::put(const IndexedReady& ready, std::optional<Version> version) {
  const std::lock_guard lock(mutex_);
  if (is_outdated(ready.ready.id, version)) return;
  if (looks_ > 0) heard_meanwhile_.insert(ready.ready.id);
  // One that stands behind others is found when those are gone. But a look that is under way may have
  // passed its place before it came.
  if (looks_ == 0 && is_beyond(ready))
    forget(ready.ready.id);
  else
    remember(ready, version.value_or(0));
}

void ReadyCache::erase(const ExecutionId& id, std::optional<Version> version) {
  const std::lock_guard lock(mutex_);
  if (is_outdated(id, version)) return;
  if (looks_ > 0) heard_meanwhile_.insert(id);
  forget(id);
}

void ReadyCache::remember(const IndexedReady& ready, Version version) {
  const auto& id = ready.ready.id;
  forget(id);
  const auto key = key_of(ready);
  auto& group = groups_[key];
  known_.insert_or_assign(id, Known{ready, version});
  queue_.add(ready.ready);
  group.offered.emplace(ready.score, id);
  if (group.offered.size() > group_max_) shorten(group);
  settle(key, group);
}

bool ReadyCache::is_beyond(const IndexedReady& ready) const {
  const auto group = groups_.find(key_of(ready));
  return group != groups_.end() && group->second.more &&
         IndexEntry{ready.score, ready.ready.id} > group->second.frontier;
}

void ReadyCache::shorten(Group& group) {
  const auto worst = std::prev(group.offered.end());
  const auto before = *std::prev(worst);
  group.frontier = group.more ? std::min(group.frontier, before) : before;
  group.more = true;
  const auto known = known_.find(worst->second);
  queue_.remove(known->second.indexed.ready);
  known_.erase(known);
  group.offered.erase(worst);
}

void ReadyCache::forget(const ExecutionId& id) {
  const auto known = known_.find(id);
  if (known == known_.end()) return;
  queue_.remove(known->second.indexed.ready);
  const auto group = groups_.find(key_of(known->second.indexed));
  if (group != groups_.end()) {
    group->second.offered.erase({known->second.indexed.score, id});
    settle(key_of(known->second.indexed), group->second);
  }
  known_.erase(known);
}

// Keeps `dry_` and `groups_` as they should be after a change of the group, which may end it.
void ReadyCache::settle(const GroupKey& key, const Group& group) {
  if (!group.offered.empty()) {
    if (!dry_.empty()) dry_.erase(key);
  } else if (group.more) {
    dry_.insert(key);
  } else {
    dry_.erase(key);
    groups_.erase(key);
  }
}

// ---- Claims ---------------------------------------------------------------------------------------

std::vector<store::Candidate> ReadyCache::take(const store::TakeReady& query) {
  const std::lock_guard lock(mutex_);
  auto taken = queue_.take(query);
  for (const auto& [id, needs] : taken) {
    const auto& known = known_.at(id).indexed;
    const auto group = groups_.find(key_of(known));
    if (group == groups_.end()) continue;
    group->second.offered.erase({known.score, id});
    settle(key_of(known), group->second);
  }
  return taken;
}

std::vector<store::ReadyGroup> ReadyCache::peek(const store::PeekReady& query) const {
  const std::lock_guard lock(mutex_);
  auto groups = queue_.peek(query);
  std::set<std::tuple<Namespace, LaneId, core::Needs>> shown;
  for (const auto& each : groups) shown.emplace(each.ns, each.lane, each.needs);
  // A claim that is woken for a group of which nothing is known looks for it.
  for (const auto& key : dry_) {
    const auto queue = parse_queue(key.index.queue);
    if (!queue || !query.concerns(key.kind.needs)) continue;
    if (!shown.emplace(key.kind.ns, queue->second, key.kind.needs).second) continue;
    groups.push_back({.ns = key.kind.ns,
                      .lane = queue->second,
                      .needs = key.kind.needs,
                      .best = {groups_.at(key).frontier.second}});
  }
  return groups;
}

void ReadyCache::put_back(const ExecutionId& id) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(id);
  if (known == known_.end()) return;
  queue_.add(known->second.indexed.ready);
  const auto key = key_of(known->second.indexed);
  auto& group = groups_[key];
  group.offered.emplace(known->second.indexed.score, id);
  settle(key, group);
}

std::vector<ReadyCache::Gap> ReadyCache::gaps(const store::TakeReady& query) const {
  const std::lock_guard lock(mutex_);
  if (dry_.empty() && (query.ns == default_namespace() || foreign_.empty())) return {};
  std::map<IndexName, IndexEntry> behind;
  const auto add = [&](const IndexName& index, const IndexEntry& frontier) {
    const auto [at, first] = behind.try_emplace(index, frontier);
    if (!first) at->second = std::min(at->second, frontier);
  };
  const auto add_queue = [&](const std::string& queue) {
    for (auto key = dry_.lower_bound(GroupKey{.index = {.queue = queue}, .kind = {}});
         key != dry_.end() && key->index.queue == queue; ++key) {
      if (key->kind.ns != query.ns || !query.capabilities.covers(key->kind.needs.capabilities) ||
          query.closed.holds_back(key->kind.needs))
        continue;
      add(key->index, groups_.at(*key).frontier);
    }
  };
  const auto add_foreign = [&](const std::string& queue) {
    for (auto each = foreign_.lower_bound(IndexName{.queue = queue});
         each != foreign_.end() && each->first.queue == queue; ++each)
      if (each->second) add(each->first, *each->second);
  };
  for (const auto& lane : query.lanes) {
    add_queue(keys::queue(query.ns, lane));
    // Programs of the contract put executions of all namespaces there.
    if (query.ns == default_namespace()) continue;
    add_queue(lane.str());
    add_foreign(lane.str());
  }
  std::vector<Gap> found;
  for (auto& [index, after] : behind) found.push_back({.index = index, .after = after});
  return found;
}

// ---- Looks ----------------------------------------------------------------------------------------

ReadyCache::Look::Look(ReadyCache& cache) : cache_(cache) {
  const std::lock_guard lock(cache_.mutex_);
  ++cache_.looks_;
}

ReadyCache::Look::~Look() {
  const std::lock_guard lock(cache_.mutex_);
  if (--cache_.looks_ == 0) cache_.heard_meanwhile_.clear();
}

std::vector<store::Ready> ReadyCache::Look::take_in(const IndexLook& look) {
  const std::lock_guard lock(cache_.mutex_);
  // First how far the look reached, then what it found: nothing beyond that is kept.
  cache_.note_extent(look);
  std::vector<store::Ready> news;
  for (const auto& each : look.found) {
    const auto& id = each.ready.id;
    if (cache_.heard_meanwhile_.contains(id) || cache_.is_beyond(each)) continue;
    const auto known = cache_.known_.find(id);
    if (known != cache_.known_.end() && known->second.indexed == each) continue;
    cache_.remember(each);
    news.push_back(each.ready);
  }
  return news;
}

// The groups whose extent a look can change. From the start these are all of the index; from further on
// those that have nothing left and reach to where the look began, and those that it is the first to see
// without seeing all of them.
std::set<ReadyCache::GroupKey> ReadyCache::concerned(const IndexLook& look) const {
  std::set<GroupKey> keys;
  for (auto each = groups_.lower_bound(GroupKey{.index = look.index, .kind = {}});
       each != groups_.end() && each->first.index == look.index; ++each) {
    const auto& group = each->second;
    if (!look.after || (group.more && group.offered.empty() && group.frontier >= *look.after))
      keys.insert(each->first);
  }
  if (look.after) {
    for (const auto& [kind, last] : look.cut)
      if (!groups_.contains({look.index, kind})) keys.insert({look.index, kind});
    return keys;
  }
  for (const auto& each : look.found) keys.insert(key_of(each));
  if (look.totals)
    for (const auto& [kind, total] : *look.totals) keys.insert({look.index, kind});
  else if (const auto queue = parse_queue(look.index.queue))
    keys.insert(
        {look.index, {.ns = queue->first, .needs = {}}});  // for kinds that it did not come to
  return keys;
}

// A look from the start, or from where the last one stopped, comes further.
void ReadyCache::note_foreign(const IndexLook& look) {
  if (look.index.queue.find(keys::queue_separator) != std::string::npos) return;
  auto known = foreign_.find(look.index);
  if (known == foreign_.end() && !look.after) foreign_.emplace(look.index, look.stopped_at);
  if (known == foreign_.end() || !known->second) return;
  if (look.after && *look.after > *known->second) return;
  if (!look.stopped_at || *look.stopped_at > *known->second) known->second = look.stopped_at;
}

void ReadyCache::note_extent(const IndexLook& look) {
  note_foreign(look);
  std::map<IndexLook::Kind, std::uint64_t> found;
  for (const auto& each : look.found) ++found[key_of(each).kind];
  const auto queue = parse_queue(look.index.queue);
  const auto has_more_than_found = [&](const IndexLook::Kind& kind) {
    if (!look.totals || !queue || kind.ns != queue->first) return true;
    const auto total = look.totals->find(kind);
    return total != look.totals->end() && total->second > found[kind];
  };
  for (const auto& key : concerned(look)) {
    auto& group = groups_[key];
    const auto cut = look.cut.find(key.kind);
    const auto stop = cut != look.cut.end() ? std::optional(cut->second) : look.stopped_at;
    group.more = stop && has_more_than_found(key.kind);
    if (group.more) group.frontier = *stop;
    settle(key, group);
  }
}

}  // namespace ff::valkey_store
