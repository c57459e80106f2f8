#include <flowfabric/limits.hpp>
#include <flowfabric/worker.hpp>

#include <atomic>
#include <limits>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/log.hpp"
#include "base/text/redact.hpp"
#include "base/try.hpp"
#include "cli/child_process.hpp"
#include "cli/engine.hpp"
#include "cli/input/stop_signals.hpp"
#include "cli/input_files.hpp"
#include "cli/service.hpp"
#include "http/wire/json_codec.hpp"

namespace ff::cli {
namespace {

constexpr std::uint32_t any_number = std::numeric_limits<std::uint32_t>::max();

struct WorkArguments {
  std::string command;
  WorkerOptions worker;
  std::uint32_t concurrency = 1;
  std::vector<std::string> kinds;
  std::string content_type;
  bool stream = false;  // the output, while it is made
  std::uint32_t max = any_number;
  bool once = false;
  std::vector<std::string> withheld;  // variables that a command does not get
  Millis delay = std::chrono::seconds{30};
  Millis grace = std::chrono::seconds{10};
};

// Exit codes with a meaning, besides 0 for success; the names are those of sysexits.h.
constexpr int exit_data_error = 65;
constexpr int exit_temporary_failure = 75;
constexpr int exit_configuration_error = 78;

constexpr std::size_t error_bytes_max = 1024;          // that are kept as the reason of a failure
constexpr std::size_t suspend_bytes_max = 256 * 1024;  // of a command's wish to be suspended

// The files that a command reads after a suspension.
struct WakeFiles {
  std::string signals = {};  // one JSON object per line
  std::string state = {};
};

std::string tag_variable(std::string_view key) {
  std::string name = "FF_TAG_";
  for (const char c : key)
    name += std::isalnum(static_cast<unsigned char>(c))
                ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                : '_';
  return name;
}

// Tags that are too large for an environment are left out, all of them, and FF_TAGS_OMITTED says so.
void add_tags(const Tags& tags, std::vector<std::string>& environment) {
  constexpr std::size_t tags_bytes_max = 64 * 1024;  // Linux takes 128 KiB per variable
  auto json = boost::json::serialize(http::Codec<Tags>::write(tags));
  if (json.size() > tags_bytes_max) {
    environment.emplace_back("FF_TAGS_OMITTED=true");
    return;
  }
  environment.push_back("FF_TAGS=" + std::move(json));
  for (const auto& [key, value] : tags)
    environment.push_back(fmt::format("{}={}", tag_variable(key), value));
}

std::vector<std::string> environment_of(const Task& task) {
  std::vector<std::string> all;
  const auto add = [&](std::string_view name, const std::string& value) {
    all.push_back(fmt::format("{}={}", name, value));
  };
  add("FF_EXECUTION_ID", short_id(task.id()));
  add("FF_NAMESPACE", task.ns().str());
  add("FF_LANE", task.lane().str());
  add("FF_KIND", task.kind().str());
  add("FF_ATTEMPT_INDEX", std::to_string(task.attempt_index()));
  add("FF_ATTEMPT_TYPE", std::string(to_string(task.attempt_type())));
  add("FF_RESUMED", task.resumed() ? "true" : "false");
  const auto add_time = [&](std::string_view name, const std::optional<TimePoint>& time) {
    if (time) add(name, std::to_string(time->time_since_epoch().count()));
  };
  add_time("FF_ATTEMPT_DEADLINE_MS", task.attempt_deadline());
  add_time("FF_DEADLINE_MS", task.deadline());
  std::vector<std::string> budgets;
  for (const auto& budget : task.budgets()) budgets.push_back(budget.str());
  add("FF_BUDGET_IDS", fmt::format("{}", fmt::join(budgets, " ")));
  if (const auto& wake = task.wake()) {
    add("FF_WAKE", std::string(to_string(wake->cause)));
    add("FF_WAKE_REASON", wake->reason);
  }
  if (task.flow()) add("FF_FLOW_ID", task.flow()->str());
  if (task.node()) add("FF_NODE", task.node()->str());
  add("FF_SUSPEND_FD", std::to_string(request_file));
  add("FF_SIGNALS_FILE", fmt::format("/dev/fd/{}", first_input_file));
  add("FF_STATE_FILE", fmt::format("/dev/fd/{}", first_input_file + 1));
  add("FF_LEASE_ID", task.fence().lease_id.str());
  add("FF_LEASE_EPOCH", std::to_string(std::to_underlying(task.fence().lease_epoch)));
  add("FF_ATTEMPT_ID", task.fence().attempt_id.str());
  if (task.content_type()) add("FF_CONTENT_TYPE", task.content_type()->str());
  if (task.traceparent()) add("TRACEPARENT", task.traceparent()->str());
  add_tags(task.tags(), all);
  return all;
}

// Variables of this process that hold a secret: a command has no use for the worker's rights.
std::vector<std::string> secret_variables(const Settings& settings) {
  std::vector<std::string> names;
  for (const auto& setting : settings_table())
    if (setting.secret) names.emplace_back(setting.variable);
  const auto& url = settings.text(Setting::url);
  if (without_password(url) != url) names.emplace_back(info(Setting::url).variable);
  return names;
}

// Only a run that may have signals asks for them: most executions never wait.
WakeFiles wake_files(Task& task) {
  if (!task.wake() && task.attempt_index() == 0) return {};
  WakeFiles files{.state = task.suspension_state()};
  for (const ReceivedSignal& signal : task.signals())
    files.signals += boost::json::serialize(http::to_fields(signal)) + '\n';
  return files;
}

// A command asks with names of signals, one per line, any of which resumes it; or with the JSON body of the
// HTTP API's suspend, without the fence.
Result<SuspendOptions> suspension_of(const std::string& request, const Task& task) {
  Request fields;
  if (request.starts_with('{')) {
    boost::system::error_code malformed;
    auto body = boost::json::parse(request, malformed);
    if (malformed) return fail(Errc::invalid_input, "is not JSON: " + malformed.message());
    fields.values = std::move(body.as_object());
  } else {
    boost::json::array any;
    std::istringstream lines(request);
    for (std::string name; std::getline(lines, name);)
      if (!name.empty()) any.push_back(boost::json::object{{"signal", name}});
    fields.set("condition.any", std::move(any));
  }
  fields.texts["id"] = task.id().str();
  fields.texts["lease_id"] = task.fence().lease_id.str();
  fields.texts["lease_epoch"] = std::to_string(std::to_underlying(task.fence().lease_epoch));
  fields.texts["attempt_id"] = task.fence().attempt_id.str();
  for (const auto& [own, value] : fields.texts)
    if (const auto* given = fields.values.if_contains(own); given && *given != value)
      return fail(Errc::invalid_input,
                  fmt::format("{} is a field that the worker sets itself; leave it out",
                              std::string_view(own)));
  auto suspend = fields.to<Suspend>();
  FF_TRY(suspend);
  SuspendOptions options{.condition = std::move(suspend->condition),
                         .waitpoints = std::move(suspend->waitpoints),
                         .reason = suspend->reason,
                         .on_timeout = suspend->on_timeout,
                         .resume_delay = suspend->resume_delay,
                         .state = std::move(suspend->state),
                         .id = suspend->suspension_id};
  if (suspend->timeout) options.timeout = suspend->timeout;
  return options;
}

Outcome pause(const WorkArguments& given, const Task& task, const std::string& request) {
  if (request.empty()) return Outcome::delayed(given.delay);
  auto options = suspension_of(request, task);
  if (options) return Outcome::suspended(std::move(*options));
  return Outcome::failed({.reason = fmt::format("the request that the command wrote to file {}: {}",
                                                request_file, options.error().message),
                          .retryable = false});
}

std::string reason_of(const ChildEnd& end) {
  const bool exited = end.how == ChildEnd::How::exited;
  auto reason = fmt::format("the command {} {}",
                            exited ? "ended with exit code" : "was killed by signal", end.code);
  auto said = end.error;
  said.erase(said.find_last_not_of(" \r\n\t") + 1);
  return said.empty() ? reason : fmt::format("{}: {}", reason, said);
}

Outcome outcome_of(const WorkArguments& given, const Task& task, ChildEnd end) {
  switch (end.how) {
    case ChildEnd::How::printed_too_much:
      return Outcome::failed({.reason = fmt::format("the command printed more than {} bytes",
                                                    limits::result_bytes_max),
                              .retryable = false});
    case ChildEnd::How::stopped:
      // A command that finishes although it is told to stop has finished.
      if (end.code != 0) task.throw_if_cancelled();
      break;
    case ChildEnd::How::killed:
      return Outcome::failed(
          {.reason = reason_of(end), .category = fmt::format("signal_{}", end.code)});
    case ChildEnd::How::exited: break;
  }
  switch (end.code) {
    case 0: return Outcome::completed(std::move(end.output), given.content_type);
    case exit_temporary_failure: return pause(given, task, end.request);
    case exit_data_error:
    case exit_configuration_error:
      return Outcome::failed({.reason = reason_of(end), .retryable = false});
    default:
      return Outcome::failed(
          {.reason = reason_of(end), .category = fmt::format("exit_{}", end.code)});
  }
}

// The output of a command, line by line as frames of the stream `output`.
class OutputStream {
 public:
  explicit OutputStream(Task& task) : out_(task.stream()) {}

