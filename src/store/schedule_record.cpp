#include "store/schedule_record.hpp"

#include <fmt/format.h>

#include "base/try.hpp"
#include "core/flows/growth.hpp"
#include "records.pb.h"
#include "store/embedded/disk/record_reader.hpp"
#include "store/subflow_record.hpp"

namespace ff::store {
namespace {

using ScheduleReader = embedded::RecordReader;

std::int64_t schedule_ms(TimePoint time) { return time.time_since_epoch().count(); }
TimePoint schedule_time(std::int64_t ms) { return TimePoint{Millis{ms}}; }

std::string bytes_of(const Uuid& uuid) { return {uuid.bytes().begin(), uuid.bytes().end()}; }

// The name of the only node of a graph that stands for an execution.
NodeName only_node() { return NodeName::parse("execution").value(); }

std::string graph_of(const ScheduleSpec& spec) {
  Subflow graph;
  if (spec.execution) {
    graph.nodes.push_back(core::node_of(*spec.execution));
    graph.nodes.front().name = only_node();
  } else if (spec.flow) {
    graph = {.nodes = spec.flow->nodes,
             .on_failure = spec.flow->on_failure,
             .result = spec.flow->result};
  }
  return encode(graph);
}

void write_spec(const ScheduleSpec& spec, proto::Schedule::Spec& out) {
  out.set_cron(spec.cron);
  out.set_zone(spec.zone);
  out.set_overlap(std::to_underlying(spec.overlap));
  out.set_catch_up_max(spec.catch_up_max);
  out.set_jitter_ms(spec.jitter.count());
  if (spec.starts_at) out.set_starts_at_ms(schedule_ms(*spec.starts_at));
  if (spec.ends_at) out.set_ends_at_ms(schedule_ms(*spec.ends_at));
  out.set_graph(graph_of(spec));
  if (!spec.flow) return;
  out.set_is_flow(true);
  out.set_kind(spec.flow->kind.str());
  for (const auto& [key, value] : spec.flow->tags) {
    auto& tag = *out.add_tags();
    tag.set_key(key);
    tag.set_value(value);
  }
  for (const auto& budget : spec.flow->budgets) out.add_budgets(bytes_of(budget.uuid()));
  if (spec.flow->retention) out.set_retention_ms(spec.flow->retention->count());
}

SubmitFlow read_flow(ScheduleReader& read, const proto::Schedule::Spec& stored, Subflow graph,
                     const Namespace& ns) {
  SubmitFlow flow{.ns = ns,
                  .kind = read.text<Kind>(stored.kind()),
                  .nodes = std::move(graph.nodes),
                  .on_failure = graph.on_failure,
                  .result = std::move(graph.result)};
  for (const auto& tag : stored.tags()) flow.tags.emplace(tag.key(), tag.value());
  for (const auto& budget : stored.budgets()) flow.budgets.emplace_back(read.uuid(budget));
  if (stored.has_retention_ms()) flow.retention = Millis{stored.retention_ms()};
  return flow;
}

Submit read_execution(FlowNode& node, const Namespace& ns) {
  auto submit = core::submit_of(node);
  submit.ns = ns;
  submit.payload = std::move(node.payload);
  return submit;
}

Result<ScheduleSpec> read_spec(ScheduleReader& read, const proto::Schedule::Spec& stored,
                               const Namespace& ns) {
  ScheduleSpec spec{.cron = stored.cron(),
                    .zone = stored.zone(),
                    .overlap = read.named<Overlap>(stored.overlap()),
                    .catch_up_max = stored.catch_up_max(),
                    .jitter = Millis{stored.jitter_ms()}};
  if (stored.has_starts_at_ms()) spec.starts_at = schedule_time(stored.starts_at_ms());
  if (stored.has_ends_at_ms()) spec.ends_at = schedule_time(stored.ends_at_ms());
  auto graph = decode_subflow(stored.graph());
  FF_TRY(graph);
  if (stored.is_flow())
    spec.flow = read_flow(read, stored, std::move(*graph), ns);
  else if (graph->nodes.size() == 1)
    spec.execution = read_execution(graph->nodes.front(), ns);
  return spec;
}

void write_start(const core::ScheduleStart& start, proto::Schedule::Start& out) {
  if (start.execution) {
    out.set_execution(bytes_of(start.execution->uuid()));
    out.set_partition(start.execution->partition());
  }
  if (start.flow) out.set_flow(bytes_of(start.flow->uuid()));
}

core::ScheduleStart read_start(ScheduleReader& read, const proto::Schedule::Start& stored) {
  core::ScheduleStart start;
  if (stored.has_execution())
    start.execution = read.execution_id(stored.partition(), stored.execution());
  if (stored.has_flow()) start.flow = FlowId{read.uuid(stored.flow())};
  return start;
}

void write_fire(const ScheduleFire& fire, proto::Schedule::Fire& out) {
  out.set_scheduled_at_ms(schedule_ms(fire.scheduled_at));
  out.set_at_ms(schedule_ms(fire.at));
  out.set_outcome(std::to_underlying(fire.outcome));
  out.set_is_manual(fire.manual);
  write_start({.execution = fire.execution, .flow = fire.flow}, *out.mutable_start());
  out.set_count(fire.count);
  out.set_detail(fire.detail);
}

ScheduleFire read_fire(ScheduleReader& read, const proto::Schedule::Fire& stored) {
  const auto start = read_start(read, stored.start());
  return {.scheduled_at = schedule_time(stored.scheduled_at_ms()),
          .at = schedule_time(stored.at_ms()),
          .outcome = read.named<FireOutcome>(stored.outcome()),
          .manual = stored.is_manual(),
          .execution = start.execution,
          .flow = start.flow,
          .count = stored.count(),
          .detail = stored.detail()};
}

std::unexpected<Error> damaged_schedule() {
  return fail(Errc::store_damaged,
              "the record of a schedule is damaged; restore the data from a backup");
}

}  // namespace

std::string encode(const ScheduleSpec& spec) {
  proto::Schedule::Spec out;
  write_spec(spec, out);
  return out.SerializeAsString();
}

Result<void> fits_record(const ScheduleSpec& spec) {
  const auto size = graph_of(spec).size();
  if (size <= limits::schedule_bytes_max) return {};
  return fail_field(Errc::payload_too_large, spec.execution ? "execution" : "flow",
                    fmt::format("what the schedule starts has {} bytes with its payloads, and the "
                                "limit is {}; pass large data by reference",
                                size, limits::schedule_bytes_max));
}

std::string encode(const core::Schedule& schedule) {
  proto::Schedule out;
  out.set_namespace_(schedule.key.ns.str());
  out.set_name(schedule.key.name.str());
  write_spec(schedule.spec, *out.mutable_spec());
  out.set_incarnation(bytes_of(schedule.incarnation));
  out.set_anchor_ms(schedule_ms(schedule.anchor));
  if (schedule.paused) {
    auto& pause = *out.mutable_paused();
    pause.set_at_ms(schedule_ms(schedule.paused->at));
    pause.set_reason(schedule.paused->reason);
    pause.set_requested_by(schedule.paused->requested_by);
  }
  if (schedule.next) out.set_next_ms(schedule_ms(*schedule.next));
  if (schedule.last) out.set_last_ms(schedule_ms(*schedule.last));
  for (const auto& time : schedule.starting) out.add_starting_ms(schedule_ms(time));
  for (const auto& time : schedule.queued) out.add_queued_ms(schedule_ms(time));
  if (schedule.look_at) out.set_look_at_ms(schedule_ms(*schedule.look_at));
  for (const auto& start : schedule.running) write_start(start, *out.add_running());
  for (const auto& fire : schedule.fires) write_fire(fire, *out.add_fires());
  out.set_started(schedule.started);
  out.set_skipped(schedule.skipped);
  out.set_missed(schedule.missed);
  out.set_failed(schedule.failed);
  out.set_created_at_ms(schedule_ms(schedule.created_at));
  out.set_updated_at_ms(schedule_ms(schedule.updated_at));
  return out.SerializeAsString();
}

Result<core::Schedule> decode_schedule(std::string_view bytes) {
  proto::Schedule stored;
  ScheduleReader read;
  if (!embedded::parse(stored, bytes)) return damaged_schedule();
  core::Schedule schedule{.key = {.ns = read.text<Namespace>(stored.namespace_()),
                                  .name = read.text<ScheduleName>(stored.name())},
                          .spec = {},
                          .incarnation = read.uuid(stored.incarnation()),
                          .anchor = schedule_time(stored.anchor_ms()),
                          .started = stored.started(),
                          .skipped = stored.skipped(),
                          .missed = stored.missed(),
                          .failed = stored.failed(),
                          .created_at = schedule_time(stored.created_at_ms()),
                          .updated_at = schedule_time(stored.updated_at_ms())};
  auto spec = read_spec(read, stored.spec(), schedule.key.ns);
  if (!spec) return damaged_schedule();
  schedule.spec = std::move(*spec);
  if (stored.has_paused())
    schedule.paused = SchedulePause{.at = schedule_time(stored.paused().at_ms()),
                                    .reason = stored.paused().reason(),
                                    .requested_by = stored.paused().requested_by()};
  if (stored.has_next_ms()) schedule.next = schedule_time(stored.next_ms());
  if (stored.has_last_ms()) schedule.last = schedule_time(stored.last_ms());
  for (const auto ms : stored.starting_ms()) schedule.starting.push_back(schedule_time(ms));
  for (const auto ms : stored.queued_ms()) schedule.queued.push_back(schedule_time(ms));
  if (stored.has_look_at_ms()) schedule.look_at = schedule_time(stored.look_at_ms());
  for (const auto& start : stored.running()) schedule.running.push_back(read_start(read, start));
  for (const auto& fire : stored.fires()) schedule.fires.push_back(read_fire(read, fire));
  const bool has_one = schedule.spec.execution.has_value() != schedule.spec.flow.has_value();
  if (!read.ok() || !has_one) return damaged_schedule();
  return schedule;
}

}  // namespace ff::store
