#include <algorithm>
#include <map>
#include <utility>

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
  bool all = false;
};

std::string note_of(const Frame& frame) {
  if (frame.kind == FrameKind::attempt)
    return fmt::format("— attempt {} begins; it may repeat what stands above —", frame.attempt);
  return fmt::format("— frames {} to {} were lost in a crash —", frame.lost_from.value_or(0),
                     frame.number);
}

// Prints pages of streams: for a program one object per line, for a person the bytes as they are.
class PagePrinter {
 public:
  PagePrinter(const Context& context, bool names_streams)
      : context_(context), names_streams_(names_streams) {}

  // `is_summary`: each frame is a patch, which gets a line of its own.
  void print(const StreamName& stream, const StreamPage& page, bool is_summary) {
    if (page.trimmed_to) print_trimmed(stream, *page.trimmed_to);
    if (page.lost_from) print_lost(stream, *page.lost_from);
    if (page.snapshot && context_.json) print_fields(stream, http::to_fields(*page.snapshot));
    if (page.snapshot && !context_.json)
      print_text(stream, for_terminal(page.snapshot->document) + "\n", Colour::none);
    for (const auto& frame : page.frames) print_frame(stream, frame, is_summary);
    flush_output();
  }

  // The last line: how the execution ended.
  void print_end(ExecutionState end) {
    if (context_.json) return print_json({{"end", to_string(end)}});
    end_line();
    flush_output();
    fmt::print(stderr, "ff: the execution is {}\n", to_string(end));
  }

 private:
  void print_fields(const StreamName& stream, json::object fields) {
    if (names_streams_) fields["stream"] = stream.str();
    print_json(fields);
  }

  void print_note(const std::string& line) {
    const auto& screen = standard_output();
    end_line();
    flush_output();
    fmt::print(stderr, "{}\n",
               screen.terminal && screen.colours ? coloured(line, Colour::yellow) : line);
  }

  std::string prefix(const StreamName& stream) const {
    return names_streams_ ? fmt::format("{} | ", stream.str()) : "";
  }

  void print_trimmed(const StreamName& stream, std::uint64_t number) {
    if (context_.json) return print_fields(stream, {{"trimmed_to", number}});
    print_note(fmt::format("ff: {}the frames before {} are not kept any more", prefix(stream), number));
  }

  void print_lost(const StreamName& stream, std::uint64_t number) {
    if (context_.json) return print_fields(stream, {{"lost_from", number}});
    print_note(
        fmt::format("ff: {}the stream ends at {}; what was behind it, if anything, was lost in a crash",
                    prefix(stream), number));
  }

  void print_frame(const StreamName& stream, const Frame& frame, bool is_summary) {
    if (context_.json) return print_fields(stream, http::to_fields(frame));
    if (frame.kind != FrameKind::data) return print_note(prefix(stream) + note_of(frame));
    auto text = standard_output().terminal ? for_terminal(frame.bytes) : frame.bytes;
    if (is_summary) text += '\n';
    print_text(stream, std::move(text), colour_of_attempt(frame.attempt));
  }

  // With names, the lines of a stream begin with its own, and a line of another stream is ended before.
  void print_text(const StreamName& stream, std::string text, Colour colour) {
    if (names_streams_) {
      if (line_of_ != stream.str()) end_line();
      text = named_lines(stream, text);
      line_of_ = text.ends_with('\n') ? "" : stream.str();
    }
    const auto& screen = standard_output();
    if (screen.terminal && screen.colours && colour != Colour::none) text = coloured(text, colour);
    std::fwrite(text.data(), 1, text.size(), stdout);
  }

  std::string named_lines(const StreamName& stream, std::string_view text) const {
    std::string named;
    bool begins_line = line_of_.empty();
    for (const char c : text) {
      if (begins_line) named += prefix(stream);
      named += c;
      begins_line = c == '\n';
    }
    return named;
  }

  void end_line() {
    if (!std::exchange(line_of_, "").empty()) std::fputc('\n', stdout);
  }

  const Context& context_;
  bool names_streams_;
  std::string line_of_;  // the stream whose line is not ended yet
};

// Reads pages, and waits for a server that restarts.
class TailReader {
 public:
  TailReader(Engine& engine, const StopSignals& signals) : engine_(engine), signals_(signals) {}

  template <class Op>
  Result<typename Op::Reply> read(const Op& query, Millis wait) {
    auto reply = run_within(
        {.timeout = wait + outage_max + frames_answer_time, .stop = signals_.token()}, engine_,
        run_repeatedly(engine_, Op(query), {.limit = outage_, .timeout = frames_answer_time}));
    outage_ = outage_max;
    return reply;
  }
  bool is_stopped() const { return signals_.stopped(); }

 private:
  Engine& engine_;
  const StopSignals& signals_;
  // At the first call, which does not wait, a server that is not there is an error.
  Millis outage_{0};
};

// As `ff result` says it.
Result<ExitCode> exit_code_of_end(PagePrinter& printer, ExecutionState end) {
  printer.print_end(end);
  return end == ExecutionState::completed ? ExitCode::ok : ExitCode::failed;
}

