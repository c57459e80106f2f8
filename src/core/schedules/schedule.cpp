#include "core/schedules/schedule.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/text/named_uuid.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "core/validation/checks.hpp"
#include "core/validation/validate.hpp"

namespace ff::core {
namespace {

// How long a queued time waits until somebody looks again, should the end of what it waits for go unnoticed.
constexpr Millis look_again_after = std::chrono::seconds{5};

// Of the error in a failed fire.
constexpr std::size_t failure_bytes_max = 1'000;

// Times that one decision looks at. More of them are left to the next decision.
constexpr std::size_t decided_at_once_max = 10'000;

std::string start_name(TimePoint scheduled_at) {
  return fmt::format("at {}", scheduled_at.time_since_epoch().count());
}

// From 0 to less than the jitter, the same for a time whoever asks.
Millis delay_of(const Schedule& schedule, TimePoint scheduled_at) {
  const auto jitter = schedule.spec.jitter.count();
  if (jitter == 0) return Millis{0};
  const auto id = start_id(schedule, scheduled_at);
  std::uint64_t number = 0;
  for (std::size_t i = 8; i < 16; ++i) number = number << 8 | id.bytes()[i];
  return Millis{static_cast<Millis::rep>(number % static_cast<std::uint64_t>(jitter))};
}

TimePoint fires_at(const Schedule& schedule, TimePoint scheduled_at) {
  return scheduled_at + delay_of(schedule, scheduled_at);
}

// A zone may be missing on this machine, although another one has accepted it.
Result<std::optional<TimePoint>> time_after(const Schedule& schedule, TimePoint after) {
  const auto calendar = calendar_of(schedule.spec, schedule.anchor);
  FF_TRY(calendar);
  return calendar->next(after);
}

Result<void> set_next(Schedule& schedule, TimePoint after) {
  const auto next = time_after(schedule, after);
  FF_TRY(next);
  schedule.next = *next;
  return {};
}

// Of one that is made or gets another calendar.
Result<void> must_have_next(const Schedule& schedule) {
  if (schedule.next) return {};
  return fail_field(Errc::invalid_input, "ends_at_ms",
                    "no time of the schedule lies ahead; give a later ends_at_ms, or none");
}

TimePoint newest(const Schedule& schedule, TimePoint now) {
  return schedule.last ? std::max(*schedule.last, now) : now;
}

void add_fire(Schedule& schedule, ScheduleFire fire) {
  schedule.fires.insert(schedule.fires.begin(), std::move(fire));
  if (schedule.fires.size() > limits::schedule_fires_max)
    schedule.fires.resize(limits::schedule_fires_max);
}

void add_running(Schedule& schedule, const ScheduleStart& start) {
  auto& running = schedule.running;
  if (std::ranges::find(running, start) != running.end()) return;
  if (running.size() == limits::schedule_running_max) running.erase(running.begin());
  running.push_back(start);
}

void skip(Schedule& schedule, TimePoint scheduled_at, TimePoint now, std::string why) {
  ++schedule.skipped;
  add_fire(schedule, {.scheduled_at = scheduled_at,
                      .at = now,
                      .outcome = FireOutcome::skipped,
                      .detail = std::move(why)});
}

bool is_busy(const Schedule& schedule) {
  return !schedule.running.empty() || !schedule.starting.empty() || !schedule.queued.empty();
}

void decide_one(Schedule& schedule, TimePoint scheduled_at, TimePoint now) {
  if (!is_busy(schedule) || schedule.spec.overlap == Overlap::replace) {
    schedule.starting.push_back(scheduled_at);
    return;
  }
  if (schedule.spec.overlap == Overlap::skip)
    return skip(schedule, scheduled_at, now, "what was started before has not ended");
  if (schedule.queued.size() >= limits::schedule_queue_max)
    return skip(schedule, scheduled_at, now,
                fmt::format("{} times are queued already", limits::schedule_queue_max));
  schedule.queued.push_back(scheduled_at);
}

Result<void> only_of_one(std::string_view field, bool is_given) {
  if (!is_given) return {};
  return fail_field(Errc::invalid_input, field,
                    fmt::format("{} is for one submission; a schedule makes many", field));
}

Result<void> namespace_fits(const Namespace& given, const Namespace& ns) {
  if (given == ns || given == default_namespace()) return {};
  return fail_field(
      Errc::invalid_input, "namespace",
      fmt::format("what a schedule of namespace {} starts is in that namespace, not in {}",
                  ns.str(), given.str()));
}

Result<void> execution_valid(Submit submit, const Namespace& ns, PartitionIndex partition_count) {
  FF_TRY(all_of({namespace_fits(submit.ns, ns), only_of_one("id", submit.id.has_value()),
                 only_of_one("idempotency_key", submit.idempotency_key.has_value()),
                 only_of_one("delay_until_ms", submit.delay_until.has_value()),
                 only_of_one("deadline_ms", submit.deadline.has_value()),
                 only_of_one("traceparent", submit.traceparent.has_value()),
                 only_of_one("flow", submit.flow.has_value()),
                 only_of_one("node", submit.node.has_value()),
                 only_of_one("after", !submit.after.empty())}));
  return validate(submit, partition_count);
}

Result<void> nodes_repeatable(const std::string& path, const std::vector<FlowNode>& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto here = fmt::format("{}[{}]", path, i);
    FF_TRY(inside(here, all_of({only_of_one("delay_until_ms", nodes[i].delay_until.has_value()),
                                only_of_one("deadline_ms", nodes[i].deadline.has_value())})));
    if (nodes[i].flow) FF_TRY(nodes_repeatable(here + ".flow.nodes", nodes[i].flow->nodes));
  }
  return {};
}

Result<void> flow_valid(const SubmitFlow& submit, const Namespace& ns,
                        PartitionIndex partition_count) {
  FF_TRY(all_of({namespace_fits(submit.ns, ns), only_of_one("id", submit.id.has_value()),
                 only_of_one("idempotency_key", submit.idempotency_key.has_value()),
                 only_of_one("deadline_ms", submit.deadline.has_value()),
                 only_of_one("building", submit.building), only_of_one("dry_run", submit.dry_run),
                 nodes_repeatable("nodes", submit.nodes)}));
  return validate(submit, partition_count);
}

bool is_same_calendar(const ScheduleSpec& a, const ScheduleSpec& b) {
  return a.cron == b.cron && a.zone == b.zone && a.starts_at == b.starts_at &&
         a.ends_at == b.ends_at;
}

}  // namespace

