// What a store is asked to change, beside the worker's own operations (Renew, Complete, Fail): each
// command names one execution and its reply.
#pragma once

#include <flowfabric/operations.hpp>

namespace ff::core {

// What was submitted, under the id that says where it will live (`submit.id` is not looked at).
struct Create {
  using Reply = SubmitReply;
  ExecutionId id;
  Submit submit;
};

// Gives a ready execution to a worker, under a new lease.
struct LeaseGrant {
  using Reply = ClaimedExecution;
  ExecutionId id;
  WorkerId worker;
  LeaseId lease_id;
  AttemptId attempt_id;
  Millis lease_ttl;
};

struct LeaseExpireReply {
  bool expired = false;  // false: there was no lease that had run out
  bool operator==(const LeaseExpireReply&) const = default;
};

// Takes an execution back from a worker whose lease has run out. Safe to repeat.
struct LeaseExpire {
  using Reply = LeaseExpireReply;
  ExecutionId id;
};

}  // namespace ff::core
