// Everything that can be asked of an engine, as data: an operation is a struct that names its reply.
// The same structs travel through C++, HTTP and the store.
#pragma once

#include <flowfabric/budgets.hpp>
#include <flowfabric/events.hpp>
#include <flowfabric/ids.hpp>
#include <flowfabric/limits.hpp>
#include <flowfabric/operation_row.hpp>
#include <flowfabric/policy.hpp>
#include <flowfabric/quotas.hpp>
#include <flowfabric/states.hpp>
#include <flowfabric/time.hpp>
#include <flowfabric/workers.hpp>

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
  std::optional<WorkerId> granted_to = {};  // the worker that it is set aside for
  std::optional<Progress> progress = {};    // as the newest attempt told it
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
  bool operator==(const StateCount&) const = default;
};
struct StateCounts {
  std::vector<StateCount> counts;  // by lane, then state; zeros are left out
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
  std::vector<EventType> types = {};  // empty: all
  std::optional<std::string> after = {};
  std::uint32_t limit = 100;
  Millis wait{0};
};

// ---- Working ------------------------------------------------------------------------------------

struct ClaimedExecution {
  ExecutionId id;
  Namespace ns;
  LaneId lane;
  Kind kind;
  std::string payload;
  std::optional<ContentType> content_type = {};
  std::optional<TraceParent> traceparent = {};
  Tags tags = {};
  std::uint32_t attempt_index = 0;
  AttemptType attempt_type{};
  bool resumed = false;  // the attempt began earlier, paused, and goes on
  Fence fence;
  TimePoint lease_expires_at;
  std::optional<TimePoint> attempt_deadline = {};
  std::optional<TimePoint> deadline = {};
  std::vector<BudgetId> budgets = {};  // that the execution spends from
  bool operator==(const ClaimedExecution&) const = default;
};

struct ClaimReply {
  std::vector<ClaimedExecution> executions;
};

// Takes up to `max` executions for a worker, best priority first, each under a lease. With nothing to
// do, waits up to `wait` for work and then answers with an empty list. Repeated with the same
// `request_id`, it answers with the same executions, as far as the worker still holds them.
struct Claim {
  using Reply = ClaimReply;
  static constexpr OperationRow row{
      .owner = Owner::execution,
      .writes = Writes::logged,
      .http = {HttpMethod::post,
               "/v1/workers/{worker}/claim-with-lease",
               Role::work,
               "Claim executions under leases, waiting for work if asked to",
               {"claimed", "empty"}}};
  WorkerId worker;
  Namespace ns = default_namespace();
  std::vector<LaneId> lanes = {default_lane()};
  CapabilitySet capabilities = {};
  std::uint32_t max = 1;
  Millis lease_ttl = std::chrono::seconds{30};
  Millis wait{0};
  std::optional<RequestId> request_id = {};
};

struct GrantedExecution {
  ExecutionId id;
  TimePoint grant_expires_at;
  bool operator==(const GrantedExecution&) const = default;
};
struct GrantReply {
  std::optional<GrantedExecution> execution = {};  // none: nothing to do
};

// Sets the best execution aside for a worker, which claims it (ClaimGranted) before the grant runs out.
struct Grant {
  using Reply = GrantReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::logged,
                                    .http = {HttpMethod::post,
                                             "/v1/workers/{worker}/claim",
                                             Role::work,
                                             "Set the best execution aside",
                                             {"granted"}}};
  WorkerId worker;
  Namespace ns = default_namespace();
  std::vector<LaneId> lanes = {default_lane()};
  CapabilitySet capabilities = {};
  Millis grant_ttl = std::chrono::seconds{5};
};

// Turns a grant into a lease. Repeated with the same lease id it answers as the first time.
struct ClaimGranted {
  using Reply = ClaimedExecution;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::logged,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/claim-granted",
                                             Role::work,
                                             "Turn a grant into a lease",
                                             {"claimed"}}};
  ExecutionId id;
  WorkerId worker;
  std::optional<LeaseId> lease_id = {};  // absent: minted
  Millis lease_ttl = std::chrono::seconds{30};
};

