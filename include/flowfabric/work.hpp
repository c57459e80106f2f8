// Claiming executions and carrying them out, under leases.
#pragma once

#include <flowfabric/capabilities.hpp>
#include <flowfabric/executions.hpp>
#include <flowfabric/graph.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ff {

// Why a suspension ended.
enum class WakeCause : std::uint8_t { signals, timeout, operator_ };
FF_NAMES(WakeCause, "signals", "timeout", "operator");

struct Wake {
  SuspensionId suspension_id;
  WakeCause cause{};
  TimePoint at;
  std::string reason = {};  // of an operator
  bool operator==(const Wake&) const = default;
};

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
  bool resumed = false;           // the attempt began earlier, paused, and goes on
  std::optional<Wake> wake = {};  // how the newest suspension ended; kept across retries
  Fence fence;
  TimePoint lease_expires_at;
  std::optional<TimePoint> attempt_deadline = {};
  std::optional<TimePoint> deadline = {};
  std::vector<BudgetId> budgets = {};  // that the execution spends from
  std::optional<FlowId> flow = {};     // that it is a node of
  std::optional<NodeName> node = {};   // its name there
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
  std::vector<Kind> kinds = {};  // that the worker runs; empty: all
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
                                             "/v1/workers/{worker}/grant",
                                             Role::work,
                                             "Set the best execution aside",
                                             {"granted"},
                                             "/v1/workers/{worker}/claim"}};
  WorkerId worker;
  Namespace ns = default_namespace();
  std::vector<LaneId> lanes = {default_lane()};
  CapabilitySet capabilities = {};
  std::vector<Kind> kinds = {};  // that the worker runs; empty: all
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
  // Nodes for the flow that it is a node of, added in the same change. Those without dependencies depend on it.
  std::vector<FlowNode> spawn = {};
};

struct CompleteManyReply {
  std::vector<ItemResult<EndReply>> results;  // in the order of the executions
};
struct CompleteMany {
  using Reply = CompleteManyReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/complete-batch",
                                             Role::work,
                                             "End many with their results",
                                             {},
                                             "/v1/complete-batch"}};
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

// Gives the execution back until those it depends on have ended. If there are none, it is ready at once. A node of
// a flow can add others in the same change: it then depends on them, however they end.
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
  std::vector<FlowNode> children = {};  // that may depend on each other, and on nothing else
};

}  // namespace ff
