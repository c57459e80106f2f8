// Commands to a store, beside the operations that are commands themselves (Renew, Complete,
// Cancel, …): each command names one execution and its reply.
#pragma once

#include "core/execution/execution.hpp"
#include "core/quotas/commands.hpp"
#include "core/suspensions/suspension.hpp"

namespace ff::core {

// A submit, with the id that determines its partition (`submit.id` is ignored).
struct Create {
  using Reply = SubmitReply;
  static constexpr OperationRow row{.owner = Owner::execution, .writes = Writes::durable};
  ExecutionId id;
  Submit submit;
  bool minted = false;  // the id was made for this; nothing can have it yet
  Millis retention_default = limits::retention_default;
};

// Where a worker's right to a lease comes from.
enum class LeaseSource : std::uint8_t {
  ready,  // it is free for any worker
  grant,  // it was set aside for this worker
  held,   // this worker has the lease already and only asks again
};

// Gives an execution to a worker, under a new lease. Repeated with the same lease id and worker it
// answers as the first time.
struct LeaseGrant {
  using Reply = ClaimedExecution;
  static constexpr OperationRow row{.owner = Owner::execution, .writes = Writes::logged};
  ExecutionId id;
  LeaseSource source{};
  WorkerId worker;
  CapabilitySet capabilities = {};       // looked at when it comes from the ready ones
  std::optional<QuotaToken> token = {};  // likewise; by its quota, if it has one
  LeaseId lease_id;
  AttemptId attempt_id;
  Millis lease_ttl;
};

// Sets a ready execution aside for a worker.
struct GrantIssue {
  using Reply = GrantedExecution;
  static constexpr OperationRow row{.owner = Owner::execution, .writes = Writes::logged};
  ExecutionId id;
  WorkerId worker;
  CapabilitySet capabilities = {};
  std::optional<QuotaToken> token = {};
  Millis grant_ttl;
};

struct UnblockReply {
  bool changed = false;  // false: it was not blocked for this reason
  bool operator==(const UnblockReply&) const = default;
};

// Lets a blocked execution wait for a worker again, if it was blocked for this reason.
struct Unblock {
  using Reply = UnblockReply;
  static constexpr OperationRow row{.owner = Owner::execution, .writes = Writes::logged};
  ExecutionId id;
  BlockingReason reason{};
};

// Whether the lease holds. Fails as a change by its worker would.
struct CheckLease {
  using Reply = Done;
  static constexpr OperationRow row{.owner = Owner::execution};
  ExecutionId id;
  Fence fence;
};

// Whether the execution holds this token. Of one that is gone: no.
struct HoldsToken {
  using Reply = bool;
  static constexpr OperationRow row{.owner = Owner::execution};
  ExecutionId id;
  QuotaTokenId token;
};

// A signal of the execution by its idempotency key, with the effect that its sender was told.
struct FoundSignal {
  SignalName name;
  SignalEffect effect{};
};
struct FindSignal {
  using Reply = std::optional<FoundSignal>;
  static constexpr OperationRow row{.owner = Owner::execution};
  ExecutionId id;
  SignalKey key;
};

struct TimerReply {
  bool fired = false;  // false: nothing of that kind was due
  bool operator==(const TimerReply&) const = default;
};

// Does what is due: ends a lease, a delay, a grant, an attempt or the execution. Safe to repeat.
struct TimerFire {
  using Reply = TimerReply;
  static constexpr OperationRow row{.owner = Owner::execution, .writes = Writes::logged};
  ExecutionId id;
  TimerKind kind{};
};

struct RemoveReply {
  bool removed = false;  // false: it is to be kept longer
  bool operator==(const RemoveReply&) const = default;
};

// Forgets an ended execution whose retention has run out, or whatever its retention. A node is kept with its flow.
// Safe to repeat.
struct Remove {
  using Reply = RemoveReply;
  static constexpr OperationRow row{.owner = Owner::execution, .writes = Writes::logged};
  ExecutionId id;
  bool is_early = false;  // an operator wants it gone
};

}  // namespace ff::core
