// The executions of one lane that wait for a worker.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <variant>

#include "store/fair_turns.hpp"
#include "store/store.hpp"

namespace ff::store {

// A ready execution, with the attributes by which it is chosen.
struct Ready {
  ExecutionId id;
  Namespace ns;
  LaneId lane;
  Kind kind = {};
  std::int32_t priority = 0;
  TimePoint queued_at;
  core::Needs needs = {};
  bool operator==(const Ready&) const = default;
};

// Executions of one kind with equal needs are a group, and only the head of a group stands in the order, so neither a long
// backlog nor many groups make a claim slower. The order is: priority; then whose turn it is (FairTurns); then age.
//
// There is an order for each set of required capabilities, over all kinds and for each kind, because a worker looks only at
// those that it can run. A group that a budget or a quota holds back is put aside when a claim first meets it, under that
// budget or quota, and stands in no order until a claim finds that open. Not thread-safe.
class ReadyLane {
 private:
  struct Group;

 public:
  // Both may be repeated. True if it was not there, or was there.
  bool add(const Ready& ready);
  bool remove(const Ready& ready);
  bool has(const Ready& ready) const;
  bool empty() const { return groups_.empty(); }

  using Age = std::pair<TimePoint, ExecutionId>;
  // An execution that a claim may take.
  struct Spot {
    Group* group = nullptr;
    std::int32_t priority = 0;
    Age age;
    Age oldest;  // of all of this priority, whoever's turn it is
    FairTurns::Tag tag = 0;
  };
  // The next in order, or the oldest of all; none: the worker can have nothing.
  std::optional<Spot> best(const TakeReady& query);
  std::optional<Spot> oldest(const TakeReady& query);

  // Takes it out; the key pays for it. `in_turn`: it was the best.
  struct Taken {
    Candidate candidate;
    std::int32_t priority = 0;
    FairTurns::Tag price = 0;
  };
  Taken take(const Spot& spot, bool in_turn);
  // It came back without having started.
  void give_back(const Ready& ready, FairTurns::Tag price);

  // What is open in the eyes of this query, and was put aside, stands in the order again.
  void reopen(const Closed& closed);

  using Resource = std::variant<BudgetId, QuotaId>;
  // Visits the groups that need one of these: visit(kind, needs, best), with at most `members_max` of each.
  template <class Visit>
  void each_needing(const std::set<Resource>& needing, std::size_t members_max, Visit visit) const;

  // How many heads of groups and orders claims have looked at.
  std::uint64_t looks() const { return looks_; }

 private:
  struct GroupKey {
    Kind kind;
    core::Needs needs;
    auto operator<=>(const GroupKey&) const = default;
  };
  using Head = std::pair<Age, Group*>;
  struct Share {  // of a fairness key, among those of an order that have the same priority
    FairTurns::Turn* turn = nullptr;
    std::set<Head> heads;
    std::pair<FairTurns::Tag, Age>
        rank;  // under which it stands; may be behind its turn, never ahead of it
  };
  struct Level {  // executions of one priority
    std::map<FairTurns::Key, Share> shares;
    std::set<std::pair<std::pair<FairTurns::Tag, Age>, Share*>> order;
    std::set<Head> by_age;
  };
  using Order = std::map<std::int32_t, Level, std::greater<>>;
  using Orders = std::map<CapabilitySet, Order>;
  struct Group {
    const GroupKey* key = nullptr;
    std::map<std::int32_t, std::set<Age>, std::greater<>> levels = {};
    std::optional<Resource> put_aside = {};  // under which
    FairTurns::Key share() const;
  };
  using Groups = std::map<GroupKey, Group>;

  Group& group_of(const Ready& ready);
  void erase(Groups::iterator group);
  void put_head(Group& group, std::int32_t priority, const Age& head);
  void erase_head(Group& group, std::int32_t priority, const Age& head);
  void put_head(Order& order, Group& group, std::int32_t priority, const Age& head);
  static void erase_head(Order& order, Group& group, std::int32_t priority, const Age& head);
  static void rank(Level& level, Share& share);
  bool erase_age(Group& group, std::int32_t priority, const Age& age);
  void put_aside(Group& group, const Resource& under);
  void put_back(Group& group);
  void let_go(std::int32_t priority, const FairTurns::Key& key);

  // Visits the orders that the query may take from.
  template <class Visit>
  void each_order(const TakeReady& query, Visit visit);
  // The best of an order that `choose` makes of it, of all orders; groups that are held back are put aside on the way.
  template <class Choose>
  std::optional<Spot> search(const TakeReady& query, Choose choose);
  Age oldest_at(const TakeReady& query, std::int32_t priority);

  Groups groups_;
  std::map<Resource, std::set<const GroupKey*>> needing_;
  std::map<std::int32_t, FairTurns> turns_;  // by priority
  Orders of_all_kinds_;
  std::map<Kind, Orders> of_kind_;
  std::map<Resource, std::set<Group*>> aside_;
  std::uint64_t looks_ = 0;
};

template <class Visit>
void ReadyLane::each_needing(const std::set<Resource>& needing, std::size_t members_max,
                             Visit visit) const {
  std::set<const GroupKey*> found;
  for (const auto& what : needing)
    if (const auto groups = needing_.find(what); groups != needing_.end())
      found.insert(groups->second.begin(), groups->second.end());
  for (const auto* key : found) {
    std::vector<ExecutionId> best;
    for (const auto& [priority, ages] : groups_.at(*key).levels)
      for (const auto& [queued_at, id] : ages) {
        if (best.size() == members_max) break;
        best.push_back(id);
      }
    visit(key->kind, key->needs, std::move(best));
  }
}

}  // namespace ff::store
