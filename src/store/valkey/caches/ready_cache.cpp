#include "store/valkey/caches/ready_cache.hpp"

#include <algorithm>

#include "store/valkey/calls/answers.hpp"
#include "store/valkey/keys.hpp"

namespace ff::valkey_store {

ReadyCache::GroupKey ReadyCache::key_of(const IndexedReady& ready) {
  const auto& of = ready.ready;
  return {.index = ready.index, .traits = {.ns = of.ns, .needs = of.needs, .kind = of.kind}};
}

ReadyCache::UnseenKey ReadyCache::unseen_key(const GroupKey& key) {
  return {.index = key.index, .ns = key.traits.ns, .needs = key.traits.needs};
}

// A group that was not known may have others where nobody looked yet.
ReadyCache::Group& ReadyCache::group_at(const GroupKey& key) {
  const auto [at, is_new] = groups_.try_emplace(key);
  if (is_new && !unseen_.empty())
    if (const auto unseen = unseen_.find(unseen_key(key)); unseen != unseen_.end())
      set_frontier(at->second, unseen->second);
  return at->second;
}

void ReadyCache::set_frontier(Group& group, const std::optional<IndexEntry>& frontier) {
  cut_ += frontier.has_value();
  cut_ -= group.frontier.has_value();
  group.frontier = frontier;
}

std::optional<IndexEntry> ReadyCache::frontier_of(const GroupKey& key) const {
  if (const auto group = groups_.find(key); group != groups_.end()) return group->second.frontier;
  const auto unseen = unseen_.find(unseen_key(key));
  return unseen == unseen_.end() ? std::nullopt : std::optional(unseen->second);
}

// Keeps `hungry_` as it should be after a change of what is known of a key.
template <class Change>
void ReadyCache::count_key(const std::string& queue, const core::Needs& needs, Change change) {
  if (!needs.share) return;
  const auto at = keys_.try_emplace({queue, needs.share->key}).first;
  change(at->second);
  if (at->second.is_hungry())
    hungry_.insert(at->first);
  else
    hungry_.erase(at->first);
  if (at->second.offered == 0 && at->second.unseen == 0) keys_.erase(at);
}

void ReadyCache::note_unseen(const UnseenKey& key, const IndexEntry& behind) {
  if (unseen_.insert_or_assign(key, behind).second)
    count_key(key.index.queue, key.needs, [](KeyCounts& counts) { ++counts.unseen; });
}

ReadyCache::Unseen::iterator ReadyCache::erase_unseen(Unseen::iterator unseen) {
  count_key(unseen->first.index.queue, unseen->first.needs,
            [](KeyCounts& counts) { --counts.unseen; });
  return unseen_.erase(unseen);
}

void ReadyCache::offer(Known& known) {
  queue_of(known).add(known.indexed.ready);
  if (std::exchange(known.is_offered, true)) return;
  count_key(known.indexed.index.queue, known.indexed.ready.needs,
            [](KeyCounts& counts) { ++counts.offered; });
}

// Taken out of the queue, or taken by a claim.
void ReadyCache::withdraw(Known& known) {
  if (!std::exchange(known.is_offered, false)) return;
  count_key(known.indexed.index.queue, known.indexed.ready.needs,
            [](KeyCounts& counts) { --counts.offered; });
}

// ---- Changes -------------------------------------------------------------------------------------

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
  const auto is_of = [&](const auto& key) { return partitions.contains(key.index.partition); };
  for (auto each = known_.begin(); each != known_.end();) {
    if (!partitions.contains(each->first.partition())) {
      ++each;
      continue;
    }
    queue_of(each->second).remove(each->second.indexed.ready);
    withdraw(each->second);
    each = known_.erase(each);
  }
  std::erase_if(groups_, [&](auto& each) {
    if (!is_of(each.first)) return false;
    if (each.second.frontier) --cut_;
    return true;
  });
  std::erase_if(dry_, is_of);
  for (auto each = unseen_.begin(); each != unseen_.end();)
    each = is_of(each->first) ? erase_unseen(each) : std::next(each);
  std::erase_if(looked_at_,
                [&](const auto& each) { return partitions.contains(each.first.partition); });
}

void ReadyCache::forget_versions() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, known] : known_) known.version = 0;
  looked_at_.clear();
}

void ReadyCache::forget_extents() {
  const std::lock_guard lock(mutex_);
  looked_at_.clear();
}

