#include "engine/starting/claim_turns.hpp"

namespace ff {

ClaimTurns::Turn::Turn(ClaimTurns& turns, const Claim& claim, Wakeup& wakeup)
    : turns_(turns), wakeup_(wakeup) {
  if (!claim.request_id) return;
  const std::lock_guard lock(turns_.mutex_);
  queue_ = turns_.queues_.try_emplace({claim.ns, claim.worker, *claim.request_id}).first;
  auto& places = (*queue_)->second;
  for (Turn* before : places) before->wakeup_.wake();
  position_ = places.insert(places.end(), this);
}

ClaimTurns::Turn::~Turn() {
  if (!queue_) return;
  const std::lock_guard lock(turns_.mutex_);
  auto& places = (*queue_)->second;
  places.erase(position_);
  if (places.empty())
    turns_.queues_.erase(*queue_);
  else
    places.front()->wakeup_.wake();
}

bool ClaimTurns::Turn::has_come() const {
  if (!queue_) return true;
  const std::lock_guard lock(turns_.mutex_);
  return (*queue_)->second.front() == this;
}

bool ClaimTurns::Turn::is_repeated() const {
  if (!queue_) return false;
  const std::lock_guard lock(turns_.mutex_);
  return (*queue_)->second.back() != this;
}

}  // namespace ff
