// Lanes as a whole: what is in them, and keeping their work from starting.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/operation_row.hpp>
#include <flowfabric/states.hpp>
#include <flowfabric/time.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ff {

// A lane is paused from the first PauseLane to the next ResumeLane; `by` and `reason` are those of the last PauseLane.
struct LanePause {
  std::string by;  // the caller's name
  TimePoint since;
  std::string reason = {};
  bool operator==(const LanePause&) const = default;
};

struct LanePauseReply {
  std::optional<LanePause> pause = {};  // none: work of the lane may start
  bool unchanged = false;               // it was so before
  bool operator==(const LanePauseReply&) const = default;
};

// No worker gets work of the lane until ResumeLane. Running and granted executions go on; submits, delays, timers and
// flows are not affected. The lane need not have work yet. Safe to repeat: a repetition changes the reason.
struct PauseLane {
  using Reply = LanePauseReply;
  static constexpr OperationRow row{.owner = Owner::lane,
                                    .writes = Writes::durable,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/lanes/{lane}/pause",
                                             Role::admin,
                                             "Give workers no more work of a lane",
                                             {"paused", "already_paused"}}};
  LaneId lane;
  Namespace ns = default_namespace();
  std::string reason = {};
};

// Work of the lane may start again. Safe to repeat: a lane that is not paused stays as it is.
struct ResumeLane {
  using Reply = LanePauseReply;
  static constexpr OperationRow row{.owner = Owner::lane,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/lanes/{lane}/resume",
                                             Role::admin,
                                             "Let work of a paused lane start",
                                             {"resumed", "not_paused"}}};
  LaneId lane;
  Namespace ns = default_namespace();
};

struct LaneStateCount {
  ExecutionState state{};
  std::uint64_t count = 0;
  bool operator==(const LaneStateCount&) const = default;
};

struct LaneInfo {
  LaneId lane;
  std::optional<LanePause> pause = {};
  std::vector<LaneStateCount> counts = {};  // as CountExecutions; states without executions are left out
  std::uint64_t workers = 0;                // that are alive and serve it
  bool operator==(const LaneInfo&) const = default;
};
struct LaneList {
  std::vector<LaneInfo> lanes;      // by name
  std::optional<LaneId> next = {};  // `after` of the next page, if there is one
};

// The lanes that have executions or workers, or are paused.
struct ListLanes {
  using Reply = LaneList;
  static constexpr OperationRow row{
      .owner = Owner::lane,
      .http = {HttpMethod::get, "/v1/lanes", Role::read, "List the lanes of a namespace"}};
  Namespace ns = default_namespace();
  std::uint32_t limit = 100;
  std::optional<LaneId> after = {};
};

}  // namespace ff
