// Chooses which executions a worker gets.
#pragma once

#include <flowfabric/operations.hpp>

#include "base/random.hpp"
#include "store/store.hpp"

namespace ff {

// The claim cycle: look at the best ready executions of the worker's lanes, lease them, and look again
// if other workers were faster with all of them. Safe to use from many coroutines at once.
class Scheduler {
 public:
  Scheduler(store::Store& store, Random& random) : store_(store), random_(random) {}

  // Up to claim.max executions, best first; none if nothing is ready. Does not wait.
  Async<ClaimReply> claim(const Claim& claim);

 private:
  core::LeaseGrant grant_for(const Claim& claim, const store::Candidate& candidate);

  store::Store& store_;
  Random& random_;
};

}  // namespace ff
