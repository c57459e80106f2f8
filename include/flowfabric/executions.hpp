// Submitting and reading executions.
#pragma once

#include <flowfabric/dependency.hpp>
#include <flowfabric/events.hpp>
#include <flowfabric/ids.hpp>
#include <flowfabric/limits.hpp>
#include <flowfabric/operation_row.hpp>
#include <flowfabric/policy.hpp>
#include <flowfabric/states.hpp>
#include <flowfabric/time.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ff {

using Tags = std::map<std::string, std::string>;

struct Progress {
  std::optional<std::uint32_t> percent = {};
  std::string message = {};
  TimePoint at;
  bool operator==(const Progress&) const = default;
};

// An execution as it is now, without its payload and result.
struct ExecutionInfo {
  ExecutionId id;
  Namespace ns;
  LaneId lane;
  Kind kind;
  std::int32_t priority = 0;
  ExecutionState state{};
  StateVector state_vector;
  std::optional<std::string> blocking_detail = {};  // if something keeps it from starting: what
  Tags tags = {};
  Policy policy = {};
  std::optional<IdempotencyKey> idempotency_key = {};
  std::optional<ContentType> content_type = {};  // of the payload
  std::optional<TraceParent> traceparent = {};
  TimePoint created_at;
  std::optional<TimePoint> delay_until = {};  // while delayed
  std::optional<TimePoint> deadline = {};
  std::optional<TimePoint> started_at = {};    // of the first attempt
  std::optional<TimePoint> completed_at = {};  // when it became terminal
  std::uint32_t attempts = 0;                  // how many were started
  std::uint32_t retries = 0;                   // failures that were retried, since the last replay
  std::uint32_t reclaims = 0;                  // attempts after a lost lease, since the last replay
  std::uint32_t replays = 0;
  LeaseEpoch lease_epoch{};             // of the newest lease, 0 before the first
  std::optional<WorkerId> worker = {};  // the lease holder, while active
  std::optional<TimePoint> lease_expires_at = {};
  std::optional<WorkerId> granted_to = {};           // the worker that it is set aside for
  std::optional<Progress> progress = {};             // as the newest attempt told it
  std::uint32_t signals = 0;                         // received since it was submitted or replayed
  std::optional<TimePoint> suspended_since = {};     // while suspended
  std::optional<TimePoint> suspension_timeout = {};  // likewise: when its timeout acts
  std::optional<FlowId> flow = {};    // that it is a node of
  std::optional<NodeName> node = {};  // its name there
  std::optional<FlowId> subflow = {};  // the flow that it is, of a node that has started one
  std::optional<std::string> failure_reason = {};
  std::optional<std::string> failure_category = {};
  std::optional<std::string> cancel_reason = {};
  bool operator==(const ExecutionInfo&) const = default;
};

// One item's outcome in the reply to a batch.
template <class T>
using ItemResult = Result<T>;

// ---- Submitting ---------------------------------------------------------------------------------

struct SubmitReply {
  ExecutionId id;
  bool duplicate = false;  // it was submitted before; nothing was changed
  ExecutionState state{};
  bool operator==(const SubmitReply&) const = default;
};

// Hands work to the engine; it is on disk when the reply comes. An `id` or an `idempotency_key` (not
// both) makes the call safe to repeat; without an id, the engine mints one.
struct Submit {
  using Reply = SubmitReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .http = {HttpMethod::post,
                                             "/v1/executions",
                                             Role::submit,
                                             "Submit an execution",
                                             {"created", "duplicate"}}};
  std::optional<ExecutionId> id = {};
  std::optional<IdempotencyKey> idempotency_key = {};
  Namespace ns = default_namespace();
  LaneId lane = default_lane();
  Kind kind;
  std::int32_t priority = 0;                     // 0 to 9000, higher runs first
  std::string payload = {};                      // bytes, untouched
  std::optional<ContentType> content_type = {};  // of the payload; for whoever reads it
  std::optional<TimePoint> delay_until = {};
  std::optional<TimePoint> deadline = {};  // expires if it has not ended by then
  Tags tags = {};
  Policy policy = {};
  std::optional<TraceParent> traceparent =
      {};  // handed on to the worker; not part of what is compared
  // Makes it a node of a flow that has not ended. Its name there makes the call safe to repeat, so it has no id;
  // absent, the name is the idempotency key, or made up.
  std::optional<FlowId> flow = {};
  std::optional<NodeName> node = {};
  std::vector<Dependency> after = {};
};

