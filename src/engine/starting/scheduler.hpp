// Chooses which executions a worker gets.
#pragma once

#include <flowfabric/operations.hpp>

#include <deque>
#include <map>
#include <mutex>
#include <span>

#include "base/random.hpp"
#include "engine/starting/start_gate.hpp"
#include "store/store.hpp"

namespace ff {

// The claim cycle: take the best ready executions of the worker's lanes, see whether their budgets and
// quotas let them start, lease or grant them, and take others if some were gone. Safe to use from many coroutines at once.
class Scheduler {
 public:
  Scheduler(store::Store& store, StartGate& gate, Random& random)
      : store_(store), gate_(gate), random_(random) {}

  // Up to claim.max executions, best first; none if nothing is ready. Fewer if their payloads are large: a
  // reply holds at most limits::batch_bytes_max of them. Does not wait.
  Async<ClaimReply> claim(const Claim& claim);

  // If this claim's request was given executions before: those that the worker still holds, perhaps none.
  Async<std::optional<ClaimReply>> repeat(const Claim& claim);

  Async<GrantReply> grant(const Grant& grant);

  // One execution by its id.
  Async<ClaimedExecution> claim(ClaimGranted claim);
  Async<ClaimedExecution> claim(ClaimExecution claim);

 private:
  // The executions handed out per request, so that a repeated request gets the same.
  class Answered {
   public:
    using Request = std::pair<Namespace, RequestId>;
    std::vector<ExecutionId> find(const Request& request) const;
    void add(const Request& request, std::vector<ExecutionId> executions);

   private:
    static constexpr std::size_t requests_max = 4'096;
    mutable std::mutex mutex_;
    std::map<Request, std::vector<ExecutionId>> executions_;
    std::deque<Request> order_;
  };

  Async<void> lease_within_bytes(const Claim& claim, std::span<const Chosen> chosen,
                                 ClaimReply& reply);
  asio::awaitable<void> put_back(std::span<const Chosen> chosen);
  std::vector<core::LeaseGrant> leases_for(const Claim& claim, const std::vector<Chosen>& chosen,
                                           core::LeaseSource source);
  // `wanted` is the claim or grant that they were chosen for.
  template <class Op, class Reply>
  asio::awaitable<void> give_back_unused(const Op& wanted, const std::vector<Chosen>& chosen,
                                         const std::vector<Result<Reply>>& started);
  Result<void> collect(std::vector<Result<ClaimedExecution>> leased, ClaimReply& reply);
  template <class Id>
  Id mint() {
    return Id{make_uuid(store_.now(), random_)};
  }

  store::Store& store_;
  StartGate& gate_;
  Random& random_;
  Answered answered_;
};

}  // namespace ff
