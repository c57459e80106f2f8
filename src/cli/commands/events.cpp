#include <fmt/format.h>

#include "base/try.hpp"
#include "cli/engine.hpp"
#include "cli/event_stream.hpp"
#include "cli/input/stop_signals.hpp"
#include "cli/output/output.hpp"

namespace ff::cli {
namespace {

struct EventsArguments {
  Request request;
  std::uint32_t count = 0;
  bool no_follow = false;
};

Result<ExitCode> run(const Context& context, const EventsArguments& given) {
  auto request = given.request;
  const auto& ns = context.settings.value(Setting::ns);
  if (ns.source != SettingSource::default_value) request.texts["namespace"] = ns.text;
  auto query = request.to<ReadEvents>();
  FF_TRY(query);
  const StopSignals signals;
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);
  std::uint32_t left = given.count;
  EventStream stream(**engine, std::move(*query), signals.token());
  while (true) {
    // The last page is no longer than what is wanted, so that its end is where to go on.
    const auto page = stream.next({.limit = left, .wait = !given.no_follow});
    FF_TRY(page);
    for (const auto& event : page->events) print_event(context, event);
    left -= given.count > 0 ? static_cast<std::uint32_t>(page->events.size()) : 0;
    const bool done = (given.count > 0 && left == 0) || (given.no_follow && page->events.empty());
    if (!done && !signals.stopped()) continue;
    if (!page->next.empty()) fmt::print(stderr, "ff: go on with --after {}\n", page->next);
    return ExitCode::ok;
  }
}

}  // namespace

Run setup_events(Arguments& arguments) {
  auto given = std::make_shared<EventsArguments>();
  auto& request = given->request;
  arguments.field("--lane", request, "lane", "NAME", "Only of this lane");
  arguments.field("--kind", request, "kind", "NAME", "Only of this kind");
  arguments.field("--id", request, "id", "ID", "Only of this execution");
  arguments.field("--flow", request, "flow", "ID", "Only of this flow and its nodes");
  arguments.field("--tag", request, "tag", "KEY=VALUE", "Only of executions and flows with this tag");
  arguments.field("--types", request, "types", "LIST",
                  "Only these, comma-separated: submitted, claimed, completed, failed, …");
  arguments.field("--after", request, "after", "TEXT",
                  "Go on where an earlier run ended (default: from now on)");
  arguments.option("--count", given->count, "End after so many");
  arguments.flag("--no-follow", given->no_follow, "End when there are no more for now");
  arguments.settings({Setting::ns});
  arguments.engine();
  arguments.examples(
      "  ff events --lane demo\n"
      "  ff events --types failed,expired --json | while read -r event; do …; done\n"
      "  ff events --after 0123456789ab-17 --no-follow");
  return [given](const Context& context) { return run(context, *given); };
}

}  // namespace ff::cli
