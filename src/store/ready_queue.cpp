#include "store/ready_queue.hpp"

#include <algorithm>

#include "base/text/hash.hpp"

namespace ff::store {
namespace {

// Kinds of claims that are counted apart; if there are more, all begin to count anew.
constexpr std::size_t claimers_max = 65'536;

std::uint64_t claimer_of(const TakeReady& query) {
  std::string text = query.ns.str();
  for (const auto& lane : query.lanes) text += '\x1f' + lane.str();
  text += '\x1e' + query.capabilities.csv();
  for (const auto& kind : query.kinds) text += '\x1f' + kind.str();
  return fnv1a(text);
}

bool needs_one_of(const core::Needs& needs,
                  const std::set<std::variant<BudgetId, QuotaId>>& needing) {
  return (needs.quota && needing.contains(*needs.quota)) ||
         std::ranges::any_of(needs.budgets,
                             [&](const BudgetId& id) { return needing.contains(id); });
}

}  // namespace

bool Closed::holds_back(const core::Needs& needs) const {
  return (needs.quota && quotas.contains(*needs.quota)) ||
         std::ranges::any_of(needs.budgets,
                             [this](const BudgetId& id) { return budgets.contains(id); });
}

bool PeekReady::concerns(const core::Needs& needs) const { return needs_one_of(needs, needing); }

void ReadyQueue::add(const Ready& ready) {
  const std::lock_guard lock(mutex_);
  auto& lane = lanes_[{ready.ns, ready.lane}];
  if (lane.add(ready)) ++size_;
  const auto taken = taken_.find(ready.id);
  if (taken == taken_.end()) return;
  lane.give_back(ready, taken->second);
  taken_.erase(taken);
}

void ReadyQueue::remove(const Ready& ready) {
  const std::lock_guard lock(mutex_);
  if (taken_.erase(ready.id) > 0) return;
  const auto lane = lanes_.find({ready.ns, ready.lane});
  if (lane == lanes_.end()) return;
  if (lane->second.remove(ready)) --size_;
  if (lane->second.empty()) lanes_.erase(lane);
}

std::vector<Candidate> ReadyQueue::take(const TakeReady& query) {
  const std::lock_guard lock(mutex_);
  std::vector<Candidate> candidates;
  const auto lanes = lanes_of(query);
  if (lanes.empty()) return candidates;
  for (auto* lane : lanes) lane->reopen(query.closed);
  if (since_oldest_.size() >= claimers_max) since_oldest_.clear();
  auto& since_oldest = since_oldest_[claimer_of(query)];
  while (candidates.size() < query.max) {
    const bool in_turn = since_oldest + 1 < limits::oldest_first_every;
    const auto found = in_turn ? best_of(lanes, query) : oldest_of(lanes, query);
    if (!found) break;
    since_oldest = in_turn ? since_oldest + 1 : 0;
    auto taken = found->lane->take(found->spot, in_turn);
    taken_[taken.candidate.id] = taken.price;
    candidates.push_back(std::move(taken.candidate));
    --size_;
  }
  erase_empty(query);
  return candidates;
}

std::vector<ReadyGroup> ReadyQueue::peek(const PeekReady& query) const {
  const std::lock_guard lock(mutex_);
  // Whose share it is makes no difference to what holds it back.
  std::map<std::tuple<Namespace, LaneId, Kind, core::Needs>, std::vector<ExecutionId>> groups;
  for (const auto& [place, lane] : lanes_)
    lane.each_needing(
        query.needing, query.members_max,
        [&](const Kind& kind, const core::Needs& needs, std::vector<ExecutionId> best) {
          auto& all = groups[{place.first, place.second, kind, core::held_back_by(needs)}];
          for (auto& id : best)
            if (all.size() < query.members_max) all.push_back(std::move(id));
        });
  std::vector<ReadyGroup> told;
  for (auto& [group, best] : groups) {
    const auto& [ns, lane, kind, needs] = group;
    told.push_back({.ns = ns, .lane = lane, .kind = kind, .needs = needs, .best = std::move(best)});
  }
  return told;
}

// Each once, however often the query names it.
std::vector<ReadyLane*> ReadyQueue::lanes_of(const TakeReady& query) const {
  std::vector<ReadyLane*> found;
  for (const auto& name : query.lanes) {
    const auto lane = lanes_.find({query.ns, name});
    if (lane != lanes_.end() && std::ranges::find(found, &lane->second) == found.end())
      found.push_back(&lane->second);
  }
  return found;
}

bool ReadyQueue::offers(const TakeReady& query) const {
  const std::lock_guard lock(mutex_);
  const auto lanes = lanes_of(query);
  for (auto* lane : lanes) lane->reopen(query.closed);
  return best_of(lanes, query).has_value();
}

bool ReadyQueue::oldest_is_due(const TakeReady& query) const {
  const std::lock_guard lock(mutex_);
  const auto since = since_oldest_.find(claimer_of(query));
  const auto taken = since == since_oldest_.end() ? 0 : since->second;
  return taken + query.max >= limits::oldest_first_every;
}

// Turns are taken within a lane: between lanes, those whose work has waited longer come first.
std::optional<ReadyQueue::Found> ReadyQueue::best_of(const std::vector<ReadyLane*>& lanes,
                                                     const TakeReady& query) {
  std::optional<Found> best;
  for (auto* lane : lanes) {
    const auto spot = lane->best(query);
    if (!spot) continue;
    const bool is_better =
        !best || spot->priority > best->spot.priority ||
        (spot->priority == best->spot.priority && spot->oldest < best->spot.oldest);
    if (is_better) best = Found{lane, *spot};
  }
  return best;
}

std::optional<ReadyQueue::Found> ReadyQueue::oldest_of(const std::vector<ReadyLane*>& lanes,
                                                       const TakeReady& query) {
  std::optional<Found> oldest;
  for (auto* lane : lanes)
    if (const auto spot = lane->oldest(query); spot && (!oldest || spot->age < oldest->spot.age))
      oldest = Found{lane, *spot};
  return oldest;
}

void ReadyQueue::erase_empty(const TakeReady& query) {
  for (const auto& name : query.lanes)
    if (const auto lane = lanes_.find({query.ns, name});
        lane != lanes_.end() && lane->second.empty())
      lanes_.erase(lane);
}

bool ReadyQueue::has(const Ready& ready) const {
  const std::lock_guard lock(mutex_);
  if (taken_.contains(ready.id)) return true;
  const auto lane = lanes_.find({ready.ns, ready.lane});
  return lane != lanes_.end() && lane->second.has(ready);
}

std::size_t ReadyQueue::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

std::uint64_t ReadyQueue::looks() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t looks = 0;
  for (const auto& [place, lane] : lanes_) looks += lane.looks();
  return looks;
}

}  // namespace ff::store
