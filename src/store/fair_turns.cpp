#include "store/fair_turns.hpp"

#include <flowfabric/limits.hpp>

#include <algorithm>

#include "base/assert.hpp"

namespace ff::store {
namespace {

// Of a start by a key of weight 1. Divisible by most weights, and large beside the others.
constexpr FairTurns::Tag unit = 5'040'000;
// How many starts of weight 1 a key may catch up.
constexpr FairTurns::Tag credit_max = 8 * unit;
// Keys that are remembered without work: the one that is least ahead is forgotten first.
constexpr std::size_t ahead_max = 10'000;

}  // namespace

FairTurns::Turn& FairTurns::hold(const Key& key) {
  auto& turn = turns_.try_emplace(key, Turn{.tag = clock_}).first->second;
  if (turn.users++ > 0) return turn;
  ++held_;
  ahead_.erase({turn.tag, key});
  turn.tag = std::max(turn.tag, clock_);
  return turn;
}

void FairTurns::let_go(const Key& key) {
  const auto turn = turns_.find(key);
  FF_ASSERT(turn != turns_.end());
  FF_ASSERT(turn->second.users > 0);
  if (--turn->second.users > 0) return;
  --held_;
  if (turn->second.tag > clock_)
    ahead_.emplace(turn->second.tag, key);
  else
    turns_.erase(turn);
  if (ahead_.size() > ahead_max) {
    turns_.erase(ahead_.begin()->second);
    ahead_.erase(ahead_.begin());
  }
}

FairTurns::Tag FairTurns::charge(Turn& turn, std::uint32_t weight, bool in_turn) {
  if (in_turn) {
    clock_ = std::max(clock_, turn.tag);
    forget_past();
  }
  const Tag price = unit / std::clamp(weight, 1u, limits::fairness_weight_max);
  turn.tag = std::max(turn.tag, clock_ - std::min(clock_, credit_max)) + price;
  return price;
}

void FairTurns::give_back(const Key& key, Tag price) {
  const auto turn = turns_.find(key);
  if (turn == turns_.end()) return;
  auto& tag = turn->second.tag;
  const bool is_ahead = ahead_.erase({tag, key}) > 0;
  tag -= std::min(tag, price);
  if (is_ahead) ahead_.emplace(tag, key);
}

void FairTurns::forget_past() {
  while (!ahead_.empty() && ahead_.begin()->first <= clock_) {
    turns_.erase(ahead_.begin()->second);
    ahead_.erase(ahead_.begin());
  }
}

}  // namespace ff::store