// ---- The spec -------------------------------------------------------------------------------------

Result<Calendar> calendar_of(const ScheduleSpec& spec, TimePoint anchor) {
  const auto cron = Cron::parse(spec.cron);
  FF_TRY(cron);
  const auto zone = Zone::find(spec.zone);
  FF_TRY(zone);
  FF_TRY(all_of(
      {time_in_range("starts_at_ms", spec.starts_at), time_in_range("ends_at_ms", spec.ends_at)}));
  if (spec.starts_at && spec.ends_at && *spec.ends_at <= *spec.starts_at)
    return fail_field(Errc::invalid_input, "ends_at_ms",
                      "ends_at_ms must be later than starts_at_ms");
  Calendar calendar{.cron = *cron,
                    .zone = *zone,
                    .anchor = spec.starts_at.value_or(anchor),
                    .starts_at = spec.starts_at,
                    .ends_at = {}};
  // From a fixed time on, so that whether an expression is valid does not depend on the day.
  if (!calendar.next(spec.starts_at.value_or(TimePoint{std::chrono::days{365 * 31}})))
    return fail_field(Errc::invalid_input, "cron",
                      fmt::format("cron: '{}' means no time within eight years", spec.cron));
  calendar.ends_at = spec.ends_at;
  return calendar;
}