  void add(std::string_view bytes) {
    line_ += bytes;
    while (!line_.empty()) {
      const auto newline = line_.find('\n');
      const bool is_whole = newline != std::string::npos;
      if (!is_whole && line_.size() < limits::frame_bytes_max) return;
      const auto size = std::min(is_whole ? newline + 1 : line_.size(), limits::frame_bytes_max);
      write(line_.substr(0, size));
      line_.erase(0, size);
    }
  }
  // The rest behind the last newline.
  void end() {
    if (!line_.empty()) write(std::exchange(line_, {}));
  }

 private:
  // A failure meets the worker again when it sends the rest, before the attempt ends; a command that is to stop is
  // stopped by its task.
  void write(std::string line) {
    if (failed_) return;
    try {
      out_.write(std::move(line), "log");
    } catch (const std::exception&) {
      failed_ = true;
    }
  }

  StreamWriter out_;
  std::string line_;
  bool failed_ = false;
};

// Runs the command for one execution after the other, `max` at most.
class ShellWorker {
 public:
  ShellWorker(const WorkArguments& given, StopSignals& signals)
      : given_(given), signals_(signals) {}

  Outcome work(Task& task) {
    if (given_.max != any_number && started_++ >= given_.max)
      return Outcome::handed_back("this worker has done its share");
    const Share share(*this);
    return run(task);
  }

