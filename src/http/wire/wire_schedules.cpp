// JSON fields of schedules.
#include "http/wire/json_codec.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {

// A spec has no object of its own: its fields stand beside those of whom it belongs to.
void describe(Fields& fields, ScheduleSpec& spec) {
  fields.required("cron", spec.cron);
  fields.defaulted("zone", spec.zone);
  fields.optional("execution", spec.execution);
  fields.optional("flow", spec.flow);
  fields.defaulted("overlap", spec.overlap);
  fields.defaulted("catch_up_max", spec.catch_up_max);
  fields.defaulted("jitter_ms", spec.jitter);
  fields.optional("starts_at_ms", spec.starts_at);
  fields.optional("ends_at_ms", spec.ends_at);
}

void describe(Fields& fields, ScheduleFire& fire) {
  fields.required("scheduled_at_ms", fire.scheduled_at);
  fields.required("at_ms", fire.at);
  fields.required("outcome", fire.outcome);
  fields.defaulted("manual", fire.manual);
  fields.optional("execution", fire.execution);
  fields.optional("flow", fire.flow);
  fields.defaulted("count", fire.count);
  fields.defaulted("detail", fire.detail);
}

void describe(Fields& fields, SchedulePause& pause) {
  fields.required("at_ms", pause.at);
  fields.defaulted("reason", pause.reason);
  fields.defaulted("requested_by", pause.requested_by);
}

void describe(Fields& fields, ScheduleInfo& schedule) {
  fields.required("name", schedule.name);
  fields.required("namespace", schedule.ns);
  describe(fields, schedule.spec);
  fields.optional("paused", schedule.paused);
  fields.optional("next_at_ms", schedule.next_at);
  fields.required("queued_ms", schedule.queued);
  fields.required("fires", schedule.fires);
  fields.required("started", schedule.started);
  fields.required("skipped", schedule.skipped);
  fields.required("missed", schedule.missed);
  fields.required("failed", schedule.failed);
  fields.required("created_at_ms", schedule.created_at);
  fields.required("updated_at_ms", schedule.updated_at);
}

void describe(Fields& fields, PutSchedule& put) {
  fields.required("name", put.name);
  fields.defaulted("namespace", put.ns);
  describe(fields, put.spec);
}

void describe(Fields& fields, PutScheduleReply& reply) {
  describe(fields, reply.schedule);
  fields.required("created", reply.created);
  fields.required("unchanged", reply.unchanged);
}

void describe(Fields& fields, GetSchedule& get) {
  fields.required("name", get.name);
  fields.defaulted("namespace", get.ns);
}

void describe(Fields& fields, ListSchedules& list) {
  fields.defaulted("namespace", list.ns);
  fields.defaulted("limit", list.limit);
  fields.optional("after", list.after);
}

void describe(Fields& fields, ScheduleList& list) {
  fields.required("schedules", list.schedules);
  fields.optional("next", list.next);
}

void describe(Fields& fields, DeleteSchedule& operation) {
  fields.required("name", operation.name);
  fields.defaulted("namespace", operation.ns);
}

void describe(Fields& fields, PauseSchedule& pause) {
  fields.required("name", pause.name);
  fields.defaulted("namespace", pause.ns);
  fields.defaulted("reason", pause.reason);
  fields.defaulted("requested_by", pause.requested_by);
}

void describe(Fields& fields, ResumeSchedule& resume) {
  fields.required("name", resume.name);
  fields.defaulted("namespace", resume.ns);
}

void describe(Fields& fields, RunSchedule& run) {
  fields.required("name", run.name);
  fields.defaulted("namespace", run.ns);
  fields.optional("request_id", run.request_id);
}

void describe(Fields& fields, RunScheduleReply& reply) {
  fields.optional("execution", reply.execution);
  fields.optional("flow", reply.flow);
  fields.required("duplicate", reply.duplicate);
}

void describe(Fields& fields, GetScheduleTimes& get) {
  fields.required("name", get.name);
  fields.defaulted("namespace", get.ns);
  fields.defaulted("count", get.count);
}

void describe(Fields& fields, PreviewSchedule& preview) {
  fields.required("cron", preview.cron);
  fields.defaulted("zone", preview.zone);
  fields.optional("starts_at_ms", preview.starts_at);
  fields.optional("ends_at_ms", preview.ends_at);
  fields.optional("after_ms", preview.after);
  fields.defaulted("count", preview.count);
}

void describe(Fields& fields, ScheduleTimes& times) { fields.required("times_ms", times.times); }

}  // namespace ff::http
