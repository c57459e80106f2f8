#include <fmt/format.h>

#include "base/try.hpp"
#include "cli/engine.hpp"
#include "cli/input/stop_signals.hpp"
#include "cli/output/frame_text.hpp"
#include "cli/output/output.hpp"
#include "sdk/client/blocking.hpp"
#include "sdk/client/repeat.hpp"

namespace ff::cli {
namespace {

constexpr Millis wait_for_frames = std::chrono::seconds{20};
constexpr Millis frames_answer_time = std::chrono::seconds{30};  // beyond the wait
// So long, a server that restarts is waited for.
constexpr Millis outage_max = std::chrono::minutes{2};

struct TailArguments {
  Request request;
  bool no_follow = false;
};

void print_frame(const Context& context, const Frame& frame) {
  if (context.json) return print_json(http::to_fields(frame));
  const bool terminal = standard_output().terminal;
  if (frame.kind != FrameKind::data) {
    const auto line =
        frame.kind == FrameKind::attempt
            ? fmt::format("— attempt {} begins; it may repeat what stands above —", frame.attempt)
            : fmt::format("— frames {} to {} were lost in a crash —", frame.lost_from.value_or(0),
                          frame.number);
    fmt::print(stderr, "{}\n",
               terminal && standard_output().colours ? coloured(line, Colour::yellow) : line);
    return;
  }
  auto text = terminal ? for_terminal(frame.bytes) : frame.bytes;
  const auto colour = colour_of_attempt(frame.attempt);
  if (terminal && standard_output().colours && colour != Colour::none)
    text = coloured(text, colour);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_snapshot(const Context& context, const StreamSnapshot& snapshot) {
  if (context.json) return print_json(http::to_fields(snapshot));
  fmt::print("{}\n", for_terminal(snapshot.document));
}

Result<ExitCode> run(const Context& context, const TailArguments& given) {
  auto query = given.request.to<ReadStream>();
  FF_TRY(query);
  query->limit = limits::stream_page_max;
  query->wait = Millis{0};
  const StopSignals signals;
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);
  Millis outage{
      0};  // at the first page, which does not wait, a server that is not there is an error
  while (true) {
    const auto page = run_within(
        {.timeout = query->wait + outage_max + frames_answer_time, .stop = signals.token()},
        **engine,
        run_repeatedly(**engine, ReadStream(*query),
                       {.limit = outage, .timeout = frames_answer_time}));
    outage = outage_max;
    if (!given.no_follow) query->wait = wait_for_frames;
    if (!page && signals.stopped()) break;
    FF_TRY(page);
    if (page->trimmed_to)
      fmt::print(stderr, "ff: the frames before {} are not kept any more\n", *page->trimmed_to);
    if (page->lost_from)
      fmt::print(stderr, "ff: the stream ends at {}; what was behind it, if anything, was lost in a crash\n", *page->lost_from);
    if (page->snapshot) print_snapshot(context, *page->snapshot);
    for (const auto& frame : page->frames) print_frame(context, frame);
    std::fflush(stdout);
    query->from = page->next;
    if (page->end) {
      fmt::print(stderr, "ff: the execution is {}\n", to_string(*page->end));
      return ExitCode::ok;
    }
    if (given.no_follow && page->frames.empty()) break;
  }
  fmt::print(stderr, "ff: go on with --from {}\n", query->from);
  return ExitCode::ok;
}

}  // namespace

Run setup_tail(Arguments& arguments) {
  auto given = std::make_shared<TailArguments>();
  arguments.execution(given->request);
  given->request.texts["stream"] = default_stream().str();
  arguments.field("--stream", given->request, "stream", "NAME", "The stream (default: output)");
  arguments.field("--from", given->request, "from", "NUMBER", "The first frame (default: 0)");
  arguments.flag("--no-follow", given->no_follow, "End when there are no more for now");
  arguments.examples(
      "  ff tail ID\n"
      "  ff tail ID --stream log --json | jq -r .bytes\n"
      "  ff tail ID --from 120 --no-follow");
  return [given](const Context& context) { return run(context, *given); };
}

Run setup_ticket(Arguments& arguments) {
  struct Given {
    Request request;
    Millis ttl = limits::stream_ticket_ttl_default;
  };
  auto given = std::make_shared<Given>();
  arguments.execution(given->request);
  arguments.option("--ttl", given->ttl, "How long it is valid; at most a day (default: 15m)");
  arguments.examples(
      "  ff ticket ID\n"
      "  curl -N -H 'Accept: text/event-stream' \\\n"
      "    \"$FF_URL/v1/executions/ID/streams/output?ticket=$(ff ticket ID)\"");
  return [given](const Context& context) -> Result<ExitCode> {
    auto create = given->request.to<CreateStreamTicket>();
    FF_TRY(create);
    create->ttl = given->ttl;
    const auto engine = open_engine(context.settings);
    FF_TRY(engine);
    const auto ticket = run_within({.timeout = frames_answer_time}, **engine, std::move(*create));
    FF_TRY(ticket);
    if (context.json)
      print_json(http::to_fields(*ticket));
    else
      fmt::print("{}\n", ticket->ticket);
    return ExitCode::ok;
  };
}

}  // namespace ff::cli