 private:
  // One of `max` executions, until it has ended in whatever way: a cancelled one counts too.
  struct Share {
    explicit Share(ShellWorker& w) : worker(w) {}
    ~Share() {
      const auto& max = worker.given_.max;
      if (max != any_number && ++worker.finished_ == max) worker.signals_.stop();
    }
    ShellWorker& worker;
  };

  Outcome run(Task& task) const {
    auto [signals, state] = wake_files(task);
    auto environment = environment_of(task);
    std::optional<InputFiles> inputs;
    if (task.flow()) {
      inputs.emplace(task);
      environment.push_back("FF_INPUTS_DIR=" + inputs->directory().string());
    }
    std::optional<OutputStream> stream;
    if (given_.stream) stream.emplace(task);
    ChildCommand command{.arguments = {"/bin/sh", "-c", given_.command},
                         .environment = std::move(environment),
                         .withheld = given_.withheld,
                         .input = task.payload(),
                         .output_bytes_max = limits::result_bytes_max,
                         .error_bytes_max = error_bytes_max,
                         .grace = given_.grace,
                         .request_bytes_max = suspend_bytes_max,
                         .files = {std::move(signals), std::move(state)}};
    if (stream) command.on_output = [&](std::string_view bytes) { stream->add(bytes); };
    auto end = run_child(command, task.cancellation());
    if (stream) stream->end();
    if (!end) return Outcome::failed({.reason = end.error().message});
    return outcome_of(given_, task, std::move(*end));
  }

