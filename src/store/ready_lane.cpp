#include "store/ready_lane.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace ff::store {
namespace {

std::vector<ReadyLane::Resource> resources_of(const core::Needs& needs) {
  std::vector<ReadyLane::Resource> resources(needs.budgets.begin(), needs.budgets.end());
  if (needs.quota) resources.emplace_back(*needs.quota);
  return resources;
}

bool is_closed(const Closed& closed, const ReadyLane::Resource& what) {
  if (const auto* budget = std::get_if<BudgetId>(&what)) return closed.budgets.contains(*budget);
  return closed.quotas.contains(std::get<QuotaId>(what));
}

// What holds it back, if anything does.
std::optional<ReadyLane::Resource> obstacle_of(const core::Needs& needs, const Closed& closed) {
  if (closed.size() == 0) return std::nullopt;
  if (needs.quota && closed.quotas.contains(*needs.quota)) return *needs.quota;
  for (const auto& budget : needs.budgets)
    if (closed.budgets.contains(budget)) return budget;
  return std::nullopt;
}

}  // namespace

FairTurns::Key ReadyLane::Group::share() const {
  const auto& share = key->needs.share;
  return share ? FairTurns::Key(share->key) : std::nullopt;
}

// ---- Members -------------------------------------------------------------------------------------

ReadyLane::Group& ReadyLane::group_of(const Ready& ready) {
  const auto [at, is_new] = groups_.try_emplace(GroupKey{ready.kind, ready.needs});
  auto& [key, group] = *at;
  if (!is_new) return group;
  group.key = &key;
  for (const auto& what : resources_of(key.needs)) needing_[what].insert(&key);
  return group;
}

void ReadyLane::erase(Groups::iterator group) {
  const auto erase_from = [](auto& sets, const Resource& what, auto* each) {
    const auto set = sets.find(what);
    FF_ASSERT(set != sets.end());
    set->second.erase(each);
    if (set->second.empty()) sets.erase(set);
  };
  for (const auto& what : resources_of(group->first.needs))
    erase_from(needing_, what, &group->first);
  if (group->second.put_aside) erase_from(aside_, *group->second.put_aside, &group->second);
  groups_.erase(group);
}

bool ReadyLane::add(const Ready& ready) {
  auto& group = group_of(ready);
  const Age age{ready.queued_at, ready.id};
  const auto [level, is_new] = group.levels.try_emplace(ready.priority);
  auto& ages = level->second;
  const auto before = ages.empty() ? std::optional<Age>() : *ages.begin();
  if (!ages.insert(age).second) return false;
  if (is_new) turns_[ready.priority].hold(group.share());
  if (before && *before < age) return true;
  if (before) erase_head(group, ready.priority, *before);
  put_head(group, ready.priority, age);
  return true;
}

bool ReadyLane::remove(const Ready& ready) {
  const auto group = groups_.find({ready.kind, ready.needs});
  if (group == groups_.end()) return false;
  const bool was_there = erase_age(group->second, ready.priority, {ready.queued_at, ready.id});
  if (group->second.levels.empty()) erase(group);
  return was_there;
}

bool ReadyLane::has(const Ready& ready) const {
  const auto group = groups_.find({ready.kind, ready.needs});
  if (group == groups_.end()) return false;
  const auto level = group->second.levels.find(ready.priority);
  return level != group->second.levels.end() && level->second.contains({ready.queued_at, ready.id});
}

// Leaves a group without levels to the caller.
bool ReadyLane::erase_age(Group& group, std::int32_t priority, const Age& age) {
  const auto level = group.levels.find(priority);
  if (level == group.levels.end()) return false;
  auto& ages = level->second;
  const bool is_head = !ages.empty() && *ages.begin() == age;
  if (ages.erase(age) == 0) return false;
  if (is_head) erase_head(group, priority, age);
  if (ages.empty()) {
    group.levels.erase(level);
    let_go(priority, group.share());
  } else if (is_head) {
    put_head(group, priority, *ages.begin());
  }
  return true;
}

