// The workers there are, as far as this process knows.
#pragma once

#include <map>
#include <mutex>
#include <tuple>

#include "store/store.hpp"

namespace ff {

// The registry is the store's; this remembers for a moment what it said. Thread-safe.
class WorkerCache {
 public:
  explicit WorkerCache(store::Store& store) : store_(store) {}

  struct Standing {
    bool news = false;      // it was not registered before
    bool draining = false;  // it is to get no more work
  };
  // A worker asks for work: that registers it, unless that was done a moment ago.
  Async<Standing> seen(const RegisterWorker& worker);

  // Whether a live worker of the namespace has all that is required. If that cannot be told: yes.
  asio::awaitable<bool> covers(const Namespace& ns, const CapabilitySet& required);

  Async<std::vector<WorkerInfo>> live(const Namespace& ns);

  // A worker claims these kinds; none: all.
  void claims(const Namespace& ns, const WorkerId& worker, const std::vector<Kind>& kinds);
  // Whether it takes a kind, by what it claimed of this process a moment ago. If that cannot be told: yes.
  bool takes(const Namespace& ns, const WorkerId& worker, const Kind& kind);

  // Something about the workers of a namespace was changed by this process.
  void changed(const Namespace& ns);

 private:
  using Worker = std::tuple<Namespace, WorkerId, std::vector<LaneId>, CapabilitySet>;
  struct Seen {
    TimePoint at;
    Millis ttl;
    bool draining = false;
  };
  struct Known {
    TimePoint at;
    std::vector<WorkerInfo> workers;
  };
  struct Claimed {
    TimePoint at;
    std::vector<Kind> kinds;
  };

  store::Store& store_;
  std::mutex mutex_;
  std::map<Worker, Seen> seen_;
  std::map<Namespace, Known> known_;
  std::map<std::pair<Namespace, WorkerId>, Claimed> claimed_;
  // An answer that a change overtook on its way is not remembered.
  std::uint64_t changes_ = 0;
  std::uint64_t registrations_ = 0;
};

}  // namespace ff
