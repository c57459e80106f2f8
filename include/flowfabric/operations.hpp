// Everything that can be asked of an engine, as data: an operation is a struct that names its reply.
// The same structs travel through C++, HTTP and the store.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/time.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ff {

// What an execution is doing, as users see it.
enum class ExecutionState : std::uint8_t { waiting, active, completed, failed };

std::string_view to_string(ExecutionState state);
std::optional<ExecutionState> execution_state_from(std::string_view name);
bool is_terminal(ExecutionState state);

// Proof of holding a lease. Every change that a worker makes to an execution carries it, and a worker
// that lost its lease is refused by it.
struct Fence {
  LeaseId lease_id;
  LeaseEpoch lease_epoch{};
  AttemptId attempt_id;
  bool operator==(const Fence&) const = default;
};

// An execution as it is now, without its payload and result.
struct ExecutionInfo {
  ExecutionId id;
  Namespace ns;
  LaneId lane;
  Kind kind;
  std::int32_t priority = 0;
  ExecutionState state{};
  TimePoint created_at;
  std::optional<TimePoint> started_at = {};    // of the first attempt
  std::optional<TimePoint> completed_at = {};  // when it became terminal
  std::uint32_t attempts = 0;                  // how many were started
  std::optional<WorkerId> worker = {};         // who runs it, while active
  std::optional<TimePoint> lease_expires_at = {};
  std::optional<std::string> failure_reason = {};
  std::optional<std::string> failure_category = {};
  bool operator==(const ExecutionInfo&) const = default;
};

// ---- Submitting and reading ---------------------------------------------------------------------

struct SubmitReply {
  ExecutionId id;
  bool duplicate = false;  // the id was known already; nothing was changed
  ExecutionState state{};
  bool operator==(const SubmitReply&) const = default;
};

// Hands work to the engine; it is on disk when the reply comes. An `id` makes the call safe to repeat;
// without one, the engine mints it.
struct Submit {
  using Reply = SubmitReply;
  std::optional<ExecutionId> id = {};
  Namespace ns = default_namespace();
  LaneId lane = default_lane();
  Kind kind;
  std::int32_t priority = 0;  // 0 to 9000, higher runs first
  std::string payload = {};   // bytes, untouched
};

struct GetExecution {
  using Reply = ExecutionInfo;
  ExecutionId id;
};

struct ResultBytes {
  std::string bytes;
  bool operator==(const ResultBytes&) const = default;
};

// The result of a completed execution. Waits up to `wait` for the end; then fails with
// execution_not_terminal. If the execution ended in failure: execution_failed, with its reason.
struct GetResult {
  using Reply = ResultBytes;
  ExecutionId id;
  Millis wait{0};
};

// ---- Working ------------------------------------------------------------------------------------

struct ClaimedExecution {
  ExecutionId id;
  Namespace ns;
  LaneId lane;
  Kind kind;
  std::string payload;
  std::uint32_t attempt_index = 0;
  Fence fence;
  TimePoint lease_expires_at;
  bool operator==(const ClaimedExecution&) const = default;
};

struct ClaimReply {
  std::vector<ClaimedExecution> executions;
};

// Takes up to `max` executions for a worker, best priority first, each under a lease. With nothing to
// do, waits up to `wait` for work and then answers with an empty list.
struct Claim {
  using Reply = ClaimReply;
  WorkerId worker;
  Namespace ns = default_namespace();
  std::vector<LaneId> lanes = {default_lane()};
  std::uint32_t max = 1;
  Millis lease_ttl = std::chrono::seconds{30};
  Millis wait{0};
};

struct RenewReply {
  TimePoint lease_expires_at;
  bool operator==(const RenewReply&) const = default;
};

// Pushes the lease's expiry out to now + lease_ttl.
struct Renew {
  using Reply = RenewReply;
  ExecutionId id;
  Fence fence;
  Millis lease_ttl = std::chrono::seconds{30};
};

struct EndReply {
  ExecutionState state{};
  bool operator==(const EndReply&) const = default;
};

// Ends the execution with a result. Repeated with the same fence it answers as the first time.
struct Complete {
  using Reply = EndReply;
  ExecutionId id;
  Fence fence;
  std::string result = {};  // bytes, untouched
};

// Ends the attempt in failure. Repeated with the same fence it answers as the first time.
struct Fail {
  using Reply = EndReply;
  ExecutionId id;
  Fence fence;
  std::string reason;
  std::string category = {};
};

// ---- The engine itself --------------------------------------------------------------------------

struct HealthReply {
  std::string version;
};

// Answers while the engine can save what it is given.
struct Health {
  using Reply = HealthReply;
};

}  // namespace ff