bool ReadyCache::put(const IndexedReady& ready, std::optional<Version> version, bool is_held) {
  const std::lock_guard lock(mutex_);
  if (is_outdated(ready.ready.id, version)) return false;
  if (looks_ > 0) heard_meanwhile_.insert(ready.ready.id);
  // One that stands behind others is found when those are gone. But a look that is under way may have
  // passed its place before it came.
  const bool is_kept = further_looks_ > 0 || !is_beyond(ready);
  if (is_kept)
    remember(ready, version.value_or(0), is_held);
  else
    forget(ready.ready.id);
  return is_kept;
}

void ReadyCache::erase(const ExecutionId& id, std::optional<Version> version) {
  const std::lock_guard lock(mutex_);
  if (is_outdated(id, version)) return;
  if (looks_ > 0) heard_meanwhile_.insert(id);
  forget(id);
}

void ReadyCache::remember(const IndexedReady& ready, Version version, bool is_held) {
  const auto& id = ready.ready.id;
  forget(id);
  const auto key = key_of(ready);
  auto& group = group_at(key);
  auto& known =
      known_
          .insert_or_assign(id, Known{.indexed = ready, .version = version, .share = share_of(id)})
          .first->second;
  if (!is_held) offer(known);
  group.offered.emplace(ready.score, id);
  if (group.offered.size() > group_max_) shorten(group);
  settle(key, group);
}

bool ReadyCache::is_beyond(const IndexedReady& ready) const {
  const auto frontier = frontier_of(key_of(ready));
  return frontier && IndexEntry{ready.score, ready.ready.id} > *frontier;
}

void ReadyCache::shorten(Group& group) {
  const auto worst = std::prev(group.offered.end());
  const auto before = *std::prev(worst);
  set_frontier(group, std::min(group.frontier.value_or(before), before));
  const auto known = known_.find(worst->second);
  queue_of(known->second).remove(known->second.indexed.ready);
  withdraw(known->second);
  known_.erase(known);
  group.offered.erase(worst);
}

void ReadyCache::forget(const ExecutionId& id) {
  const auto known = known_.find(id);
  if (known == known_.end()) return;
  queue_of(known->second).remove(known->second.indexed.ready);
  withdraw(known->second);
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
  } else if (group.frontier) {
    dry_.insert(key);
  } else {
    dry_.erase(key);
    groups_.erase(key);
  }
}

// ---- Shares ---------------------------------------------------------------------------------------

std::size_t ReadyCache::share_of(const ExecutionId& id) const {
  return std::min(division_->rank(id), shares_max - 1);
}

void ReadyCache::divide(std::shared_ptr<const Division> division) {
  const std::lock_guard lock(mutex_);
  division_ = std::move(division);
  random_.seed(static_cast<std::uint32_t>(division_->seed()));
  for (auto& [id, known] : known_) {
    const auto share = share_of(id);
    if (share == known.share) continue;
    const auto& ready = known.indexed.ready;
    queue_of(known).remove(ready);
    known.share = share;
    if (known.is_offered) queue_of(known).add(ready);
  }
}

std::vector<store::Candidate> ReadyCache::take_own(const store::TakeReady& query) {
  constexpr std::uint32_t compare_every = 8;  // claims
  auto taken = queues_.front().take(query);
  if (!taken.empty() && ++takes_ % compare_every == 0) prefer_better(query, taken);
  return taken;
}

// A few at random, and most are left: the process whose share it is takes the best.
std::vector<store::Candidate> ReadyCache::take_of_others(const store::TakeReady& query) {
  constexpr std::size_t left_each = 4;  // of so many one is taken
  constexpr std::size_t left_max = 96;
  auto wide = query;
  wide.max = query.max + std::min((left_each - 1) * query.max, left_max);
  std::vector<store::Candidate> taken;
  for (std::size_t i = 1; i < queues_.size() && taken.empty(); ++i) taken = queues_[i].take(wide);
  std::ranges::shuffle(taken, random_);
  const auto wanted = std::min((taken.size() + left_each - 1) / left_each, query.max);
  for (std::size_t i = wanted; i < taken.size(); ++i) {
    const auto& known = known_.at(taken[i].id);
    queue_of(known).add(known.indexed.ready);
  }
  taken.resize(wanted);
  return taken;
}

