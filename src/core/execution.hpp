// An execution and the states it can be in. A state carries exactly the data that exists in it;
// everything that others want to see flat is derived here and stored nowhere else.
#pragma once

#include <flowfabric/operations.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace ff::core {

// A worker's time-limited right to run one execution; an execution has at most one.
struct Lease {
  Fence fence;
  WorkerId worker;
  TimePoint expires_at;
  bool operator==(const Lease&) const = default;
};

struct Waiting {  // ready, and never run before
  bool operator==(const Waiting&) const = default;
};
struct Active {
  Lease lease;
  bool operator==(const Active&) const = default;
};
struct Interrupted {  // ready again: its worker let the lease run out
  bool operator==(const Interrupted&) const = default;
};
struct Completed {
  TimePoint at;
  Fence by;
  bool operator==(const Completed&) const = default;
};
struct Failed {
  TimePoint at;
  std::optional<Fence> by;  // none if the engine gave up on it
  std::string reason;
  std::string category;
  bool operator==(const Failed&) const = default;
};

using State = std::variant<Waiting, Active, Interrupted, Completed, Failed>;

struct Execution {
  ExecutionId id;
  Namespace ns;
  LaneId lane;
  Kind kind;
  std::int32_t priority = 0;
  TimePoint created_at;
  std::optional<TimePoint> started_at = {};
  LeaseEpoch last_epoch{};          // of the newest lease, 0 before the first
  std::uint32_t attempt_count = 0;  // the next attempt's index
  std::uint32_t reclaim_count = 0;  // attempts that began after a lost lease
  State state = Waiting{};
  bool operator==(const Execution&) const = default;
};

ExecutionState public_state(const Execution& execution);
ExecutionInfo info_of(const Execution& execution);

// Where the scheduler and the scanners find an execution: always exactly one place.
struct Ready {
  std::int64_t score;  // the lowest is claimed first
  bool operator==(const Ready&) const = default;
};
struct Leased {
  TimePoint expires_at;
  bool operator==(const Leased&) const = default;
};
struct Ended {
  bool operator==(const Ended&) const = default;
};
using Placement = std::variant<Ready, Leased, Ended>;

Placement placement(const Execution& execution);

// Lowest first: a higher priority beats any age, then the older beats the newer.
std::int64_t ready_score(std::int32_t priority, TimePoint created_at);

}  // namespace ff::core