Result<bool> is_summary(TailReader& reader, const ReadStream& query) {
  const auto list = reader.read(ListStreams{query.id}, Millis{0});
  FF_TRY(list);
  const auto stream = std::ranges::find(list->streams, query.stream, &StreamInfo::name);
  return stream != list->streams.end() && stream->kind == StreamKind::summary;
}

Result<ExitCode> tail_one(const Context& context, TailReader& reader, ReadStream query,
                          bool no_follow) {
  PagePrinter printer(context, false);
  // A reader that begins at 0 gets a summary's document before its patches.
  Result<bool> summary = false;
  if (query.from > 0) summary = is_summary(reader, query);
  if (!summary && reader.is_stopped()) return ExitCode::ok;
  FF_TRY(summary);
  while (true) {
    const auto page = reader.read(query, query.wait);
    if (!no_follow) query.wait = wait_for_frames;
    if (!page && reader.is_stopped()) break;
    FF_TRY(page);
    if (page->snapshot) summary = true;
    printer.print(query.stream, *page, *summary);
    const bool has_news = page->next != query.from || page->snapshot;
    query.from = page->next;
    if (page->end) return exit_code_of_end(printer, *page->end);
    if (no_follow && !has_news) break;
  }
  fmt::print(stderr, "ff: go on with --from {}\n", query.from);
  return ExitCode::ok;
}

// All streams of an execution, also those that begin later.
class AllStreams {
 public:
  AllStreams(const Context& context, TailReader& reader, const ExecutionId& id)
      : printer_(context, true), reader_(reader), id_(id) {}

  Result<ExitCode> tail(bool no_follow) {
    while (!reader_.is_stopped()) {
      const auto read = read_once();
      if (!read && reader_.is_stopped()) break;
      FF_TRY(read);
      if (*read) continue;
      // Nothing came after the end, as of a moment at which it was there.
      if (end_) return exit_code_of_end(printer_, *end_);
      if (no_follow) break;
      const auto waited = wait();
      if (!waited && reader_.is_stopped()) break;
      FF_TRY(waited);
    }
    return ExitCode::ok;
  }

 private:
  // Whether there was something.
  Result<bool> read_once() {
    const bool had_ended = end_.has_value();
    const auto list = reader_.read(ListStreams{id_}, Millis{0});
    FF_TRY(list);
    bool has_news = false;
    for (const auto& stream : list->streams) {
      auto& from = from_[stream.name];
      if (from >= stream.next && end_) continue;
      const auto page = reader_.read(
          ReadStream{.id = id_, .stream = stream.name, .from = from, .limit = limits::stream_page_max},
          Millis{0});
      FF_TRY(page);
      printer_.print(stream.name, *page, stream.kind == StreamKind::summary);
      if (page->next != from) {
        has_news = true;
        newest_ = stream.name;
      }
      from = page->next;
      if (page->end) end_ = page->end;
    }
    return has_news || had_ended != end_.has_value();
  }

  // For a frame of the stream that was written to last; others are looked at between.
  Result<void> wait() {
    const auto page = reader_.read(ReadStream{.id = id_,
                                              .stream = newest_,
                                              .from = from_[newest_],
                                              .limit = 1,
                                              .wait = look_at_others},
                                   look_at_others);
    FF_TRY(page);
    if (page->end) end_ = page->end;
    return {};
  }

  static constexpr Millis look_at_others{500};
  PagePrinter printer_;
  TailReader& reader_;
  ExecutionId id_;
  std::map<StreamName, std::uint64_t> from_;
  StreamName newest_ = default_stream();
  std::optional<ExecutionState> end_;
};

Result<ExitCode> run(const Context& context, const TailArguments& given) {
  auto request = given.request;
  const bool names_one = request.texts.contains("stream") || request.texts.contains("from");
  if (given.all && names_one)
    return fail(Errc::invalid_input, "--all reads every stream from its beginning; leave out --stream and --from");
  if (!request.texts.contains("stream")) request.texts["stream"] = default_stream().str();
  auto query = request.to<ReadStream>();
  FF_TRY(query);
  query->limit = limits::stream_page_max;
  const StopSignals signals;
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);
  TailReader reader(**engine, signals);
  if (given.all) return AllStreams(context, reader, query->id).tail(given.no_follow);
  return tail_one(context, reader, std::move(*query), given.no_follow);
}

}  // namespace

Run setup_tail(Arguments& arguments) {
  auto given = std::make_shared<TailArguments>();
  arguments.execution(given->request);
  arguments.field("--stream", given->request, "stream", "NAME", "The stream (default: output)");
  arguments.field("--from", given->request, "from", "NUMBER", "The first frame (default: 0)");
  arguments.flag("--all", given->all, "All streams of the execution, each line with its stream's name");
  arguments.flag("--no-follow", given->no_follow, "End when there are no more for now");
  arguments.examples(
      "  ff tail ID                (exit code as of ff result)\n"
      "  ff tail ID --stream log --json | jq -r .bytes\n"
      "  ff tail ID --from 120 --no-follow\n"
      "  ff tail ID --all");
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