// The worst of those taken makes way for the best of each other share, if that is better or much older.
void ReadyCache::prefer_better(const store::TakeReady& query,
                               std::vector<store::Candidate>& taken) {
  constexpr Millis much_older{1'000};
  auto one = query;
  one.max = 1;
  for (std::size_t i = 1; i < queues_.size(); ++i) {
    auto other = queues_[i].take(one);
    if (other.empty()) continue;
    const auto ready_of = [this](const store::Candidate& each) -> const store::Ready& {
      return known_.at(each.id).indexed.ready;
    };
    const auto& worst = ready_of(taken.back());
    const auto& best = ready_of(other.front());
    const bool is_better = best.priority != worst.priority
                               ? best.priority > worst.priority
                               : best.queued_at + much_older < worst.queued_at;
    if (is_better) std::swap(taken.back(), other.front());
    const auto& left = known_.at(other.front().id);
    queues_[left.share].add(left.indexed.ready);
  }
}

// A group is told of once, the members of this process's share first.
std::vector<store::ReadyGroup> ReadyCache::peek_shares(const store::PeekReady& query) const {
  std::vector<store::ReadyGroup> groups;
  std::map<std::tuple<Namespace, LaneId, core::Needs, std::optional<Kind>>, std::size_t> places;
  for (const auto& queue : queues_)
    for (auto& each : queue.peek(query)) {
      const auto [at, is_new] =
          places.try_emplace({each.ns, each.lane, each.needs, each.kind}, groups.size());
      if (is_new) {
        groups.push_back(std::move(each));
        continue;
      }
      auto& best = groups[at->second].best;
      for (const auto& id : each.best)
        if (best.size() < query.members_max) best.push_back(id);
    }
  return groups;
}

// ---- Claims ---------------------------------------------------------------------------------------

std::vector<store::Candidate> ReadyCache::take(const store::TakeReady& query) {
  const std::lock_guard lock(mutex_);
  auto taken = take_own(query);
  if (taken.empty()) taken = take_of_others(query);
  for (const auto& [id, needs] : taken) {
    withdraw(known_.at(id));
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
  auto groups = peek_shares(query);
  std::set<std::tuple<Namespace, LaneId, core::Needs, Kind>> shown;
  std::set<std::tuple<Namespace, LaneId, core::Needs>> shown_needs;
  for (const auto& each : groups) {
    shown.emplace(each.ns, each.lane, each.needs, *each.kind);
    shown_needs.emplace(each.ns, each.lane, each.needs);
  }
  // A claim that is woken for a group of which nothing is known looks for it.
  for (const auto& key : dry_) {
    const auto& [ns, needs, kind] = key.traits;
    const auto queue = parse_queue(key.index.queue);
    if (!queue || !query.concerns(needs)) continue;
    shown_needs.emplace(ns, queue->second, needs);
    if (!shown.emplace(ns, queue->second, needs, kind).second) continue;
    groups.push_back({.ns = ns,
                      .lane = queue->second,
                      .kind = kind,
                      .needs = needs,
                      .best = {groups_.at(key).frontier->second}});
  }
  for (const auto& [key, frontier] : unseen_) {
    const auto queue = parse_queue(key.index.queue);
    if (!queue || !query.concerns(key.needs)) continue;
    if (!shown_needs.emplace(key.ns, queue->second, key.needs).second) continue;
    groups.push_back(
        {.ns = key.ns, .lane = queue->second, .needs = key.needs, .best = {frontier.second}});
  }
  return groups;
}

bool ReadyCache::put_back(const ExecutionId& id) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(id);
  if (known == known_.end()) return false;
  offer(known->second);
  if (known->second.is_apart) return true;
  const auto key = key_of(known->second.indexed);
  auto& group = group_at(key);
  group.offered.emplace(known->second.indexed.score, id);
  settle(key, group);
  return true;
}

std::vector<ReadyCache::Gap> ReadyCache::gaps(const store::TakeReady& query) const {
  const std::lock_guard lock(mutex_);
  const bool is_tenant = query.ns != default_namespace();
  if (dry_.empty() && unseen_.empty() && hungry_.empty() && (!is_tenant || looked_at_.empty()))
    return {};
  std::map<IndexName, IndexEntry> behind;
  const auto add = [&](const IndexName& index, const IndexEntry& frontier) {
    const auto [at, first] = behind.try_emplace(index, frontier);
    if (!first) at->second = std::min(at->second, frontier);
  };
  const auto may_have = [&](const Namespace& ns, const core::Needs& needs) {
    return ns == query.ns && query.capabilities.covers(needs.capabilities);
  };
  const auto add_dry = [&](const std::string& queue) {
    for (auto key = dry_.lower_bound(GroupKey{.index = {.queue = queue}, .traits = {}});
         key != dry_.end() && key->index.queue == queue; ++key) {
      const auto& [ns, needs, kind] = key->traits;
      if (!may_have(ns, needs) || query.closed.holds_back(needs)) continue;
      if (store::takes_kind(query.kinds, kind)) add(key->index, *groups_.at(*key).frontier);
    }
  };
  // A claim that names kinds looks for them even while a budget or quota holds them back: so their opening
  // wakes the right claims.
  const auto add_unseen = [&](const std::string& queue, bool only_hungry) {
    for (auto each =
             unseen_.lower_bound(UnseenKey{.index = {.queue = queue}, .ns = {}, .needs = {}});
         each != unseen_.end() && each->first.index.queue == queue; ++each) {
      const auto& [index, ns, needs] = each->first;
      if (!may_have(ns, needs)) continue;
      if (only_hungry && (!needs.share || !hungry_.contains({queue, needs.share->key}))) continue;
      if (!query.kinds.empty() || !query.closed.holds_back(needs)) add(index, each->second);
    }
  };
  const auto add_foreign = [&](const std::string& queue) {
    for (auto each = looked_at_.lower_bound(IndexName{.queue = queue});
         each != looked_at_.end() && each->first.queue == queue; ++each)
      if (each->second) add(each->first, *each->second);
  };
  // Groups that nobody saw yet stand behind those that are known: they matter when those have nothing, or if it is the turn
  // of their fairness key.
  const auto offers = [&](const store::ReadyQueue& queue) { return queue.offers(query); };
  const bool wants_unseen = !unseen_.empty() && std::ranges::none_of(queues_, offers);
  for (const auto& lane : query.lanes) {
    const auto queue = keys::queue(query.ns, lane);
    add_dry(queue);
    const auto hungry = hungry_.lower_bound({.queue = queue, .key = {}});
    const bool has_hungry = hungry != hungry_.end() && hungry->queue == queue;
    if (wants_unseen || has_hungry) add_unseen(queue, !wants_unseen);
    if (!is_tenant) continue;
    // Programs of the contract put executions of all namespaces there; nobody counts them.
    add_dry(lane.str());
    add_foreign(lane.str());
  }
  std::vector<Gap> found;
  for (auto& [index, after] : behind) found.push_back({.index = index, .after = after});
  return found;
}

std::optional<IndexName> ReadyCache::index_of_oldest(const store::TakeReady& query) {
  const std::lock_guard lock(mutex_);
  if (cut_ == 0 || !queues_.front().oldest_is_due(query)) return std::nullopt;
  std::set<std::string> queues;
  for (const auto& lane : query.lanes) queues.insert(keys::queue(query.ns, lane));
  // All indexes come in turn, those of the queue after the last one first.
  std::optional<IndexName> first;
  for (const auto& queue : queues)
    for (auto each = groups_.lower_bound(GroupKey{.index = {.queue = queue}, .traits = {}});
         each != groups_.end() && each->first.index.queue == queue; ++each) {
      const auto& index = each->first.index;
      if (index.index != ReadyIndex::eligible || !each->second.frontier) continue;
      if (!first) first = index;
      if (!asked_for_oldest_ || index > *asked_for_oldest_) return asked_for_oldest_ = index;
    }
  return asked_for_oldest_ = first;
}

// ---- Looks ----------------------------------------------------------------------------------------

ReadyCache::Look::Look(ReadyCache& cache, bool comes_further)
    : cache_(cache), comes_further_(comes_further) {
  const std::lock_guard lock(cache_.mutex_);
  ++cache_.looks_;
  if (comes_further_) ++cache_.further_looks_;
}

ReadyCache::Look::~Look() {
  const std::lock_guard lock(cache_.mutex_);
  if (comes_further_) --cache_.further_looks_;
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

void ReadyCache::Look::take_in_oldest(const IndexLook& look) {
  const std::lock_guard lock(cache_.mutex_);
  for (const auto& each : look.found) {
    const auto& id = each.ready.id;
    if (cache_.heard_meanwhile_.contains(id) || cache_.known_.contains(id)) continue;
    if (!cache_.is_beyond(each)) continue;  // one that is not known there is being claimed
    auto& known =
        cache_.known_
            .emplace(id, Known{.indexed = each, .share = cache_.share_of(id), .is_apart = true})
            .first->second;
    cache_.offer(known);
  }
}

// The groups whose extent a look can change. From the start these are all of the index; from further on
// those that have nothing left and reach to where the look began, and those that it is the first to see, if
// none of them can stand before it.
std::set<ReadyCache::GroupKey> ReadyCache::concerned(const IndexLook& look) const {
  std::set<GroupKey> keys;
  for (auto each = groups_.lower_bound(GroupKey{.index = look.index, .traits = {}});
       each != groups_.end() && each->first.index == look.index; ++each) {
    const auto& [offered, frontier] = each->second;
    if (!look.after || (frontier && offered.empty() && *frontier >= *look.after))
      keys.insert(each->first);
  }
  for (const auto& each : look.found) {
    auto key = key_of(each);
    if (look.after && groups_.contains(key)) continue;
    const auto unseen = unseen_.find(unseen_key(key));
    const bool is_first = unseen != unseen_.end() ? !look.after || unseen->second >= *look.after
                                                  : look.cut.contains(key.traits);
    if (!look.after || is_first) keys.insert(std::move(key));
  }
  return keys;
}

// Whether an earlier look came further than this one, which began at the start.
bool ReadyCache::came_further(const IndexLook& look) const {
  const auto known = looked_at_.find(look.index);
  return !look.after && look.stopped_at && known != looked_at_.end() &&
         (!known->second || *known->second > *look.stopped_at);
}

// A look from the start, or from where the last one stopped, comes further.
void ReadyCache::note_progress(const IndexLook& look) {
  auto known = looked_at_.find(look.index);
  if (known == looked_at_.end() && !look.after) looked_at_.emplace(look.index, look.stopped_at);
  if (known == looked_at_.end() || !known->second) return;
  if (look.after && *look.after > *known->second) return;
  if (!look.stopped_at || *look.stopped_at > *known->second) known->second = look.stopped_at;
}

void ReadyCache::note_extent(const IndexLook& look) {
  const auto queue = parse_queue(look.index.queue);
  std::map<core::Needs, std::uint64_t> found;
  for (const auto& each : look.found)
    if (queue && each.ready.ns == queue->first) ++found[each.ready.needs];
  const auto has_more_than_found = [&](const Namespace& ns, const core::Needs& needs) {
    if (!look.totals || !queue || ns != queue->first) return true;
    const auto total = look.totals->find(needs);
    return total != look.totals->end() && total->second > found[needs];
  };
  const bool says_little = came_further(look);
  for (const auto& key : concerned(look)) {
    const auto cut = look.cut.find(key.traits);
    const bool is_cut = cut != look.cut.end();
    if (says_little && !is_cut) continue;
    auto& group = group_at(key);
    auto stop = is_cut ? std::optional(cut->second) : look.stopped_at;
    if (stop && !has_more_than_found(key.traits.ns, key.traits.needs)) stop.reset();
    if (stop && look.after && !is_cut) stop = std::max(stop, group.frontier);
    set_frontier(group, stop);
    settle(key, group);
  }
  if (!says_little) note_unseen(look, has_more_than_found);
  note_progress(look);
}

// From the start a look tells of all needs; from further on, how far the groups are known that have not
// been seen.
void ReadyCache::note_unseen(
    const IndexLook& look,
    const std::function<bool(const Namespace&, const core::Needs&)>& has_more) {
  auto each = unseen_.lower_bound(UnseenKey{.index = look.index, .ns = {}, .needs = {}});
  while (each != unseen_.end() && each->first.index == look.index) {
    if (look.after && each->second < *look.after) {
      ++each;
    } else if (look.after && look.stopped_at && has_more(each->first.ns, each->first.needs)) {
      each->second = std::max(each->second, *look.stopped_at);
      ++each;
    } else {
      each = erase_unseen(each);
    }
  }
  const auto queue = parse_queue(look.index.queue);
  if (look.after || !look.stopped_at || !queue) return;
  const auto add = [&](const core::Needs& needs) {
    if (has_more(queue->first, needs))
      note_unseen({.index = look.index, .ns = queue->first, .needs = needs}, *look.stopped_at);
  };
  if (!look.totals) return add({});  // for all that it did not come to
  for (const auto& [needs, total] : *look.totals) add(needs);
}

}  // namespace ff::valkey_store
