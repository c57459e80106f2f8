// Commands for schedules.
#include <flowfabric/client.hpp>

#include <fmt/format.h>

#include "base/text/rfc3339.hpp"
#include "cli/input/files.hpp"
#include "cli/input/payload.hpp"
#include "cli/output/pages.hpp"
#include "http/wire/json_parser.hpp"

namespace ff::cli {
namespace {

constexpr std::size_t scheduled_graph_bytes_max = 16 * 1024 * 1024;

constexpr std::array schedule_columns{FieldColumn{"name", Column::Fit::keep},
                                      FieldColumn{"cron"},
                                      FieldColumn{"zone"},
                                      FieldColumn{"starts"},
                                      FieldColumn{"state", Column::Fit::keep},
                                      FieldColumn{"next_at_ms"},
                                      FieldColumn{"last", Column::Fit::drop}};
constexpr std::array fire_columns{FieldColumn{"scheduled_at_ms", Column::Fit::keep},
                                  FieldColumn{"outcome", Column::Fit::keep}, FieldColumn{"what"},
                                  FieldColumn{"count", Column::Fit::drop}, FieldColumn{"detail"}};

// The name of what it starts.
std::string kind_of(const ScheduleSpec& spec) {
  return spec.execution ? spec.execution->kind.str() : "flow " + spec.flow->kind.str();
}

std::string_view state_of(const ScheduleInfo& schedule) {
  if (schedule.paused) return "paused";
  return schedule.next_at ? "active" : "ended";
}

json::object schedule_for_table(const ScheduleInfo& schedule) {
  auto row = http::to_fields(schedule);
  row["starts"] = kind_of(schedule.spec);
  row["state"] = state_of(schedule);
  if (!schedule.fires.empty()) row["last"] = to_string(schedule.fires.front().outcome);
  return row;
}

json::object fire_for_table(const ScheduleFire& fire) {
  auto row = http::to_fields(fire);
  if (fire.execution) row["what"] = short_id(*fire.execution);
  if (fire.flow) row["what"] = "flow " + fire.flow->str();
  if (fire.manual) row["detail"] = "run by hand";
  if (fire.count == 1) row.erase("count");
  return row;
}

using ScheduleRequest = std::shared_ptr<Request>;

ScheduleRequest request_for_schedule(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  arguments.field("name", *request, "name", "NAME", "The schedule");
  arguments.of_namespace();
  return request;
}

template <class Op>
Result<typename Op::Reply> ask_about_schedule(const Context& context, Request request) {
  request.texts["namespace"] = context.settings.text(Setting::ns);
  return ask<Op>(context, request);
}

// For a person without what it starts, which may be long, and with its fires in a table.
void print_schedule(const Context& context, const ScheduleInfo& schedule) {
  if (context.json) return print_json(http::to_fields(schedule));
  auto fields = http::to_fields(schedule);
  fields.erase("execution");
  fields.erase("flow");
  fields.erase("fires");
  fields["starts"] = kind_of(schedule.spec);
  fields["state"] = state_of(schedule);
  print_object(context, fields);
  if (schedule.fires.empty()) return;
  std::vector<json::object> rows;
  for (const auto& fire : schedule.fires) rows.push_back(fire_for_table(fire));
  fmt::print("\n{}", table_of(fire_columns, rows, standard_output()));
}

template <class Op>
Run print_schedule_of(ScheduleRequest request) {
  return [request](const Context& context) -> Result<ExitCode> {
    const auto schedule = ask_about_schedule<Op>(context, *request);
    FF_TRY(schedule);
    print_schedule(context, *schedule);
    return ExitCode::ok;
  };
}

struct PutArguments {
  Request request;
  PayloadOption payload;
  std::string flow;
};

// What it starts, if it is an execution, is in `execution` of the request.
Result<PutSchedule> read_put(const Context& context, PutArguments given) {
  auto& request = given.request;
  request.texts["namespace"] = context.settings.text(Setting::ns);
  const bool has_payload = !given.payload.text.empty() || !given.payload.file.empty();
  if (!given.flow.empty()) {
    if (request.values.contains("execution") || has_payload)
      return fail(Errc::invalid_input,
                  "--flow starts a flow; --kind, --payload, --file and the options of an execution "
                  "do not go with it");
    auto text = given.flow == "-" ? read_all(stdin, "standard input", scheduled_graph_bytes_max)
                                  : read_file(given.flow, scheduled_graph_bytes_max);
    FF_TRY(text);
    auto body = http::parse_json_object(*text, given.flow == "-" ? "standard input" : given.flow);
    FF_TRY(body);
    auto flow = http::from_fields<SubmitFlow>(
        {.url = {}, .body = std::move(*body), .text = std::move(*text)});
    FF_TRY(flow);
    auto put = request.to<PutSchedule>();
    FF_TRY(put);
    put->spec.flow = std::move(*flow);
    return put;
  }
  auto put = request.to<PutSchedule>();
  FF_TRY(put);
  auto payload = given.payload.read(limits::payload_bytes_max);
  FF_TRY(payload);
  if (put->spec.execution)
    put->spec.execution->payload = std::move(*payload);
  else
    return fail(Errc::invalid_input, "give --kind for an execution, or --flow FILE for a flow");
  return put;
}

void print_times(const Context& context, const ScheduleTimes& times) {
  if (context.json) return print_json(http::to_fields(times));
  for (const auto& time : times.times)
    fmt::print("{}\n", for_people("at_ms", time.time_since_epoch().count()));
}

}  // namespace

Run setup_schedules_put(Arguments& arguments) {
  auto given = std::make_shared<PutArguments>();
  auto& request = given->request;
  arguments.field("name", request, "name", "NAME", "Its name: letters, digits, '.', '_' and '-'");
  arguments.field("--cron", request, "cron", "EXPRESSION",
                  "Five fields, a macro such as @daily, or '@every 90s'");
  arguments.field("--zone", request, "zone", "ZONE",
                  "The time zone, such as Europe/Berlin (default: UTC)");
  arguments.text_field("--kind", request, "execution.kind", "KIND", "What to run");
  arguments.text_field("--lane", request, "execution.lane", "NAME",
                       "The queue to put it in (default: default)");
  arguments.option("--payload", given->payload.text, "TEXT", "Its input; '-' reads standard input");
  arguments.option("--file", given->payload.file, "FILE", "Its input is what this file holds");
  arguments.text_field("--content-type", request, "execution.content_type", "TYPE",
                       "What the payload is, such as image/png");
  arguments.number_field("--priority", request, "execution.priority",
                         "0 to 9000, higher runs first");
  arguments.pairs_field("--tag", request, "execution.tags",
                        "To find its executions by; repeatable");
  arguments.object_field("--policy", request, "execution.policy", "The policy as JSON");
  arguments.option("--flow", given->flow, "FILE",
                   "Start this flow instead of an execution: a graph as for ff flow submit");
  arguments.field("--overlap", request, "overlap", "skip|queue|replace",
                  "While what was started before runs: skip the time (default), queue it, or "
                  "cancel what runs");
  arguments.number_field("--catch-up", request, "catch_up_max",
                         "Of times that are due together, as after an outage, start so many of the "
                         "latest (default: 1)");
  arguments.duration_field("--jitter", request, "jitter_ms",
                           "Delay each time by less than this, always by the same");
  arguments.time_field("--from", request, "starts_at_ms", Side::future, "No time before this one");
  arguments.time_field("--until", request, "ends_at_ms", Side::future,
                       "No time at or after this one");
  arguments.of_namespace();
  arguments.examples(
      "  ff schedules put nightly --cron '0 3 * * *' --zone Europe/Berlin --kind report\n"
      "  ff schedules put poll --cron '@every 90s' --kind fetch --payload https://example.com\n"
      "  ff schedules put release --cron '30 9 * * mon' --flow release.json --overlap queue");
  return [given](const Context& context) -> Result<ExitCode> {
    auto put = read_put(context, *given);
    FF_TRY(put);
    const auto engine = open_engine(context.settings);
    FF_TRY(engine);
    Client client(**engine, {.submit_retry = command_repeat.limit});
    const auto reply = client.put_schedule(std::move(*put));
    FF_TRY(reply);
    if (context.json) {
      print_json(http::to_fields(*reply));
      return ExitCode::ok;
    }
    fmt::print("{}; next: {}\n",
               reply->unchanged ? "unchanged"
               : reply->created ? "created"
                                : "replaced",
               reply->schedule.next_at
                   ? for_people("at_ms", reply->schedule.next_at->time_since_epoch().count())
                   : "never");
    return ExitCode::ok;
  };
}

Run setup_schedules_list(Arguments& arguments) {
  auto options = std::make_shared<PageOptions>();
  options->add_to(arguments);
  arguments.examples("  ff schedules ls\n  ff schedules ls --all --json | jq -r .name");
  return [options](const Context& context) {
    return print_pages<ListSchedules>(context, *options, &ScheduleList::schedules, schedule_columns,
                                      schedule_for_table);
  };
}

Run setup_schedules_get(Arguments& arguments) {
  auto request = request_for_schedule(arguments);
  arguments.examples("  ff schedules get nightly\n  ff schedules get nightly --json | jq .fires");
  return print_schedule_of<GetSchedule>(request);
}

Run setup_schedules_next(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  auto name = std::make_shared<std::string>();
  arguments.positional("name", *name, "The schedule; left out: of --cron",
                       Arguments::Need::optional, "NAME");
  arguments.field("--count", *request, "count", "NUMBER", "How many; 1 to 100 (default: 10)");
  arguments.field("--cron", *request, "cron", "EXPRESSION",
                  "Instead of a schedule: this expression");
  arguments.field("--zone", *request, "zone", "ZONE", "With --cron: the time zone (default: UTC)");
  arguments.of_namespace();
  arguments.examples(
      "  ff schedules next nightly --count 3\n"
      "  ff schedules next --cron '0 3 * * mon-fri' --zone America/New_York");
  return [request, name](const Context& context) -> Result<ExitCode> {
    const bool has_cron = request->texts.contains("cron");
    if (has_cron != name->empty())
      return fail(Errc::invalid_input, "give a schedule or --cron, and only one of them");
    if (!has_cron) request->texts["name"] = *name;
    const auto times = has_cron ? ask<PreviewSchedule>(context, *request)
                                : ask_about_schedule<GetScheduleTimes>(context, *request);
    FF_TRY(times);
    print_times(context, *times);
    return ExitCode::ok;
  };
}

Run setup_schedules_pause(Arguments& arguments) {
  auto request = request_for_schedule(arguments);
  arguments.field("--reason", *request, "reason", "TEXT", "Why, for those who ask later");
  arguments.field("--requested-by", *request, "requested_by", "NAME", "Who wants it");
  arguments.examples("  ff schedules pause nightly --reason 'the database moves'");
  return print_schedule_of<PauseSchedule>(request);
}

Run setup_schedules_resume(Arguments& arguments) {
  auto request = request_for_schedule(arguments);
  arguments.examples("  ff schedules resume nightly");
  return print_schedule_of<ResumeSchedule>(request);
}

Run setup_schedules_run(Arguments& arguments) {
  auto request = request_for_schedule(arguments);
  arguments.field("--request-id", *request, "request_id", "UUID",
                  "An id of your own: makes the call safe to repeat");
  arguments.examples("  ff schedules run nightly");
  return [request](const Context& context) -> Result<ExitCode> {
    request->texts["namespace"] = context.settings.text(Setting::ns);
    auto run = request->to<RunSchedule>();
    FF_TRY(run);
    const auto engine = open_engine(context.settings);
    FF_TRY(engine);
    Client client(**engine, {.submit_retry = command_repeat.limit});
    const auto reply = client.run_schedule(std::move(*run));
    FF_TRY(reply);
    if (context.json)
      print_json(http::to_fields(*reply));
    else
      fmt::print("{}\n", reply->execution ? short_id(*reply->execution) : reply->flow->str());
    return ExitCode::ok;
  };
}

Run setup_schedules_remove(Arguments& arguments) {
  auto request = request_for_schedule(arguments);
  arguments.examples("  ff schedules rm nightly        (what it has started goes on)");
  return [request](const Context& context) -> Result<ExitCode> {
    FF_TRY(ask_about_schedule<DeleteSchedule>(context, *request));
    if (context.json) print_json({});
    return ExitCode::ok;
  };
}

}  // namespace ff::cli
