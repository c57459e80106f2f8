#include "engine/events/work_waiters.hpp"

#include <algorithm>
#include <utility>

namespace ff {

WorkWaiters::Waiter::Waiter(WorkWaiters& list, const Claim& claim, Wakeup& wakeup)
    : list_(list), claim_(claim), wakeup_(wakeup) {
  const std::lock_guard lock(list_.mutex_);
  ++list_.size_;
  number_ = ++list_.last_number_;
  const auto enter = [&](Queue queue) {
    auto& places = list_.places_[queue];
    const auto position = places.insert(places.end(), this);
    entries_.push_back({.queue = std::move(queue), .position = position});
  };
  for (const auto& lane : claim.lanes) {
    if (claim.kinds.empty()) enter({claim.ns, lane, std::nullopt});
    for (const auto& kind : claim.kinds) enter({claim.ns, lane, kind});
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

WorkWaiters::Waiter* WorkWaiters::first_free(const Waiter::Queue& queue, const Offer& offer,
                                             const std::optional<WorkerId>& worker) const {
  const auto places = places_.find(queue);
  if (places == places_.end()) return nullptr;
  const auto is_free = [&](const Waiter* place) {
    return !place->offer_ && (!worker || place->claim_.worker == *worker) &&
           place->claim_.capabilities.covers(offer.required);
  };
  const auto found = std::ranges::find_if(places->second, is_free);
  return found == places->second.end() ? nullptr : *found;
}

// Claims that name other kinds cost nothing here: this runs for every execution that becomes ready.
WorkWaiters::Waiter* WorkWaiters::choose(const Offer& offer,
                                         const std::optional<WorkerId>& worker) const {
  auto* any_kind = first_free({offer.ns, offer.lane, std::nullopt}, offer, worker);
  auto* named = first_free({offer.ns, offer.lane, offer.kind}, offer, worker);
  if (!any_kind || (named && named->number_ < any_kind->number_)) return named;
  return any_kind;
}

bool WorkWaiters::offer(const Offer& offer) {
  const std::lock_guard lock(mutex_);
  if (!offer.kind) return offer_to_all(offer);
  auto* chosen = offer.preferred ? choose(offer, offer.preferred) : nullptr;
  if (!chosen) chosen = choose(offer);
  if (!chosen) return false;
  chosen->offer_ = offer;
  chosen->wakeup_.wake();
  return true;
}

template <class Visit>
void WorkWaiters::each_of(const Namespace& ns, const LaneId& lane, Visit visit) {
  const auto is_of_lane = [&](const Waiter::Queue& queue) {
    return std::get<Namespace>(queue) == ns && std::get<LaneId>(queue) == lane;
  };
  for (auto places = places_.lower_bound({ns, lane, std::nullopt});
       places != places_.end() && is_of_lane(places->first); ++places)
    for (Waiter* place : places->second) visit(*place);
}

bool WorkWaiters::offer_to_all(const Offer& offer) {
  bool taken = false;
  each_of(offer.ns, offer.lane, [&](Waiter& place) {
    if (place.offer_ || !place.claim_.capabilities.covers(offer.required)) return;
    place.offer_ = offer;
    place.wakeup_.wake();
    taken = true;
  });
  return taken;
}

void WorkWaiters::look_again(const Namespace& ns, const LaneId& lane) {
  const std::lock_guard lock(mutex_);
  each_of(ns, lane, [](Waiter& place) { place.wakeup_.wake(); });
}

}  // namespace ff