Result<void> validate_spec(const ScheduleSpec& spec, const Namespace& ns,
                           PartitionIndex partition_count) {
  if (spec.execution.has_value() == spec.flow.has_value())
    return fail_field(Errc::invalid_input, "execution",
                      "give what it starts: an execution or a flow, and only one of them");
  FF_TRY(all_of(
      {in_range("catch_up_max", spec.catch_up_max, 0U, limits::catch_up_max),
       duration_in_range("jitter_ms", spec.jitter, Millis{0}, limits::schedule_jitter_max)}));
  FF_TRY(calendar_of(spec, TimePoint{}));
  return spec.execution ? inside("execution", execution_valid(*spec.execution, ns, partition_count))
                        : inside("flow", flow_valid(*spec.flow, ns, partition_count));
}

ScheduleInfo info_of(const Schedule& schedule) {
  ScheduleInfo info{.name = schedule.key.name,
                    .ns = schedule.key.ns,
                    .spec = schedule.spec,
                    .paused = schedule.paused,
                    .next_at = schedule.paused ? std::nullopt : schedule.next,
                    .queued = schedule.queued,
                    .fires = schedule.fires,
                    .started = schedule.started,
                    .skipped = schedule.skipped,
                    .missed = schedule.missed,
                    .failed = schedule.failed,
                    .created_at = schedule.created_at,
                    .updated_at = schedule.updated_at};
  return info;
}

// ---- Changes by its owner -------------------------------------------------------------------------

Result<Schedule> make_schedule(const PutSchedule& command, const Uuid& incarnation, TimePoint now) {
  Schedule schedule{.key = {.ns = command.ns, .name = command.name},
                    .spec = command.spec,
                    .incarnation = incarnation,
                    .anchor = now,
                    .created_at = now,
                    .updated_at = now};
  FF_TRY(set_next(schedule, now));
  FF_TRY(must_have_next(schedule));
  return schedule;
}

Result<void> replace_spec(Schedule& schedule, ScheduleSpec spec, TimePoint now) {
  const bool same_calendar = is_same_calendar(schedule.spec, spec);
  schedule.spec = std::move(spec);
  schedule.updated_at = now;
  if (same_calendar) return {};
  schedule.anchor = now;
  FF_TRY(set_next(schedule, newest(schedule, now)));
  return must_have_next(schedule);
}

void pause(Schedule& schedule, const PauseSchedule& command, TimePoint now) {
  if (schedule.paused) return;
  schedule.paused =
      SchedulePause{.at = now, .reason = command.reason, .requested_by = command.requested_by};
  schedule.updated_at = now;
}

Result<void> resume(Schedule& schedule, TimePoint now) {
  if (!schedule.paused) return {};
  schedule.paused.reset();
  schedule.updated_at = now;
  if (!schedule.queued.empty()) schedule.look_at = now;
  return set_next(schedule, newest(schedule, now));
}

// ---- Its times ------------------------------------------------------------------------------------

std::optional<TimePoint> due_at(const Schedule& schedule) {
  if (!schedule.starting.empty()) return schedule.starting.front();
  if (schedule.paused) return std::nullopt;
  std::optional<TimePoint> due;
  if (schedule.next) due = fires_at(schedule, *schedule.next);
  if (!schedule.queued.empty() && schedule.look_at)
    due = due ? std::min(*due, *schedule.look_at) : *schedule.look_at;
  return due;
}

bool is_to_decide(const Schedule& schedule, TimePoint now) {
  if (schedule.paused || !schedule.starting.empty()) return false;
  return !schedule.queued.empty() || (schedule.next && fires_at(schedule, *schedule.next) <= now);
}

