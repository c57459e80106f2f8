#include <thread>

#include <fmt/format.h>

#include "base/try.hpp"
#include "cli/input/stop_signals.hpp"
#include "cli/output/pages.hpp"

namespace ff::cli {
namespace {

// ---- Lanes --------------------------------------------------------------------------------------

constexpr std::array lane_columns{FieldColumn{"lane", Column::Fit::keep},
                                  FieldColumn{"state", Column::Fit::keep},
                                  FieldColumn{"waiting", Column::Fit::keep},
                                  FieldColumn{"active", Column::Fit::keep},
                                  FieldColumn{"all", Column::Fit::drop},
                                  FieldColumn{"workers", Column::Fit::keep},
                                  FieldColumn{"by"},
                                  FieldColumn{"since_ms", Column::Fit::drop},
                                  FieldColumn{"reason"}};

json::object lane_for_table(const LaneInfo& lane) {
  json::object row{{"lane", lane.lane.str()}, {"workers", lane.workers}};
  std::uint64_t all = 0;
  row["waiting"] = 0;
  row["active"] = 0;
  for (const auto& [state, count] : lane.counts) {
    all += count;
    if (state == ExecutionState::waiting || state == ExecutionState::active)
      row[to_string(state)] = count;
  }
  row["all"] = all;
  row["state"] = lane.pause ? "paused" : "active";
  if (!lane.pause) return row;
  for (const auto& field : http::to_fields(*lane.pause)) row[field.key()] = field.value();
  return row;
}

std::shared_ptr<Request> request_for_lane(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  arguments.field("lane", *request, "lane", "LANE", "Its name");
  arguments.of_namespace();
  return request;
}

template <class Op>
Run ask_about_lane(std::shared_ptr<Request> request, std::string_view done,
                   std::string_view unchanged) {
  return [=](const Context& context) -> Result<ExitCode> {
    request->texts["namespace"] = context.settings.text(Setting::ns);
    const auto reply = ask<Op>(context, *request);
    FF_TRY(reply);
    if (context.json)
      print_json(http::to_fields(*reply));
    else
      fmt::print("lane {} {}\n", request->texts.at("lane").get_string().c_str(),
                 reply->unchanged ? unchanged : done);
    return ExitCode::ok;
  };
}

// ---- The audit log ------------------------------------------------------------------------------

constexpr std::array audit_columns{FieldColumn{"at_ms", Column::Fit::keep},
                                   FieldColumn{"who"},
                                   FieldColumn{"what", Column::Fit::keep},
                                   FieldColumn{"subject"},
                                   FieldColumn{"outcome", Column::Fit::keep},
                                   FieldColumn{"details"},
                                   FieldColumn{"from", Column::Fit::drop},
                                   FieldColumn{"namespace", Column::Fit::drop}};

json::object entry_for_table(const AuditEntry& entry) {
  auto row = http::to_fields(entry);
  std::string details;
  for (const auto& [name, text] : entry.details)
    details += fmt::format("{}{}={}", details.empty() ? "" : " ", name, text);
  row["details"] = details;
  if (const auto id = ExecutionId::parse(entry.subject)) row["subject"] = short_id(*id);
  return row;
}

void print_entries(const Context& context, const std::vector<AuditEntry>& entries) {
  if (context.json)
    for (const auto& row : fields_of(entries)) print_json(row);
  std::vector<json::object> rows;
  for (const auto& entry : entries) rows.push_back(entry_for_table(entry));
  if (!context.json && !rows.empty()) print_rows(context, audit_columns, rows);
}

struct AuditArguments {
  Request request;
  std::uint32_t limit = 100;
  bool all = false;
  bool follow = false;
};

// Entries newer than the one with this id, the oldest first.
Result<std::vector<AuditEntry>> newer_than(Engine& engine, ReadAudit read, const std::string& id) {
  std::vector<AuditEntry> entries;
  read.limit = limits::list_page_max;
  do {
    auto page = run_blocking(engine, read);
    FF_TRY(page);
    read.after = page->next;
    for (auto& entry : page->entries) {
      if (entry.id == id) read.after.reset();
      if (entry.id == id) break;
      entries.push_back(std::move(entry));
    }
  } while (read.after);
  std::ranges::reverse(entries);
  return entries;
}

Result<ExitCode> follow(const Context& context, Engine& engine, const ReadAudit& read,
                        std::string last) {
  constexpr Millis every = std::chrono::seconds{1};
  const StopSignals signals;
  const auto token = signals.token();
  std::mutex mutex;
  std::condition_variable_any stopped;
  auto query = read;
  while (!signals.stopped()) {
    const auto entries = newer_than(engine, query, last);
    FF_TRY(entries);
    for (const auto& entry : *entries) {
      last = entry.id;
      query.since = entry.at;
      print_entries(context, {entry});
    }
    flush_output();
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, token, every, [] { return false; });
  }
  return ExitCode::ok;
}

Result<ExitCode> read_log(const Context& context, const AuditArguments& given) {
  if (given.limit == 0) return fail(Errc::invalid_input, "--limit must be at least 1");
  auto request = given.request;
  const auto& ns = context.settings.value(Setting::ns);
  if (ns.source != SettingSource::default_value) request.texts["namespace"] = ns.text;
  auto read = request.to<ReadAudit>();
  FF_TRY(read);
  if (given.follow && (read->until || read->after || given.all))
    return fail(Errc::invalid_input, "--follow goes on from now: it takes no --until, --after or --all");
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);
  auto query = *read;
  std::vector<AuditEntry> shown;
  std::string newest;
  std::size_t seen = 0;
  do {
    const auto left = given.all ? limits::list_page_max : given.limit - seen;
    query.limit = static_cast<std::uint32_t>(std::min<std::size_t>(left, limits::list_page_max));
    auto page = run_blocking(**engine, query);
    FF_TRY(page);
    seen += page->entries.size();
    if (newest.empty() && !page->entries.empty()) newest = page->entries.front().id;
    if (context.json && !given.follow)
      print_entries(context, page->entries);
    else
      std::ranges::move(page->entries, std::back_inserter(shown));
    query.after = page->next;
  } while (query.after && (given.all || seen < given.limit));
  if (given.follow) std::ranges::reverse(shown);
  print_entries(context, shown);
  if (given.follow) return follow(context, **engine, *read, newest);
  if (query.after) fmt::print(stderr, "ff: there may be more; go on with --after {}\n", *query.after);
  return ExitCode::ok;
}

}  // namespace

