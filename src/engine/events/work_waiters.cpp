#include "engine/events/work_waiters.hpp"

#include <utility>

namespace ff {

WorkWaiters::Waiter::Waiter(WorkWaiters& list, const Namespace& ns,
                            const std::vector<LaneId>& lanes, const CapabilitySet& capabilities,
                            Wakeup& wakeup)
    : list_(list), capabilities_(capabilities), wakeup_(wakeup) {
  const std::lock_guard lock(list_.mutex_);
  ++list_.size_;
  for (const auto& lane : lanes) {
    auto& places = list_.places_[{ns, lane}];
    entries_.push_back({.queue = {ns, lane}, .position = places.insert(places.end(), this)});
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
  for (Waiter* place : places->second) {
    if (place->offer_ || !place->capabilities_.covers(offer.required)) continue;
    place->offer_ = offer;
    place->wakeup_.wake();
    return true;
  }
  return false;
}

}  // namespace ff