  const WorkArguments& given_;
  StopSignals& signals_;
  std::atomic<std::uint32_t> started_ = 0;
  std::atomic<std::uint32_t> finished_ = 0;
};

Result<ExitCode> run(const Context& context, WorkArguments given) {
  if (given.max == 0) return fail(Errc::invalid_input, "--max must be at least 1");
  if (given.once && given.max != any_number)
    return fail(Errc::invalid_input, "--once is the same as --max 1; give one of the two");
  set_log_level(context.settings);
  constexpr Millis time_to_report = std::chrono::seconds{3};
  constexpr Millis time_to_end = std::chrono::seconds{2};
  StopSignals signals(given.grace + time_to_report + time_to_end);
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);

  if (given.once) given.max = 1;
  given.withheld = secret_variables(context.settings);
  given.worker.ns = context.settings.text(Setting::ns);
  given.worker.concurrency = std::min(given.concurrency, given.max);
  // A command that is stopped has its grace; what it says in it is still reported.
  given.worker.drain_limit = given.grace + time_to_report;
  std::optional<Error> denied;
  given.worker.on_error = [&](const Error& error) {
    denied = error;
    signals.stop();
  };
  ShellWorker shell(given, signals);
  Worker worker(**engine, given.worker);
  const auto handler = [&shell](Task& task) { return shell.work(task); };
  if (given.kinds.empty()) worker.handle_others(handler);
  for (const auto& kind : given.kinds) worker.handle(kind, handler);
  FF_TRY(worker.start());
  log::info("working on {} of {}", fmt::join(given.worker.lanes, ", "),
            without_password(context.settings.text(Setting::url)));
  signals.wait();
  worker.stop();
  if (denied) return std::unexpected(std::move(*denied));
  return ExitCode::ok;
}

}  // namespace

Run setup_work(Arguments& arguments) {
  auto given = std::make_shared<WorkArguments>();
  auto& worker = given->worker;
  arguments.positional("command", given->command,
                       "Run by /bin/sh for each execution: its payload is standard input, what it "
                       "prints is the result",
                       Arguments::Need::required, "COMMAND");
  arguments.list("--lanes", worker.lanes, "The queues to take from (default: default)");
  arguments.list("--kinds", given->kinds,
                 "The kinds to claim; others are left to other workers (default: all)");
  arguments.list("--capabilities", worker.capabilities, "What this worker has, such as gpu");
  arguments.option("--concurrency", given->concurrency, "Commands at a time (default: 1)");
  arguments.option("--lease-ttl", worker.lease_ttl,
                   "How long the engine waits for a worker that vanished (default: 30s)");
  arguments.option(
      "--id", worker.id, "NAME",
      "The worker's name, which no other live worker has (default: host and process id)");
  arguments.option("--alive-ttl", worker.alive_ttl,
                   "How long a worker that crashed keeps its name from others (default: 30s)");
  arguments.option("--max", given->max, "End after so many executions (default: never)");
  arguments.flag("--once", given->once, "The same as --max 1");
  arguments.option("--delay", given->delay,
                   "How long an execution waits whose command ended with 75 (default: 30s)");
  arguments.option("--grace", given->grace,
                   "How long a stopped command has before it is killed (default: 10s)");
  arguments.flag(
      "--stream", given->stream,
      "What the command prints is also sent to the stream 'output' while it runs, line by "
      "line (ff tail ID)");
  arguments.option("--content-type", given->content_type, "TYPE",
                   "What the result is, such as application/json");
  arguments.settings({Setting::ns, Setting::log_level});
  arguments.engine();
  arguments.examples(
      "  ff work 'tr a-z A-Z' --lanes text --concurrency 4\n"
      "  ff work './resize.sh \"$FF_KIND\"' --kinds thumbnail,preview --capabilities gpu\n"
      "  ff work --once 'jq .total'\n"
      "  ff work './train.sh' --stream              (ff tail ID follows it)\n"
      "  ff work 'cat \"$FF_INPUTS_DIR\"/page.*' --kinds join      (results of nodes before it)\n\n"
      "Exit codes of the command: 0 completed, 75 try again after --delay, 65 and 78 failed for\n"
      "good, any other failed and retried as the execution's policy says. 75 after names of "
      "signals\n"
      "were written to file 3: suspended until one of them arrives.");
  return [given](const Context& context) { return run(context, *given); };
}

}  // namespace ff::cli
