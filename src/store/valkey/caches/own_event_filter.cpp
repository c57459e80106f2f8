#include "store/valkey/caches/own_event_filter.hpp"

#include <chrono>

#include <boost/asio/this_coro.hpp>

#include "store/valkey/calls/fields.hpp"

namespace ff::valkey_store {

std::uint64_t OwnEventFilter::begin() {
  const std::lock_guard lock(mutex_);
  open_.try_emplace(++last_);
  return last_;
}

std::vector<EventMessage> OwnEventFilter::end(std::uint64_t call, Told told) {
  const std::lock_guard lock(mutex_);
  auto heard = std::move(open_.extract(call).mapped());
  if (told == Told::all && heard.empty()) remember_unheard(call);
  if (told == Told::unknown && heard.empty()) remember_untold(call);
  return told == Told::unknown ? heard : std::vector<EventMessage>{};
}

std::vector<EventMessage> OwnEventFilter::hear(std::vector<EventMessage> changes) {
  if (changes.empty()) return changes;
  const auto& origin = changes.front().origin;
  if (!origin.starts_with(prefix_)) {
    // The process that made the change carries them out; programs of the contract, which have no name, do not.
    if (!origin.empty())
      for (auto& each : changes) each.change.effects.clear();
    return changes;
  }
  const auto call = parse_number<std::uint64_t>(origin.substr(prefix_.size()));
  if (!call) return changes;
  const std::lock_guard lock(mutex_);
  if (const auto open = open_.find(*call); open != open_.end()) {
    open->second = std::move(changes);
    return {};
  }
  if (unheard_.erase(*call) > 0) wake_waiters();
  if (untold_.erase(*call) == 0) return {};
  return changes;
}

asio::awaitable<void> OwnEventFilter::catch_up() {
  // A user who may not publish never hears anything; everybody else does at once.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{2};
  Wakeup wakeup(co_await asio::this_coro::executor);
  std::list<Waiter>::iterator place;
  {
    const std::lock_guard lock(mutex_);
    if (has_heard(last_)) co_return;
    place = waiters_.insert(waiters_.end(), {.last = last_, .wakeup = wakeup});
  }
  co_await wakeup.wait_until(deadline);
  const std::lock_guard lock(mutex_);
  unheard_.erase(unheard_.begin(), unheard_.upper_bound(place->last));
  waiters_.erase(place);
}

void OwnEventFilter::note_gap() {
  const std::lock_guard lock(mutex_);
  unheard_.clear();
  wake_waiters();
}

void OwnEventFilter::wake_waiters() {
  for (const auto& [last, wakeup] : waiters_)
    if (has_heard(last)) wakeup.wake();
}

void OwnEventFilter::remember_unheard(std::uint64_t call) {
  unheard_.insert(call);
  if (unheard_.size() > unheard_max) unheard_.erase(unheard_.begin());
}

void OwnEventFilter::remember_untold(std::uint64_t call) {
  untold_.insert(call);
  untold_order_.push_back(call);
  if (untold_order_.size() <= untold_max) return;
  untold_.erase(untold_order_.front());
  untold_order_.pop_front();
}

}  // namespace ff::valkey_store
