// Budgets or quotas in memory, by id and by namespace.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "store/embedded/resources/turn.hpp"

namespace ff::embedded {

// Not thread-safe. What a turn finds here, or does not find, it has seen.
template <class Thing>
class Shelf {
 public:
  using Id = decltype(Thing::id);
  struct Entry {
    Thing thing;
    BatchNumber durable_in = 0;  // a reply about it waits until that batch is synced

    void changed_by(const Turn& turn) { durable_in = std::max(durable_in, turn.durable_in()); }
  };

  Entry* find(const Id& id, Turn& turn) {
    const auto found = entries_.find(id);
    turn.see(found == entries_.end() ? erased_in_ : found->second.durable_in);
    return found == entries_.end() ? nullptr : &found->second;
  }

  Entry& add(Thing thing, BatchNumber durable_in = 0) {
    const auto id = thing.id;
    in_namespace_[thing.ns].insert(id);
    return entries_.insert_or_assign(id, Entry{std::move(thing), durable_in}).first->second;
  }

  void erase(const Id& id, BatchNumber durable_in) {
    const auto found = entries_.find(id);
    const auto there = in_namespace_.find(found->second.thing.ns);
    there->second.erase(id);
    if (there->second.empty()) in_namespace_.erase(there);
    entries_.erase(found);
    erased_in_ = std::max(erased_in_, durable_in);
  }

  std::size_t count(const Namespace& ns) const {
    const auto there = in_namespace_.find(ns);
    return there == in_namespace_.end() ? 0 : there->second.size();
  }

  // Those of a namespace by id, at most `max`, after `after`.
  std::vector<const Thing*> list(const Namespace& ns, const std::optional<Id>& after,
                                 std::size_t max, Turn& turn) {
    std::vector<const Thing*> found;
    const auto there = in_namespace_.find(ns);
    turn.see(erased_in_);
    if (there == in_namespace_.end()) return found;
    const auto& ids = there->second;
    auto id = after ? ids.upper_bound(*after) : ids.begin();
    for (; id != ids.end() && found.size() < max; ++id) found.push_back(&find(*id, turn)->thing);
    return found;
  }

  // Of all namespaces, likewise.
  std::vector<Id> ids(const std::optional<Id>& after, std::size_t max) const {
    std::vector<Id> found;
    auto entry = after ? entries_.upper_bound(*after) : entries_.begin();
    for (; entry != entries_.end() && found.size() < max; ++entry) found.push_back(entry->first);
    return found;
  }

  std::map<Id, Entry>& entries() { return entries_; }
  const std::map<Id, Entry>& entries() const { return entries_; }

 private:
  std::map<Id, Entry> entries_;
  std::map<Namespace, std::set<Id>> in_namespace_;
  BatchNumber erased_in_ = 0;  // the newest batch that took one away
};

}  // namespace ff::embedded