void ReadyLane::let_go(std::int32_t priority, const FairTurns::Key& key) {
  const auto turns = turns_.find(priority);
  FF_ASSERT(turns != turns_.end());
  turns->second.let_go(key);
  if (turns->second.empty()) turns_.erase(turns);
}

// ---- Orders --------------------------------------------------------------------------------------

void ReadyLane::rank(Level& level, Share& share) {
  level.order.erase({share.rank, &share});
  share.rank = {share.turn->tag, share.heads.begin()->first};
  level.order.emplace(share.rank, &share);
}

void ReadyLane::put_head(Order& order, Group& group, std::int32_t priority, const Age& head) {
  auto& level = order[priority];
  const auto key = group.share();
  const auto [at, is_new] = level.shares.try_emplace(key);
  auto& share = at->second;
  // The group holds the turn, too, so that it outlives the share.
  if (is_new) share.turn = &turns_.at(priority).at(key);
  share.heads.emplace(head, &group);
  level.by_age.emplace(head, &group);
  rank(level, share);
}

void ReadyLane::erase_head(Order& order, Group& group, std::int32_t priority, const Age& head) {
  const auto level = order.find(priority);
  FF_ASSERT(level != order.end());
  const auto at = level->second.shares.find(group.share());
  FF_ASSERT(at != level->second.shares.end());
  auto& share = at->second;
  level->second.by_age.erase({head, &group});
  share.heads.erase({head, &group});
  if (!share.heads.empty()) return rank(level->second, share);
  level->second.order.erase({share.rank, &share});
  level->second.shares.erase(at);
  if (level->second.shares.empty()) order.erase(level);
}

void ReadyLane::put_head(Group& group, std::int32_t priority, const Age& head) {
  if (group.put_aside) return;
  const auto& [kind, needs] = *group.key;
  put_head(of_all_kinds_[needs.capabilities], group, priority, head);
  put_head(of_kind_[kind][needs.capabilities], group, priority, head);
}

void ReadyLane::erase_head(Group& group, std::int32_t priority, const Age& head) {
  if (group.put_aside) return;
  const auto& [kind, needs] = *group.key;
  const auto erase_from = [&](Orders& orders) {
    const auto order = orders.find(needs.capabilities);
    FF_ASSERT(order != orders.end());
    erase_head(order->second, group, priority, head);
    if (order->second.empty()) orders.erase(order);
  };
  erase_from(of_all_kinds_);
  const auto of_kind = of_kind_.find(kind);
  FF_ASSERT(of_kind != of_kind_.end());
  erase_from(of_kind->second);
  if (of_kind->second.empty()) of_kind_.erase(of_kind);
}

void ReadyLane::put_aside(Group& group, const Resource& under) {
  for (const auto& [priority, ages] : group.levels) erase_head(group, priority, *ages.begin());
  group.put_aside = under;
  aside_[under].insert(&group);
}

void ReadyLane::put_back(Group& group) {
  group.put_aside.reset();
  for (const auto& [priority, ages] : group.levels) put_head(group, priority, *ages.begin());
}

void ReadyLane::reopen(const Closed& closed) {
  std::erase_if(aside_, [&](const auto& each) {
    if (is_closed(closed, each.first)) return false;
    for (auto* group : each.second) put_back(*group);
    return true;
  });
}

// ---- Claims --------------------------------------------------------------------------------------

template <class Visit>
void ReadyLane::each_order(const TakeReady& query, Visit visit) {
  const auto visit_all = [&](Orders& orders) {
    for (auto& [capabilities, order] : orders) {
      ++looks_;
      if (query.capabilities.covers(capabilities)) visit(order);
    }
  };
  if (query.kinds.empty()) return visit_all(of_all_kinds_);
  for (const auto& kind : query.kinds)
    if (const auto orders = of_kind_.find(kind); orders != of_kind_.end())
      visit_all(orders->second);
}

