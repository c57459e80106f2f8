// Attempts and leases: who tried to run an execution, when, and how that ended.
#pragma once

#include <flowfabric/operations.hpp>

namespace ff::core {

// A worker's time-limited right to run one execution; an execution has at most one.
struct Lease {
  Fence fence;
  WorkerId worker;
  TimePoint acquired_at;
  TimePoint expires_at;
  bool operator==(const Lease&) const = default;
};

// How a lease ended. Numbers are on disk: never renumber, never reuse.
enum class LeaseEnd : std::uint8_t {
  completed = 0,
  failed_retry_scheduled = 1,
  failed_terminal = 2,
  cancelled = 3,
  worker_delay = 4,
  waiting_children = 5,
  timed_out = 6,
  expired = 7,
  revoked = 8,
  handed_back = 9,
  suspended = 10,
};

struct PastLease {
  LeaseId lease_id;
  LeaseEpoch epoch{};
  WorkerId worker;
  TimePoint acquired_at;
  TimePoint ended_at;
  LeaseEnd end{};
  std::string reason = {};  // of a revocation, a timeout or a hand-back
  bool operator==(const PastLease&) const = default;
};

struct AttemptEnd {
  TimePoint at;
  AttemptOutcome outcome{};  // never running or paused
  std::string reason = {};
  std::string category = {};
  std::optional<TimePoint> retry_at = {};
  bool operator==(const AttemptEnd&) const = default;
};

struct Attempt {
  std::uint32_t index = 0;
  AttemptType type{};
  std::string cause = {};
  std::optional<std::string> requested_by = {};  // of a replay
  std::optional<TimePoint> requested_at = {};    // likewise
  Fence fence;                                   // of its newest lease
  WorkerId worker;                               // likewise
  TimePoint started_at;
  std::optional<Millis> timeout_left = {};  // while it is paused
  std::vector<PastLease> past_leases = {};
  std::optional<AttemptEnd> end = {};
  bool operator==(const Attempt&) const = default;
};

struct LeaseEnding {
  TimePoint at;
  LeaseEnd how{};
  std::string reason = {};
};

// The lease moves to the past ones; the oldest is forgotten beyond the limit.
void end_lease(Attempt& attempt, const Lease& lease, LeaseEnding ending);

AttemptInfo info_of(const Attempt& attempt, bool running);

}  // namespace ff::core
