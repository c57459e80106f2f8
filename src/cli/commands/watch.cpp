#include <thread>

#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "cli/engine.hpp"
#include "cli/event_stream.hpp"
#include "cli/input/stop_signals.hpp"
#include "cli/output/frame_text.hpp"
#include "cli/output/listing.hpp"
#include "cli/output/live_area.hpp"

namespace ff::cli {
namespace {

constexpr std::array watched_columns{FieldColumn{"id", Column::Fit::keep},
                                     FieldColumn{"state", Column::Fit::keep},
                                     FieldColumn{"lane"},
                                     FieldColumn{"kind"},
                                     FieldColumn{"attempts"},
                                     FieldColumn{"worker", Column::Fit::drop},
                                     FieldColumn{"progress"}};

json::object watched_fields(const ExecutionInfo& execution) {
  auto fields = http::to_fields(execution);
  if (const auto& progress = execution.progress)
    fields["progress"] =
        (progress->percent ? fmt::format("{}% ", *progress->percent) : "") + progress->message;
  return fields;
}

constexpr Millis answer_time = std::chrono::seconds{30};

// A signal ends the wait for a server that does not answer.
template <class Op>
Result<typename Op::Reply> ask(Engine& engine, const StopSignals& signals, Op operation) {
  return run_within({.timeout = answer_time, .stop = signals.token()}, engine,
                    std::move(operation));
}

std::unexpected<Error> not_ended(const ExecutionId& id) {
  return fail(Errc::execution_not_terminal,
              fmt::format("execution {} has not ended; ff watch {} follows it again", short_id(id),
                          short_id(id)));
}

constexpr Millis draw_interval{100};  // at the least: events may come faster than anyone reads
constexpr Millis look_again{500};     // at an execution that writes

// As wide as the screen, so that it takes one row.
std::string cut(const std::string& line, std::size_t width) {
  if (width == std::string_view::npos || line.size() + 2 <= width) return line;
  return to_valid_utf8(line.substr(0, width > 3 ? width - 3 : 0), width * 3) + "…";
}

// Where the newest line of an execution's output stands, and what comes behind it.
struct Output {
  std::string line;  // empty: none
  std::uint64_t next = 0;
};
Result<Output> output_of(Engine& engine, const StopSignals& signals, const ExecutionId& id) {
  constexpr std::uint64_t frames_back = 20;
  constexpr std::size_t line_bytes_max = 200;
  const auto list = ask(engine, signals, ListStreams{id});
  FF_TRY(list);
  for (const auto& stream : list->streams) {
    if (stream.name != default_stream()) continue;
    const auto page = ask(engine, signals,
                          ReadStream{.id = id,
                                     .from = stream.next - std::min(stream.next, frames_back),
                                     .limit = limits::stream_page_max});
    FF_TRY(page);
    return Output{.line = newest_line(page->frames, line_bytes_max), .next = page->next};
  }
  return Output{};
}

// One execution, until it ends or a signal comes; then as `ff result` says it.
Result<ExitCode> watch_one(const Context& context, Engine& engine, const ExecutionId& id,
                           const StopSignals& signals) {
  const auto screen = standard_output();
  LiveArea area;
  std::string shown;
  EventStream events(engine, {.id = id}, signals.token());
  // From here on no change goes unseen.
  FF_TRY(events.next({.wait = false}));
  while (!signals.stopped()) {
    const auto execution = ask(engine, signals, GetExecution{id});
    if (signals.stopped()) break;
    FF_TRY(execution);
    const json::object fields[] = {watched_fields(*execution)};
    auto text = context.json ? json::serialize(http::to_fields(*execution)) + "\n"
                             : table_of(watched_columns, fields, screen);
    const auto output = output_of(engine, signals, id);
    if (signals.stopped()) break;
    FF_TRY(output);
    if (!context.json && !output->line.empty())
      text += fmt::format("  {}\n", cut(output->line, screen.width));
    if (screen.terminal && !context.json) {
      area.draw(text);
    } else if (text != shown) {
      // A table's titles are printed once.
      fmt::print("{}", shown.empty() || context.json ? text : text.substr(text.find('\n') + 1));
      flush_output();
    }
    shown = text;
    if (is_terminal(execution->state)) {
      FF_TRY(ask(engine, signals, GetResult{.id = id}));
      return ExitCode::ok;
    }
    // On a terminal the newest line is drawn as it comes; appends to streams are no events.
    const bool is_drawn = screen.terminal && !context.json && output->next > 0;
    FF_TRY(events.next({.wait = !is_drawn}));
    if (!is_drawn) continue;
    std::this_thread::sleep_for(draw_interval);
    const auto more =
        ask(engine, signals,
            ReadStream{.id = id, .from = output->next, .limit = 1, .wait = look_again});
    if (signals.stopped()) break;
    FF_TRY(more);
  }
  return not_ended(id);
}

struct Watched {
  Namespace ns;
  std::optional<LaneId> lane;
};

Result<std::string> dashboard(Engine& engine, const Watched& watched, const Screen& screen,
                              const StopSignals& signals) {
  const auto counts = ask(engine, signals, CountExecutions{.ns = watched.ns, .lane = watched.lane});
  FF_TRY(counts);
  auto text = counts_table(*counts, screen) + "\n";
  const auto taken = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 2;
  const auto rows = screen.height > taken ? screen.height - taken : 1;
  const auto list =
      ask(engine, signals,
          ListExecutions{.ns = watched.ns,
                         .lane = watched.lane,
                         .limit = std::min<std::uint32_t>(static_cast<std::uint32_t>(rows),
                                                          limits::list_page_max)});
  FF_TRY(list);
  std::vector<json::object> executions;
  for (const auto& execution : list->executions) executions.push_back(watched_fields(execution));
  return text + table_of(watched_columns, executions, screen);
}

// A lane or everything, until a signal: on a terminal how things stand, else what happens.
Result<ExitCode> watch_all(const Context& context, Engine& engine, const Watched& watched,
                           const StopSignals& signals) {
  const bool drawn = standard_output().terminal && !context.json;
  LiveArea area;
  EventStream events(engine, {.ns = watched.ns, .lane = watched.lane}, signals.token());
  for (bool first = true; !signals.stopped(); first = false) {
    const auto page = events.next({.wait = !first});
    FF_TRY(page);
    if (!drawn) {
      for (const auto& event : page->events) print_event(context, event);
      continue;
    }
    const auto text = dashboard(engine, watched, standard_output(), signals);
    if (signals.stopped()) break;
    FF_TRY(text);
    area.draw(*text);
    std::this_thread::sleep_for(draw_interval);
  }
  return ExitCode::ok;
}

struct WatchArguments {
  std::string id;
  std::string lane;
};

Result<ExitCode> run(const Context& context, const WatchArguments& given) {
  Request request;
  request.texts["namespace"] = context.settings.text(Setting::ns);
  if (!given.lane.empty()) request.texts["lane"] = given.lane;
  if (!given.id.empty()) request.texts["id"] = given.id;
  const auto query = request.to<ReadEvents>();
  FF_TRY(query);
  const StopSignals signals;
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);
  if (query->id) return watch_one(context, **engine, *query->id, signals);
  return watch_all(context, **engine, {*query->ns, query->lane}, signals);
}

}  // namespace

Run setup_watch(Arguments& arguments) {
  auto given = std::make_shared<WatchArguments>();
  arguments.positional("id", given->id, "An execution, until it ends (default: all)",
                       Arguments::Need::optional, "ID");
  arguments.option("--lane", given->lane, "NAME", "Only this lane");
  arguments.settings({Setting::ns});
  arguments.engine();
  arguments.examples(
      "  ff watch                  (until Ctrl-C)\n"
      "  ff watch --lane demo\n"
      "  ff watch ID               (exit code as of ff result)");
  return [given](const Context& context) { return run(context, *given); };
}

}  // namespace ff::cli
