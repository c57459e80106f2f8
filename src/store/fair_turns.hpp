// Whose turn it is among the fairness keys of a lane, at one priority.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "core/execution/needs.hpp"

namespace ff::store {

// Fair queueing by start times. A virtual clock counts starts; each key has a tag on it, the time of its next turn, and the
// lowest tag is next. A start moves the tag of its key by the inverse of its weight, so keys that have work share the starts
// by weight. A key that comes begins at the clock, not at zero: having been away is no credit. A key that could not be
// served (its work is held back) may catch up by a few starts only. Not thread-safe.
class FairTurns {
 public:
  using Tag = std::uint64_t;
  using Key = std::optional<FairnessKey>;  // none: all work without a key

  struct Turn {
    Tag tag = 0;
    std::size_t users = 0;  // that hold it
  };

  // The turn of a key, which stays where it is until it is let go as often.
  Turn& hold(const Key& key);
  void let_go(const Key& key);
  // Of a key that is held.
  Turn& at(const Key& key) { return turns_.at(key); }

  // A start of the key, which is held; the price of it, for a start that did not take place after all.
  Tag charge(Turn& turn, std::uint32_t weight, bool in_turn);
  void give_back(const Key& key, Tag price);

  bool empty() const { return held_ == 0; }
  // Keys that are known, held or not.
  std::size_t size() const { return turns_.size(); }

 private:
  using Turns = std::map<Key, Turn>;
  void forget_past();

  Turns turns_;
  std::size_t held_ = 0;  // keys with users
  // Keys that nobody holds and whose tags are ahead of the clock: if they come back soon, they wait for their turn.
  std::set<std::pair<Tag, Key>> ahead_;
  Tag clock_ = 0;
};

}  // namespace ff::store
