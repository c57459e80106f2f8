// Schedules: executions and flows that start at times of a calendar.
#pragma once

#include <flowfabric/executions.hpp>
#include <flowfabric/flows.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ff {

// What a time of the schedule does while something that it started before has not ended.
enum class Overlap : std::uint8_t {
  skip,     // nothing starts
  queue,    // it starts when the others have ended
  replace,  // the others are cancelled, and it starts
};
FF_NAMES(Overlap, "skip", "queue", "replace");

// When, what and how. Exactly one of `execution` and `flow` is given, without anything that is for one of them only:
// ids, keys and points in time. Its namespace is the schedule's.
struct ScheduleSpec {
  std::string cron = {};     // five fields, a macro such as @daily, or @every 90s
  std::string zone = "UTC";  // an IANA name such as Europe/Berlin
  std::optional<Submit> execution = {};
  std::optional<SubmitFlow> flow = {};
  Overlap overlap = Overlap::skip;
  std::uint32_t catch_up_max =
      1;             // of times that are due together, as after an outage, the latest that start
  Millis jitter{0};  // each time is delayed by less than this, always by the same
  std::optional<TimePoint> starts_at = {};  // no time before it
  std::optional<TimePoint> ends_at = {};    // no time from it on
};

enum class FireOutcome : std::uint8_t {
  started,
  skipped,  // by the overlap rule
  missed,   // too late, and not among those that are caught up
  failed,   // what it starts was refused
};
FF_NAMES(FireOutcome, "started", "skipped", "missed", "failed");

// What became of a time of a schedule, or of several that were missed together.
struct ScheduleFire {
  TimePoint scheduled_at;  // of several: the last
  TimePoint at;            // when it was decided
  FireOutcome outcome{};
  bool manual = false;  // started by RunSchedule
  std::optional<ExecutionId> execution = {};
  std::optional<FlowId> flow = {};
  std::uint64_t count = 1;
  std::string detail = {};
  bool operator==(const ScheduleFire&) const = default;
};

struct SchedulePause {
  TimePoint at;
  std::string reason = {};
  std::string requested_by = {};
  bool operator==(const SchedulePause&) const = default;
};

struct ScheduleInfo {
  ScheduleName name;
  Namespace ns;
  ScheduleSpec spec;
  std::optional<SchedulePause> paused = {};
  std::optional<TimePoint> next_at = {};  // without jitter; absent: paused, or there is none
  std::vector<TimePoint> queued = {};     // times that wait for the end of what was started before
  std::vector<ScheduleFire> fires = {};   // the newest first, at most limits::schedule_fires_max
  std::uint64_t started = 0;
  std::uint64_t skipped = 0;
  std::uint64_t missed = 0;
  std::uint64_t failed = 0;
  TimePoint created_at;
  TimePoint updated_at;  // when it was put, paused or resumed
};

struct PutScheduleReply {
  ScheduleInfo schedule;
  bool created = false;
  bool unchanged = false;  // it was there already, just like this
};

// Creates a schedule, or gives it another spec. Safe to repeat. Its times begin after the call; one that is replaced
// keeps its next time if cron, zone, starts_at and ends_at stay as they are.
struct PutSchedule {
  using Reply = PutScheduleReply;
  static constexpr OperationRow row{.owner = Owner::schedule,
                                    .writes = Writes::durable,
                                    .is_audited = true,
                                    .http = {HttpMethod::put,
                                             "/v1/schedules/{name}",
                                             Role::admin,
                                             "Create a schedule, or replace it",
                                             {"put", "unchanged"}}};
  ScheduleName name;
  Namespace ns = default_namespace();
  ScheduleSpec spec = {};
};

struct GetSchedule {
  using Reply = ScheduleInfo;
  static constexpr OperationRow row{
      .owner = Owner::schedule,
      .http = {HttpMethod::get, "/v1/schedules/{name}", Role::read, "Show a schedule"}};
  ScheduleName name;
  Namespace ns = default_namespace();
};