// Grant and claim of one named execution in one step, whichever lane it is in.
struct ClaimExecution {
  using Reply = ClaimedExecution;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::logged,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/claim",
                                             Role::work,
                                             "Claim one execution by its id",
                                             {"claimed"}}};
  ExecutionId id;
  WorkerId worker;
  CapabilitySet capabilities = {};
  std::optional<LeaseId> lease_id = {};  // absent: minted
  Millis lease_ttl = std::chrono::seconds{30};
};

struct RenewReply {
  TimePoint lease_expires_at;
  bool operator==(const RenewReply&) const = default;
};

// Pushes the lease's expiry out to now + lease_ttl.
struct Renew {
  using Reply = RenewReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::logged,
                                    .is_stored = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/renew",
                                             Role::work,
                                             "Prolong a lease",
                                             {"renewed"}}};
  ExecutionId id;
  Fence fence;
  Millis lease_ttl = std::chrono::seconds{30};
};

struct UpdateProgress {
  using Reply = Done;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::logged,
                                    .is_stored = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/progress",
                                             Role::work,
                                             "Tell how far it is",
                                             {"updated"}}};
  ExecutionId id;
  Fence fence;
  std::optional<std::uint32_t> percent = {};  // 0 to 100
  std::string message = {};
};

struct EndReply {
  ExecutionState state{};
  bool operator==(const EndReply&) const = default;
};

// Ends the execution with a result. Repeated with the same fence it answers as the first time.
struct Complete {
  using Reply = EndReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/complete",
                                             Role::work,
                                             "End it with a result",
                                             {"completed"}}};
  ExecutionId id;
  Fence fence;
  std::optional<std::string> result = {};  // bytes, untouched
  std::optional<ContentType> content_type = {};
};

struct CompleteManyReply {
  std::vector<ItemResult<EndReply>> results;  // in the order of the executions
};
struct CompleteMany {
  using Reply = CompleteManyReply;
  static constexpr OperationRow row{
      .owner = Owner::execution,
      .writes = Writes::durable,
      .http = {HttpMethod::post, "/v1/complete-batch", Role::work, "End many with their results"}};
  std::vector<Complete> executions;
};

struct FailReply {
  ExecutionState state{};
  std::optional<TimePoint> retry_at = {};  // if the policy allows another attempt
  bool operator==(const FailReply&) const = default;
};

// Ends the attempt in failure, and the execution too unless its policy retries. Repeated with the same
// fence it answers as the first time.
struct Fail {
  using Reply = FailReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/fail",
                                             Role::work,
                                             "End the attempt in failure",
                                             {"failed", "retry_scheduled"}}};
  ExecutionId id;
  Fence fence;
  std::string reason;
  std::string category = {};  // transient, permanent, timeout, …; what the policy decides by
};

// Gives the execution back until a time; the attempt goes on with whoever claims it then.
struct Delay {
  using Reply = EndReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/delay",
                                             Role::work,
                                             "Give it back until a time",
                                             {"delayed"}}};
  ExecutionId id;
  Fence fence;
  TimePoint until;
};

// Gives the execution back for another worker to go on with, at once: this one cannot finish it.
struct HandBack {
  using Reply = EndReply;
  static constexpr OperationRow row{
      .owner = Owner::execution,
      .writes = Writes::durable,
      .is_stored = true,
      .http = {HttpMethod::post,
               "/v1/executions/{id}/hand-back",
               Role::work,
               "Give it back for another worker to go on with at once",
               {"handed_back"}}};
  ExecutionId id;
  Fence fence;
  std::string reason = {};
};

// Gives the execution back until those it depends on have ended. If there are none, it is ready at once.
struct WaitForChildren {
  using Reply = EndReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/wait-for-children",
                                             Role::work,
                                             "Give it back until those it depends on have ended",
                                             {"waiting_children"}}};
  ExecutionId id;
  Fence fence;
};

