// An execution and the states it can be in. A state carries exactly the data that exists in it;
// everything that others want to see flat is derived here and stored nowhere else.
#pragma once

#include <flowfabric/operations.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "core/execution/attempt.hpp"
#include "core/execution/needs.hpp"

namespace ff::core {

struct Waiting {  // any worker can claim it
  bool operator==(const Waiting&) const = default;
};
struct Granted {  // set aside for one worker that is about to claim it
  WorkerId worker;
  TimePoint expires_at;
  std::optional<QuotaTokenId> token = {};  // by its quota
  bool operator==(const Granted&) const = default;
};
struct Delayed {
  TimePoint until;
  bool operator==(const Delayed&) const = default;
};
struct Blocked {  // by another scheduler on the same store
  BlockingReason reason{};
  std::string detail;
  TimePoint since;
  bool operator==(const Blocked&) const = default;
};
struct WaitingChildren {  // for nodes before it in its flow
  std::optional<TimePoint> delay_until = {};  // it is delayed until then afterwards
  bool operator==(const WaitingChildren&) const = default;
};
struct Suspended {  // until signals, an operator or its timeout resume it
  SuspensionId id;
  SuspendReason reason{};
  TimePoint since;
  std::optional<TimePoint> timeout_at = {};
  TimeoutAction on_timeout{};
  bool escalated = false;  // it timed out: an operator must resume it
  bool operator==(const Suspended&) const = default;
};
struct Active {
  Lease lease;
  std::optional<TimePoint> attempt_deadline = {};
  std::optional<QuotaTokenId> token = {};  // by its quota
  bool operator==(const Active&) const = default;
};

struct Completed {
  std::optional<ContentType> content_type = {};  // of the result
  bool operator==(const Completed&) const = default;
};
struct Failed {
  std::string reason;
  std::string category;
  bool operator==(const Failed&) const = default;
};
struct Cancelled {
  std::string reason;
  std::optional<Fence> by = {};  // the worker that did it; none: an operator
  bool operator==(const Cancelled&) const = default;
};
struct Expired {
  std::string reason;
  bool operator==(const Expired&) const = default;
};
struct Skipped {
  std::string reason;
  bool operator==(const Skipped&) const = default;
};
using Outcome = std::variant<Completed, Failed, Cancelled, Expired, Skipped>;

struct Ended {
  TimePoint at;
  Outcome outcome;
  bool operator==(const Ended&) const = default;
};

using State =
    std::variant<Waiting, Granted, Delayed, WaitingChildren, Active, Ended, Blocked, Suspended>;

struct ReplayRequest {
  std::string reason;
  std::string requested_by;
  TimePoint at;
  bool operator==(const ReplayRequest&) const = default;
};

// An execution as a node of a flow, with the counts of its edges.
// How far a node that runs once for each entry of a list has come.
enum class MapPhase : std::uint8_t { waits, adds_items, runs_items, collects };
struct MapState {
  MapOver over;
  MapPhase phase{};
  std::uint32_t items = 0;  // that have been added
  bool operator==(const MapState&) const = default;
};

struct Membership {
  FlowId flow;
  NodeName node = {};       // empty: it was added without a name
  std::uint32_t index = 0;  // among the flow's nodes, in the order of their submission
  bool is_optional = false;
  bool is_finalizer = false;                 // it waits only for nodes that failed or finished
  bool cancel_rest = false;                  // when it starts without waiting for all before it
  bool is_cancelled_as_rest = false;         // a node after it started without it
  std::optional<std::uint32_t> needed = {};  // edges that suffice; absent: all
  std::uint32_t edges_in = 0;
  std::uint32_t satisfied = 0;
  std::uint32_t impossible = 0;
  std::uint32_t edges_out = 0;
  std::uint32_t children = 0;       // edges among those in that it waits for after it began
  std::uint32_t open_children = 0;  // and of which it still does
  std::uint32_t staged = 0;         // edges among those in that are not applied yet
  std::optional<std::uint32_t> spawned_in = {};  // the last run of its spawner that spawned it
  std::optional<MapState> map = {};
  // Of a node that is a flow: 0 while it waits, then one more each time that its flow is to start (odd) or to be
  // held (even). An effect about that flow names the turn, so that settling it never takes a later one with it.
  std::optional<std::uint32_t> subflow_turn = {};
  bool operator==(const Membership&) const = default;
};

struct Execution {
  ExecutionId id;
  Namespace ns;
  LaneId lane;
  Kind kind;
  std::int32_t priority = 0;
  Tags tags = {};
  Policy policy = {};
  std::optional<IdempotencyKey> idempotency_key = {};
  std::optional<ContentType> content_type = {};  // of the payload
  std::optional<TraceParent> traceparent = {};
  std::uint64_t request_digest = 0;  // of what was submitted; a repeated submit must match it
  TimePoint created_at;
  TimePoint queued_at;  // its age in the queue counts from here
  std::optional<TimePoint> deadline = {};
  Millis retention = limits::retention_default;
  std::optional<TimePoint> started_at = {};
  LeaseEpoch last_epoch{};          // of the newest lease, 0 before the first
  std::uint32_t attempt_count = 0;  // the next attempt's index
  std::uint32_t retry_count = 0;
  std::uint32_t reclaim_count = 0;
  std::uint32_t replay_count = 0;
  std::optional<Attempt> attempt = {};  // the newest; earlier ones have records of their own
  std::optional<ReplayRequest> pending_replay = {};  // the next attempt is a replay
  std::optional<Progress> progress = {};
  std::uint32_t signal_count = 0;  // the next signal's index
  std::uint32_t step_count = 0;    // kept results of steps
  std::uint64_t step_bytes = 0;    // of all of them
  bool has_streams = false;        // it has a record of streams (core::Streams)
  bool has_waits = false;          // it has a record of waitpoints and suspensions (core::Waits)
  std::optional<TimePoint> waitpoint_expiry = {};  // of the first open waitpoint that expires
  std::optional<Wake> wake = {};  // how the newest suspension ended; kept across retries
  std::optional<Membership> flow = {};
  State state = Waiting{};
  bool operator==(const Execution&) const = default;
};

StateVector state_vector(const Execution& execution);
ExecutionState public_state(const Execution& execution);
ExecutionInfo info_of(const Execution& execution);
bool has_ended(const Execution& execution);

// No worker may claim a paused execution, whatever its capabilities.
bool is_pause(BlockingReason reason);

// True while it waits for a worker and needs more than its turn: whether a capable worker, its budgets and
// its quota let it start is not stored, but derived when somebody asks.
bool waits_for_needs(const Execution& execution);

// True while it counts as active but no worker holds it: its lease expired or was revoked.
bool is_reclaimable(const Execution& execution);

// Whether it may be shown in this state: which of `waiting` and `rate_limited` it is may have to be derived.
bool may_show(const Execution& execution, ExecutionState state);

// Shows that an execution that waits is held back, and by what.
void show_held_back(ExecutionInfo& info, BlockingReason reason, std::string detail);

// The quota token that the execution holds, from its grant or lease until that ends.
std::optional<QuotaTokenId> held_token(const Execution& execution);

// The type of the attempt that the next claim begins. None: the claim resumes the newest attempt.
std::optional<AttemptType> next_attempt_type(const Execution& execution);

// True while nobody has it and any worker may who has what it takes: also when a grant ran out, and
// while it is blocked for want of a budget, a quota or a capable worker; whoever gets these for it may
// have it.
bool is_claimable(const Execution& execution, TimePoint now);

// Every lease of the execution in order, as events. `attempts` are all of them, the oldest first.
LeaseHistory lease_history(const Execution& execution, std::span<const Attempt> attempts);

// Lowest first: a higher priority beats any age, then the older beats the newer.
std::int64_t ready_score(std::int32_t priority, TimePoint queued_at);

// ---- Time --------------------------------------------------------------------------------------

// Kinds of timers. An execution has at most one timer: the earliest.
enum class TimerKind : std::uint8_t {
  lease_expiry,
  delay,
  attempt_timeout,
  execution_deadline,
  grant_expiry,
  suspension_timeout,
  waitpoint_expiry,
  flow_deadline,  // of a flow, not of an execution; also the end of the time for building it
};
struct Timer {
  TimerKind kind{};
  TimePoint due;
  auto operator<=>(const Timer&) const = default;
};
std::optional<Timer> next_timer(const Execution& execution);

// An ended execution is kept until then; never shorter than its idempotency key is remembered. A node is kept
// as long as its flow.
TimePoint retained_until(const Execution& execution);
TimePoint idempotency_until(const Execution& execution);

}  // namespace ff::core
