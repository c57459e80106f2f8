// Claims that are repeated while the call before is still under way.
#pragma once

#include <flowfabric/work.hpp>

#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "base/async/wakeup.hpp"

namespace ff {

// A caller that repeats a claim with the same request id has given up the call before: its connection is lost,
// perhaps unnoticed. That call stops waiting, and the repeated one begins when it has ended; so both together take
// work once, and the repeated one finds it. Claims without a request id have their turn at once. Thread-safe.
class ClaimTurns {
 public:
  // A place in the queue of a request, for as long as it lives.
  class Turn {
   public:
    // Wakes the claims before it, and is woken when its own turn comes or the claim is repeated.
    Turn(ClaimTurns& turns, const Claim& claim, Wakeup& wakeup);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    bool has_come() const;     // all calls before it have ended
    bool is_repeated() const;  // its caller does not wait for it any more

   private:
    using Request = std::tuple<Namespace, WorkerId, RequestId>;
    using Queue = std::list<Turn*>;
    friend class ClaimTurns;

    ClaimTurns& turns_;
    Wakeup& wakeup_;
    std::optional<std::map<Request, Queue>::iterator> queue_;
    Queue::iterator position_;
  };

 private:
  mutable std::mutex mutex_;
  std::map<Turn::Request, Turn::Queue> queues_;
};

}  // namespace ff