struct SubmitManyReply {
  std::vector<ItemResult<SubmitReply>> results;  // in the order of the executions
};

// Many at once: each is accepted or refused on its own.
struct SubmitMany {
  using Reply = SubmitManyReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .http = {HttpMethod::post, "/v1/executions/batch", Role::submit,
                                             "Submit many executions at once"}};
  std::vector<Submit> executions;
};

// ---- Reading ------------------------------------------------------------------------------------

struct GetExecution {
  using Reply = ExecutionInfo;
  static constexpr OperationRow row{
      .owner = Owner::execution,
      .is_stored = true,
      .http = {HttpMethod::get, "/v1/executions/{id}", Role::read, "Show an execution"}};
  ExecutionId id;
};

struct StateReply {
  ExecutionState state{};
  bool operator==(const StateReply&) const = default;
};

struct GetState {
  using Reply = StateReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .http = {HttpMethod::get, "/v1/executions/{id}/state",
                                             Role::read, "Show the state of an execution"}};
  ExecutionId id;
};

struct Bytes {
  std::string bytes;
  std::optional<ContentType> content_type = {};
  bool absent = false;  // none were given, which is not the same as zero of them
  bool operator==(const Bytes&) const = default;
};

struct GetPayload {
  using Reply = Bytes;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .is_stored = true,
                                    .http = {HttpMethod::get, "/v1/executions/{id}/payload",
                                             Role::read, "The bytes of a payload"}};
  ExecutionId id;
};

// The result of a completed execution. Waits up to `wait` for the end; then fails with
// execution_not_terminal. If the execution ended otherwise: execution_failed, with the reason.
struct GetResult {
  using Reply = Bytes;
  static constexpr OperationRow row{
      .owner = Owner::execution,
      .http = {HttpMethod::get, "/v1/executions/{id}/result", Role::read,
               "The bytes of a result, waiting for the end if asked to"}};
  ExecutionId id;
  Millis wait{0};
};

enum class AttemptType : std::uint8_t { initial, retry, reclaim, replay };
FF_NAMES(AttemptType, "initial", "retry", "reclaim", "replay");

enum class AttemptOutcome : std::uint8_t {
  running,
  paused,
  success,
  failure,
  cancelled,
  interrupted
};
FF_NAMES(AttemptOutcome, "running", "paused", "success", "failure", "cancelled", "interrupted");

// One try at an execution.
struct AttemptInfo {
  std::uint32_t index = 0;
  AttemptId id;
  AttemptType type{};
  std::string cause = {};  // of a retry, reclaim or replay: why there is another attempt
  std::optional<std::string> requested_by = {};  // of a replay
  WorkerId worker;
  TimePoint started_at;
  std::optional<TimePoint> ended_at = {};
  AttemptOutcome outcome{};
  std::optional<std::string> failure_reason = {};
  std::optional<std::string> failure_category = {};
  std::optional<TimePoint> retry_at = {};
  bool operator==(const AttemptInfo&) const = default;
};

struct Attempts {
  std::vector<AttemptInfo> attempts;
};
struct GetAttempts {
  using Reply = Attempts;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .is_stored = true,
                                    .http = {HttpMethod::get, "/v1/executions/{id}/attempts",
                                             Role::read, "The attempts at an execution"}};
  ExecutionId id;
};

enum class LeaseEventType : std::uint8_t {
  acquired,
  released,
  expired,
  revoked,
  replay_initiated,
};
FF_NAMES(LeaseEventType, "acquired", "released", "expired", "revoked", "replay_initiated");

