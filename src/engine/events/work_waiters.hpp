// Claims that wait for work.
#pragma once

#include <flowfabric/capabilities.hpp>
#include <flowfabric/ids.hpp>
#include <flowfabric/work.hpp>

#include <atomic>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "base/async/wakeup.hpp"

namespace ff {

// An execution that became ready, and what a worker must have to run it.
struct Offer {
  Namespace ns;
  LaneId lane;
  std::optional<Kind> kind = {};  // none: not known yet
  ExecutionId id;
  CapabilitySet required;
  std::optional<WorkerId> preferred = {};  // its claim is woken before others, if it waits
};

// Each offer wakes one claim that takes its kind and can run it: one of the preferred worker, or else the
// longest-waiting one. If it goes away without looking, the next one gets the offer. An offer of unknown kind
// wakes all that may take it, as the first may take other kinds only. Thread-safe.
class WorkWaiters {
 public:
  // A place in the list, for as long as it lives. Take it before looking for work; then nothing that
  // becomes ready in between is missed.
  class Waiter {
   public:
    // The claim must outlive the waiter.
    Waiter(WorkWaiters& list, const Claim& claim, Wakeup& wakeup);
    ~Waiter();
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    // Sleeps until it is woken or the deadline has passed.
    asio::awaitable<void> sleep_until(std::chrono::steady_clock::time_point deadline);

    // The offer that woke it. From here on the holder is responsible for it: it takes it, finds nothing, or
    // offers it to the next one.
    std::optional<Offer> accept();

   private:
    friend class WorkWaiters;
    using Queue = std::tuple<Namespace, LaneId, std::optional<Kind>>;  // no kind: all kinds
    struct Entry {
      Queue queue;
      std::list<Waiter*>::iterator position;
    };

    WorkWaiters& list_;
    const Claim& claim_;
    Wakeup& wakeup_;
    std::uint64_t number_ = 0;  // the lower it is, the longer it waits
    std::vector<Entry> entries_;
    std::optional<Offer> offer_;  // not accepted yet
  };

  // False if no claim that waits can run it, or each of those has another offer.
  bool offer(const Offer& offer);

  // Wakes all claims that wait for work of a lane: there may be much.
  void look_again(const Namespace& ns, const LaneId& lane);

  // Claims under way: those that sleep, and those that are looking for work.
  std::size_t size() const;
  std::size_t asleep() const { return asleep_; }

 private:
  // The longest-waiting claim of a queue that has no offer and can run it; null if there is none. Only of
  // one worker, if one is given.
  Waiter* first_free(const Waiter::Queue& queue, const Offer& offer,
                     const std::optional<WorkerId>& worker = {}) const;
  Waiter* choose(const Offer& offer, const std::optional<WorkerId>& worker = {}) const;
  template <class Visit>
  void each_of(const Namespace& ns, const LaneId& lane, Visit visit);
  bool offer_to_all(const Offer& offer);

  std::atomic<std::size_t> asleep_ = 0;
  mutable std::mutex mutex_;
  std::size_t size_ = 0;
  std::uint64_t last_number_ = 0;
  std::map<Waiter::Queue, std::list<Waiter*>> places_;
};

}  // namespace ff