// A group that is put aside may take its order with it, so the search begins anew then; a claim meets each group that is
// held back once.
template <class Choose>
std::optional<ReadyLane::Spot> ReadyLane::search(const TakeReady& query, Choose choose) {
  while (true) {
    std::optional<Spot> found;
    std::optional<std::pair<Group*, Resource>> held_back;
    each_order(query, [&](Order& order) {
      if (held_back) return;
      ++looks_;
      const auto [spot, is_better] = choose(order, found);
      if (!is_better) return;
      if (auto obstacle = obstacle_of(spot.group->key->needs, query.closed))
        held_back.emplace(spot.group, std::move(*obstacle));
      else
        found = spot;
    });
    if (!held_back) return found;
    put_aside(*held_back->first, held_back->second);
  }
}

ReadyLane::Age ReadyLane::oldest_at(const TakeReady& query, std::int32_t priority) {
  std::optional<Age> oldest;
  each_order(query, [&](Order& order) {
    const auto level = order.find(priority);
    if (level == order.end()) return;
    const auto& age = level->second.by_age.begin()->first;
    if (!oldest || age < *oldest) oldest = age;
  });
  return *oldest;
}

std::optional<ReadyLane::Spot> ReadyLane::best(const TakeReady& query) {
  const auto better = [&](Order& order, const std::optional<Spot>& than) {
    auto& [priority, level] = *order.begin();
    // Turns move on while other orders are looked at.
    auto* share = level.order.begin()->second;
    while (share->rank.first != share->turn->tag) {
      ++looks_;
      rank(level, *share);
      share = level.order.begin()->second;
    }
    const auto& [age, group] = *share->heads.begin();
    const Spot spot{
        .group = group, .priority = priority, .age = age, .oldest = age, .tag = share->rank.first};
    const bool is_better =
        !than || priority > than->priority ||
        (priority == than->priority && std::pair(spot.tag, age) < std::pair(than->tag, than->age));
    return std::pair(spot, is_better);
  };
  auto found = search(query, better);
  if (found && query.lanes.size() > 1) found->oldest = oldest_at(query, found->priority);
  return found;
}

std::optional<ReadyLane::Spot> ReadyLane::oldest(const TakeReady& query) {
  return search(query, [&](Order& order, const std::optional<Spot>& than) {
    Spot spot;
    for (auto& [priority, level] : order) {
      ++looks_;
      const auto& [age, group] = *level.by_age.begin();
      if (!spot.group || age < spot.age)
        spot = {.group = group, .priority = priority, .age = age, .oldest = age};
    }
    return std::pair(spot, !than || spot.age < than->age);
  });
}

ReadyLane::Taken ReadyLane::take(const Spot& spot, bool in_turn) {
  auto& group = *spot.group;
  Taken taken{.candidate = {.id = spot.age.second, .needs = group.key->needs},
              .priority = spot.priority};
  auto& turns = turns_.at(spot.priority);
  const auto& share = group.key->needs.share;
  taken.price = turns.charge(turns.at(group.share()), share ? share->weight : 1, in_turn);
  erase_age(group, spot.priority, spot.age);
  if (group.levels.empty()) erase(groups_.find(*group.key));
  return taken;
}

void ReadyLane::give_back(const Ready& ready, FairTurns::Tag price) {
  const auto turns = turns_.find(ready.priority);
  const auto group = groups_.find({ready.kind, ready.needs});
  if (turns == turns_.end() || group == groups_.end()) return;
  turns->second.give_back(group->second.share(), price);
  // Its head stands where its turn is; in other orders the key may stand a little late until its next turn there.
  const auto level = group->second.levels.find(ready.priority);
  if (level == group->second.levels.end()) return;
  erase_head(group->second, ready.priority, *level->second.begin());
  put_head(group->second, ready.priority, *level->second.begin());
}

}  // namespace ff::store
