// What a schedule does, as pure functions on its record.
//
// A time goes through two changes. The first one decides what becomes of it (`decide`): skipped, missed, queued, or
// to be started, which is kept in `starting`. Then what it starts is submitted, under an id that follows from the
// schedule and the time, and the second change notes it (`note_start`). Whoever dies in between leaves `starting`
// behind, and the next one submits the same id once more. The decision is one change under the record's version, so
// however many servers look at a schedule, each time has one.
#pragma once

#include <flowfabric/schedules.hpp>

#include "core/schedules/commands.hpp"
#include "core/schedules/cron.hpp"

namespace ff::core {

// What a schedule has started: an execution or a flow.
struct ScheduleStart {
  std::optional<ExecutionId> execution = {};
  std::optional<FlowId> flow = {};
  bool operator==(const ScheduleStart&) const = default;
};

struct Schedule {
  ScheduleKey key;
  ScheduleSpec spec;
  Uuid incarnation;  // of this schedule, not of an earlier one of its name
  TimePoint anchor;  // that the intervals of @every are counted from
  std::optional<SchedulePause> paused = {};
  std::optional<TimePoint> next = {};    // the time that is decided next, also while it is paused
  std::optional<TimePoint> last = {};    // the newest time that was decided
  std::vector<TimePoint> starting = {};  // decided, and not known to be submitted; in order
  std::vector<TimePoint> queued = {};    // in order
  std::optional<TimePoint> look_at =
      {};  // while some are queued: when to look whether they may start
  std::vector<ScheduleStart> running = {};  // what it has started and may not have ended
  std::vector<ScheduleFire> fires = {};     // the newest first
  std::uint64_t started = 0;
  std::uint64_t skipped = 0;
  std::uint64_t missed = 0;
  std::uint64_t failed = 0;
  TimePoint created_at;
  TimePoint updated_at;
};

// Everything about the spec but its attachments: fields in range, an expression and a zone that exist, at least one
// time, and nothing that is for one start only.
Result<void> validate_spec(const ScheduleSpec& spec, const Namespace& ns,
                           PartitionIndex partition_count);
Result<Calendar> calendar_of(const ScheduleSpec& spec, TimePoint anchor);

ScheduleInfo info_of(const Schedule& schedule);

// A new one. Its spec is valid.
Result<Schedule> make_schedule(const PutSchedule& command, const Uuid& incarnation, TimePoint now);
// Keeps its next time if the calendar is the same.
Result<void> replace_spec(Schedule& schedule, ScheduleSpec spec, TimePoint now);
void pause(Schedule& schedule, const PauseSchedule& command, TimePoint now);
Result<void> resume(Schedule& schedule, TimePoint now);

// When it is to be looked at; none: never.
std::optional<TimePoint> due_at(const Schedule& schedule);
// A time has come, or one that is queued may start: then the ends of `running` matter.
bool is_to_decide(const Schedule& schedule, TimePoint now);
// Decides the times that have come, a bounded number; `running` has only what has not ended. Fails if this machine
// does not know the zone; then the schedule is not to be changed.
Result<void> decide(Schedule& schedule, TimePoint now);

// The id of what a time starts, and of what RunSchedule starts.
Uuid start_id(const Schedule& schedule, TimePoint scheduled_at);
Uuid start_id(const Schedule& schedule, const RequestId& request);

// The first of `starting` was submitted, or refused for good.
void note_start(Schedule& schedule, const Result<ScheduleStart>& start, TimePoint now);
// RunSchedule has started something.
void note_run(Schedule& schedule, const ScheduleStart& start, TimePoint now);

}  // namespace ff::core