namespace {

// The times that have come, and of those the ones that nothing is started for.
struct DueTimes {
  std::vector<TimePoint> times;  // the latest of them, in order
  std::uint64_t missed = 0;      // before these
  std::optional<TimePoint> last_missed = {};
  std::optional<TimePoint> next = {};  // behind them
};

Result<DueTimes> due_times(const Schedule& schedule, TimePoint now) {
  DueTimes due{.times = {}, .next = schedule.next};
  const auto calendar = calendar_of(schedule.spec, schedule.anchor);
  FF_TRY(calendar);
  std::size_t seen = 0;
  while (due.next && fires_at(schedule, *due.next) <= now && seen < decided_at_once_max) {
    ++seen;
    due.times.push_back(*due.next);
    due.next = calendar->next(*due.next);
  }
  const bool is_more = due.next && fires_at(schedule, *due.next) <= now;
  const bool on_time = !due.times.empty() &&
                       now - fires_at(schedule, due.times.back()) <= limits::schedule_late_after;
  std::size_t kept = std::max<std::size_t>(schedule.spec.catch_up_max, on_time ? 1 : 0);
  // Of times that are replaced at once, only the last one matters.
  if (schedule.spec.overlap == Overlap::replace) kept = std::min<std::size_t>(kept, 1);
  if (due.times.size() > kept) {
    const auto dropped = due.times.size() - kept;
    due.missed = dropped;
    due.last_missed = due.times[dropped - 1];
    due.times.erase(due.times.begin(), due.times.begin() + static_cast<std::ptrdiff_t>(dropped));
  }
  if (is_more && !due.times.empty()) {  // the latest of all are not known yet
    due.next = due.times.front();
    due.times.clear();
  }
  return due;
}

}  // namespace

Result<void> decide(Schedule& schedule, TimePoint now) {
  if (schedule.paused) return {};
  const auto due = due_times(schedule, now);
  FF_TRY(due);
  if (due->missed > 0) {
    schedule.missed += due->missed;
    schedule.last = due->last_missed;
    add_fire(schedule, {.scheduled_at = *due->last_missed,
                        .at = now,
                        .outcome = FireOutcome::missed,
                        .count = due->missed,
                        .detail = "too late: see catch_up_max"});
  }
  if (schedule.running.empty() && schedule.starting.empty() && !schedule.queued.empty()) {
    schedule.starting.push_back(schedule.queued.front());
    schedule.queued.erase(schedule.queued.begin());
  }
  for (const auto& time : due->times) {
    decide_one(schedule, time, now);
    schedule.last = time;
  }
  schedule.next = due->next;
  schedule.look_at.reset();
  if (!schedule.queued.empty()) schedule.look_at = now + look_again_after;
  return {};
}

Uuid start_id(const Schedule& schedule, TimePoint scheduled_at) {
  return named_uuid(schedule.incarnation, start_name(scheduled_at));
}
Uuid start_id(const Schedule& schedule, const RequestId& request) {
  return named_uuid(schedule.incarnation, "run " + request.str());
}

// ---- What it has started --------------------------------------------------------------------------

void note_start(Schedule& schedule, const Result<ScheduleStart>& start, TimePoint now) {
  FF_ASSERT(!schedule.starting.empty());
  const auto scheduled_at = schedule.starting.front();
  schedule.starting.erase(schedule.starting.begin());
  ScheduleFire fire{.scheduled_at = scheduled_at, .at = now, .outcome = FireOutcome::started};
  if (start) {
    ++schedule.started;
    fire.execution = start->execution;
    fire.flow = start->flow;
    // What it replaces was cancelled.
    if (schedule.spec.overlap == Overlap::replace) schedule.running.clear();
    add_running(schedule, *start);
  } else {
    ++schedule.failed;
    fire.outcome = FireOutcome::failed;
    fire.detail = printable(start.error().message, failure_bytes_max);
  }
  add_fire(schedule, std::move(fire));
}

void note_run(Schedule& schedule, const ScheduleStart& start, TimePoint now) {
  const bool is_known = std::ranges::any_of(schedule.fires, [&](const ScheduleFire& fire) {
    return fire.execution == start.execution && fire.flow == start.flow;
  });
  if (is_known) return;
  ++schedule.started;
  add_running(schedule, start);
  add_fire(schedule, {.scheduled_at = now,
                      .at = now,
                      .outcome = FireOutcome::started,
                      .manual = true,
                      .execution = start.execution,
                      .flow = start.flow});
}

}  // namespace ff::core