struct ScheduleList {
  std::vector<ScheduleInfo> schedules;    // by name; without payloads and nodes
  std::optional<ScheduleName> next = {};  // `after` of the next page, if there is one
};
struct ListSchedules {
  using Reply = ScheduleList;
  static constexpr OperationRow row{
      .owner = Owner::schedule,
      .http = {HttpMethod::get, "/v1/schedules", Role::read, "List the schedules of a namespace"}};
  Namespace ns = default_namespace();
  std::uint32_t limit = 100;
  std::optional<ScheduleName> after = {};
};

// What it has started goes on.
struct DeleteSchedule {
  using Reply = Done;
  static constexpr OperationRow row{.owner = Owner::schedule,
                                    .writes = Writes::durable,
                                    .is_audited = true,
                                    .http = {HttpMethod::delete_,
                                             "/v1/schedules/{name}",
                                             Role::admin,
                                             "Delete a schedule",
                                             {"deleted"}}};
  ScheduleName name;
  Namespace ns = default_namespace();
};

// Nothing starts until ResumeSchedule. One that is paused keeps who paused it first, and why.
struct PauseSchedule {
  using Reply = ScheduleInfo;
  static constexpr OperationRow row{.owner = Owner::schedule,
                                    .writes = Writes::durable,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/schedules/{name}/pause",
                                             Role::admin,
                                             "Start nothing more from a schedule",
                                             {"paused"}}};
  ScheduleName name;
  Namespace ns = default_namespace();
  std::string reason = {};
  std::string requested_by = {};
};

// Times that fell into the pause are not caught up.
struct ResumeSchedule {
  using Reply = ScheduleInfo;
  static constexpr OperationRow row{.owner = Owner::schedule,
                                    .writes = Writes::durable,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/schedules/{name}/resume",
                                             Role::admin,
                                             "Let a paused schedule start work again",
                                             {"resumed"}}};
  ScheduleName name;
  Namespace ns = default_namespace();
};

struct RunScheduleReply {
  std::optional<ExecutionId> execution = {};
  std::optional<FlowId> flow = {};
  bool duplicate = false;  // the same call started it before
  bool operator==(const RunScheduleReply&) const = default;
};

// Starts what the schedule starts, now, whatever its times, its pause and its overlap rule are. Safe to repeat with
// the same request_id; without one, the engine mints it.
struct RunSchedule {
  using Reply = RunScheduleReply;
  static constexpr OperationRow row{.owner = Owner::schedule,
                                    .writes = Writes::durable,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/schedules/{name}/run",
                                             Role::submit,
                                             "Start what a schedule starts, now",
                                             {"started", "duplicate"}}};
  ScheduleName name;
  Namespace ns = default_namespace();
  std::optional<RequestId> request_id = {};
};

struct ScheduleTimes {
  std::vector<TimePoint> times;  // without jitter; fewer than asked for: there are no more
  bool operator==(const ScheduleTimes&) const = default;
};

// The next times of a schedule, also of one that is paused: as they are once it is resumed.
struct GetScheduleTimes {
  using Reply = ScheduleTimes;
  static constexpr OperationRow row{.owner = Owner::schedule,
                                    .http = {HttpMethod::get, "/v1/schedules/{name}/times",
                                             Role::read, "The next times of a schedule"}};
  ScheduleName name;
  Namespace ns = default_namespace();
  std::uint32_t count = 10;
};

// The times that a schedule like this would have.
struct PreviewSchedule {
  using Reply = ScheduleTimes;
  static constexpr OperationRow row{
      .http = {HttpMethod::get, "/v1/schedule-times", Role::read,
               "The times that a cron expression means in a time zone"}};
  std::string cron;
  std::string zone = "UTC";
  std::optional<TimePoint> starts_at = {};
  std::optional<TimePoint> ends_at = {};
  std::optional<TimePoint> after = {};  // absent: from now on
  std::uint32_t count = 10;
};

}  // namespace ff