// ---- Operating ----------------------------------------------------------------------------------

// Ends an execution that has not ended, whatever it is doing. With a fence: only if that lease holds.
// Cancelling what is cancelled already succeeds.
struct Cancel {
  using Reply = EndReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/cancel",
                                             Role::submit,
                                             "End it, whatever it is doing",
                                             {"cancelled"}}};
  ExecutionId id;
  std::string reason = {};
  std::optional<Fence> fence = {};
};

enum class RevokeStatus : std::uint8_t { revoked, already_revoked, already_expired };
FF_NAMES(RevokeStatus, "revoked", "already_revoked", "already_expired");

struct RevokeReply {
  RevokeStatus status{};
  LeaseEpoch lease_epoch{};
  bool operator==(const RevokeReply&) const = default;
};

// Takes the lease away from its worker; the execution is ready for another one.
struct RevokeLease {
  using Reply = RevokeReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post, "/v1/executions/{id}/revoke-lease",
                                             Role::admin, "Take the lease away from its worker"}};
  ExecutionId id;
  std::optional<LeaseId> lease_id = {};  // only if it is this one
  std::string reason = {};
};

struct PriorityReply {
  std::int32_t before = 0;
  std::int32_t after = 0;
  bool operator==(const PriorityReply&) const = default;
};

// Of any execution that has not ended; it counts from the next claim on.
struct ChangePriority {
  using Reply = PriorityReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::put,
                                             "/v1/executions/{id}/priority",
                                             Role::submit,
                                             "Change its priority",
                                             {"changed"}}};
  ExecutionId id;
  std::int32_t priority = 0;
};

struct TagsReply {
  Tags tags;  // all, after the change
  bool operator==(const TagsReply&) const = default;
};

// Keys look like "app.key": lower case up to the first dot.
struct SetTags {
  using Reply = TagsReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/tags",
                                             Role::submit,
                                             "Set and remove tags",
                                             {"changed"}}};
  ExecutionId id;
  Tags set = {};
  std::vector<std::string> remove = {};
};

// Runs an execution that has ended once more, from the start.
struct Replay {
  using Reply = EndReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/replay",
                                             Role::submit,
                                             "Run it once more from the start",
                                             {"replayed"}}};
  ExecutionId id;
  std::string reason = {};
  std::string requested_by = {};
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

// ---- The engine itself --------------------------------------------------------------------------

struct BackupReply {
  std::string directory;  // a data directory of its own, on the engine's machine
  bool operator==(const BackupReply&) const = default;
};

// Saves everything that is acknowledged, while the engine goes on.
struct Backup {
  using Reply = BackupReply;
  static constexpr OperationRow row{.writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/backups",
                                             Role::admin,
                                             "Save everything while the server goes on",
                                             {"saved"}}};
  BackupName name;
};

struct HealthReply {
  std::string version;
  bool operator==(const HealthReply&) const = default;
};

struct ReadyReply {
  std::string version;
  std::vector<std::string> scanners;  // that run
  bool operator==(const ReadyReply&) const = default;
};

// Answers while everything that the engine needs works: the store takes writes, and every scanner
// runs. Otherwise fails with not_ready or the store's error.
struct CheckReady {
  using Reply = ReadyReply;
  static constexpr OperationRow row{.http = {HttpMethod::get, "/readyz", Role::nobody,
                                             "Whether everything that the server needs works"}};
};

// The engine's metrics, in the Prometheus text format.
struct GetMetrics {
  using Reply = Bytes;
  static constexpr OperationRow row{
      .http = {HttpMethod::get, "/metrics", Role::read, "Metrics for Prometheus"}};
};

// Answers while the engine can save what it is given.
struct Health {
  using Reply = HealthReply;
  static constexpr OperationRow row{.http = {HttpMethod::get, "/healthz", Role::nobody,
                                             "Whether the server can save what it is given"}};
};

}  // namespace ff