struct LeaseEvent {
  LeaseEventType type{};
  TimePoint at;
  std::optional<LeaseId> lease_id = {};
  LeaseEpoch lease_epoch{};
  std::uint32_t attempt_index = 0;
  std::optional<WorkerId> worker = {};
  std::string reason = {};
  bool operator==(const LeaseEvent&) const = default;
};

struct LeaseHistory {
  std::vector<LeaseEvent> events;
};
struct GetLeaseHistory {
  using Reply = LeaseHistory;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .is_stored = true,
                                    .http = {HttpMethod::get, "/v1/executions/{id}/lease-history",
                                             Role::read, "Every lease of an execution"}};
  ExecutionId id;
};

struct ExecutionList {
  std::vector<ExecutionInfo> executions;
  std::optional<std::string> next = {};  // the cursor of the next page, if there may be one
};

// The executions of a namespace, the newest first. A page may be shorter than `limit` although there
// is a next one: looking through many that do not match stops after a while.
struct ListExecutions {
  using Reply = ExecutionList;
  static constexpr OperationRow row{
      .is_stored = true,
      .http = {HttpMethod::get, "/v1/executions", Role::read, "List executions, the newest first"}};
  Namespace ns = default_namespace();
  std::optional<LaneId> lane = {};
  std::optional<ExecutionState> state = {};
  std::optional<Kind> kind = {};
  std::optional<std::string> tag = {};           // "key=value"
  std::optional<TimePoint> created_from = {};    // inclusive
  std::optional<TimePoint> created_before = {};  // exclusive
  std::uint32_t limit = 100;
  std::optional<std::string> cursor = {};  // `next` of the page before
};

struct StateCount {
  LaneId lane;
  ExecutionState state{};
  std::uint64_t count = 0;
  // Of these, active without a worker: the lease expired or was revoked, and nobody has claimed it since.
  std::uint64_t reclaimable = 0;
  bool operator==(const StateCount&) const = default;
};
struct StateCounts {
  std::vector<StateCount> counts;  // by lane, then state; zeros are left out
  std::vector<LaneId> paused_lanes = {};  // of those lanes
};
struct CountExecutions {
  using Reply = StateCounts;
  static constexpr OperationRow row{
      .is_stored = true,
      .http = {HttpMethod::get, "/v1/counts", Role::read, "Count executions by lane and state"}};
  Namespace ns = default_namespace();
  std::optional<LaneId> lane = {};
};

struct EventPage {
  std::vector<Event> events;
  std::string next;     // where to go on
  bool missed = false;  // events between `after` and these are gone: look at what you watch anew
};

// Lifecycle events after a point, as they happen. Waits up to `wait` for the first. Without `after`:
// from now on.
struct ReadEvents {
  using Reply = EventPage;
  static constexpr OperationRow row{
      .http = {HttpMethod::get, "/v1/events", Role::read,
               "Lifecycle events, a page at a time or as a stream (Accept: text/event-stream)"}};
  std::optional<Namespace> ns = {};
  std::optional<LaneId> lane = {};
  std::optional<Kind> kind = {};
  std::optional<ExecutionId> id = {};
  std::optional<FlowId> flow = {};    // of it and its nodes
  // "key=value": of executions and flows that have this tag when the event is read. One that is gone has none.
  std::optional<std::string> tag = {};
  std::vector<EventType> types = {};  // empty: all
  std::optional<std::string> after = {};
  std::uint32_t limit = 100;
  Millis wait{0};
};

// ---- Explaining ---------------------------------------------------------------------------------

// One thing that keeps an execution from running, and what would end it.
struct Obstacle {
  BlockingReason reason{};
  std::string detail;
  std::string remedy;
  bool operator==(const Obstacle&) const = default;
};

struct Why {
  ExecutionId id;
  ExecutionState state{};
  std::string summary;                   // one sentence
  std::vector<Obstacle> obstacles = {};  // none: nothing is in its way
  bool operator==(const Why&) const = default;
};

// Why an execution is not running now, and what would let it run.
struct ExplainExecution {
  using Reply = Why;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .http = {HttpMethod::get, "/v1/executions/{id}/why", Role::read,
                                             "Why it is not running, and what would let it run"}};
  ExecutionId id;
};

}  // namespace ff