Run setup_lanes_list(Arguments& arguments) {
  auto options = std::make_shared<PageOptions>();
  options->add_to(arguments);
  arguments.examples("  ff lanes ls\n  ff lanes ls --json | jq 'select(.paused)'");
  return [options](const Context& context) {
    return print_pages<ListLanes>(context, *options, &LaneList::lanes, lane_columns,
                                  lane_for_table);
  };
}

Run setup_lanes_pause(Arguments& arguments) {
  auto request = request_for_lane(arguments);
  arguments.field("--reason", *request, "reason", "TEXT", "Why, for those who ask");
  arguments.examples(
      "  ff lanes pause gpu --reason 'driver update'   (running work goes on)\n"
      "  ff lanes resume gpu");
  return ask_about_lane<PauseLane>(request, "is paused", "was paused already");
}

Run setup_lanes_resume(Arguments& arguments) {
  auto request = request_for_lane(arguments);
  arguments.examples("  ff lanes resume gpu");
  return ask_about_lane<ResumeLane>(request, "is resumed", "was not paused");
}

Run setup_audit(Arguments& arguments) {
  auto given = std::make_shared<AuditArguments>();
  auto& request = given->request;
  arguments.field("--who", request, "who", "NAME", "Only by this caller");
  arguments.field("--what", request, "what", "NAME", "Only this operation, such as PauseLane");
  arguments.time_field("--since", request, "since_ms", Side::past,
                       "Only since then: a time, or 2h for two hours ago");
  arguments.time_field("--until", request, "until_ms", Side::past, "Only before then");
  arguments.option("--limit", given->limit, "How many at most (default: 100)");
  arguments.flag("--all", given->all, "As many as there are");
  arguments.flag("--follow", given->follow, "The oldest first, and then each as it is added");
  arguments.field("--after", request, "after", "TEXT", "Go on where an earlier page ended");
  arguments.of_namespace();
  arguments.examples(
      "  ff audit --since 1d\n"
      "  ff audit --who ada --what Cancel --json | jq -r .subject\n"
      "  ff audit --follow");
  return [given](const Context& context) { return read_log(context, *given); };
}

Run setup_whoami(Arguments& arguments) {
  arguments.engine();
  arguments.examples("  ff whoami\n  ff whoami --json | jq -r '.roles[]'");
  return ask_and_print<WhoAmI>(std::make_shared<Request>());
}

}  // namespace ff::cli
