#include "engine/events/work_waiters.hpp"

#include <utility>

#include "store/store.hpp"

namespace ff {

WorkWaiters::Waiter::Waiter(WorkWaiters& list, const Claim& claim, Wakeup& wakeup)
    : list_(list), claim_(claim), wakeup_(wakeup) {
  const std::lock_guard lock(list_.mutex_);
  ++list_.size_;
  for (const auto& lane : claim.lanes) {
    auto& places = list_.places_[{claim.ns, lane}];
    entries_.push_back({.queue = {claim.ns, lane}, .position = places.insert(places.end(), this)});
  }
}

WorkWaiters::Waiter::~Waiter() {
  std::optional<Offer> unused;
  {
    const std::lock_guard lock(list_.mutex_);
    --list_.size_;
    for (const auto& [queue, position] : entries_) {
      const auto places = list_.places_.find(queue);
      places->second.erase(position);
      if (places->second.empty()) list_.places_.erase(places);
    }
    unused = std::move(offer_);
  }
  if (unused) list_.offer(*unused);
}

asio::awaitable<void> WorkWaiters::Waiter::sleep_until(
    std::chrono::steady_clock::time_point deadline) {
  struct Asleep {
    explicit Asleep(std::atomic<std::size_t>& count) : count_(count) { ++count_; }
    ~Asleep() { --count_; }
    std::atomic<std::size_t>& count_;
  };
  const Asleep asleep(list_.asleep_);
  co_await wakeup_.wait_until(deadline);
}

std::optional<Offer> WorkWaiters::Waiter::accept() {
  const std::lock_guard lock(list_.mutex_);
  return std::exchange(offer_, std::nullopt);
}

std::size_t WorkWaiters::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

bool WorkWaiters::offer(const Offer& offer) {
  const std::lock_guard lock(mutex_);
  const auto places = places_.find({offer.ns, offer.lane});
  if (places == places_.end()) return false;
  bool taken = false;
  for (Waiter* place : places->second) {
    const auto& claim = place->claim_;
    if (place->offer_ || !claim.capabilities.covers(offer.required)) continue;
    if (offer.kind && !store::takes_kind(claim.kinds, *offer.kind)) continue;
    place->offer_ = offer;
    place->wakeup_.wake();
    taken = true;
    if (offer.kind) break;
  }
  return taken;
}

}  // namespace ff
