#include <flowfabric/limits.hpp>

#include <cstdio>

#include <sys/stat.h>

#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "cli/engine.hpp"
#include "cli/input/files.hpp"
#include "cli/input/payload.hpp"
#include "cli/input/wait.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress.hpp"

namespace ff::cli {
namespace {

struct SubmitArguments {
  Request request;
  PayloadOption payload;
  bool lines = false;
  WaitOption wait;
};

void print_reply(const Context& context, const SubmitReply& reply) {
  if (context.json)
    print_json(http::to_fields(reply));
  else
    fmt::print("{}\n", short_id(reply.id));
}

Result<ExitCode> submit_one(const Context& context, Engine& engine, Submit submit,
                            const WaitOption& wait, std::optional<IdAtInterrupt>& interrupt) {
  const auto reply =
      run_blocking(engine, submit_repeatedly(engine, std::move(submit), command_repeat));
  FF_TRY(reply);
  if (!wait.wait) {
    print_reply(context, *reply);
    return ExitCode::ok;
  }
  interrupt->set("execution " + short_id(reply->id));
  return print_result(context, engine, reply->id, wait.limit());
}

// One execution per line of a file, a batch at a time.
class LineSubmitter {
 public:
  LineSubmitter(const Context& context, Engine& engine, Submit like)
      : context_(context), engine_(engine), like_(std::move(like)) {}

  Result<ExitCode> run(std::FILE* file) {
    struct ::stat about {};
    const bool sized = ::fstat(::fileno(file), &about) == 0 && S_ISREG(about.st_mode);
    Progress progress("submitting, bytes", sized ? static_cast<std::uint64_t>(about.st_size) : 0);
    std::unique_ptr<char, decltype(&std::free)> buffer(nullptr, &std::free);
    std::size_t capacity = 0;
    while (true) {
      char* line = buffer.release();
      const auto size = ::getline(&line, &capacity, file);
      buffer.reset(line);
      if (size < 0) break;
      std::string_view text(line, static_cast<std::size_t>(size));
      if (text.ends_with('\n')) text.remove_suffix(1);
      FF_TRY(add(text));
      progress.add(static_cast<std::uint64_t>(size));
    }
    FF_TRY(send());
    if (first_error_) return std::unexpected(std::move(*first_error_));
    return ExitCode::ok;
  }

 private:
  Result<void> add(std::string_view line) {
    const bool full = batch_.executions.size() == limits::batch_items_max ||
                      bytes_ + line.size() > limits::batch_bytes_max;
    if (full)
      if (auto sent = send(); !sent) return sent;
    auto& submit = batch_.executions.emplace_back(like_);
    submit.payload = line;
    bytes_ += line.size();
    return {};
  }

  Result<void> send() {
    if (batch_.executions.empty()) return {};
    const auto reply = run_blocking(
        engine_, submit_repeatedly(engine_, std::exchange(batch_, {}), command_repeat));
    bytes_ = 0;
    FF_TRY(reply);
    for (const auto& result : reply->results) {
      ++line_;
      if (result)
        print_reply(context_, *result);
      else
        refused(result.error());
    }
    return {};
  }

  void refused(const Error& error) {
    fmt::print(stderr, "ff: line {}: {}\n", line_, printable(error.message, std::string::npos));
    if (!first_error_) first_error_ = error;
  }

  const Context& context_;
  Engine& engine_;
  const Submit like_;
  SubmitMany batch_;
  std::size_t bytes_ = 0;
  std::size_t line_ = 0;
  std::optional<Error> first_error_;
};

Result<ExitCode> submit_lines(const Context& context, Engine& engine, Submit submit,
                              const SubmitArguments& given) {
  if (submit.id || submit.idempotency_key || submit.flow || given.wait.wait)
    return fail(
        Errc::invalid_input,
        "--lines makes many executions; --id, --idempotency-key, --flow and --wait are for one");
  const auto& [text, name] = given.payload;
  const bool standard_input = name.empty();
  if (text != "-" && !text.empty())
    return fail(Errc::invalid_input, "--lines reads standard input or --file, not an argument");
  LineSubmitter lines(context, engine, std::move(submit));
  if (standard_input) return lines.run(stdin);
  const auto file = open_file(name);
  FF_TRY(file);
  return lines.run(file->get());
}

// --backoff and --backoff-max are of a backoff that grows, unless --policy says otherwise.
void name_backoff(Request& request) {
  auto* policy = request.values.if_contains("policy");
  boost::system::error_code absent;
  auto* backoff = policy ? policy->find_pointer("/retry_policy/backoff", absent) : nullptr;
  if (backoff && backoff->is_object())
    backoff->get_object().emplace("type", to_string(http::BackoffType::exponential));
}

Result<ExitCode> run(const Context& context, SubmitArguments given) {
  name_backoff(given.request);
  given.request.texts["namespace"] = context.settings.text(Setting::ns);
  auto submit = given.request.to<Submit>();
  FF_TRY(submit);
  if (!given.lines) {
    auto payload = given.payload.read(limits::payload_bytes_max);
    FF_TRY(payload);
    submit->payload = std::move(*payload);
  }
  std::optional<IdAtInterrupt> interrupt;
  if (given.wait.wait) interrupt.emplace();
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);
  if (given.lines) return submit_lines(context, **engine, std::move(*submit), given);
  return submit_one(context, **engine, std::move(*submit), given.wait, interrupt);
}

void add_policy(Arguments& arguments, Request& request) {
  arguments.object_field("--policy", request, "policy",
                         "The whole policy as JSON; the options below change parts of it");
  arguments.number_field("--retries", request, "policy.retry_policy.max_retries",
                         "How often a failure is retried (default: never)");
  arguments.duration_field("--backoff", request, "policy.retry_policy.backoff.initial_delay_ms",
                           "Before the first retry; doubles with each (default: 1s)");
  arguments.duration_field("--backoff-max", request, "policy.retry_policy.backoff.max_delay_ms",
                           "The most that it grows to (default: 1m)");
  arguments.duration_field("--attempt-timeout", request, "policy.timeout_policy.attempt_timeout_ms",
                           "How long one attempt may take");
  arguments.list_field("--capabilities", request,
                       "policy.routing_requirements.required_capabilities",
                       "What its worker must have, comma-separated");
  arguments.texts_field("--budget", request, "policy.budget_ids", "ID",
                        "A budget that it spends from; repeatable");
  arguments.text_field("--quota", request, "policy.quota_policy_id", "ID",
                       "The quota that lets it start");
  arguments.text_field("--fairness-key", request, "policy.fairness_key", "KEY",
                       "Whose work it is: keys share the starts of a lane");
  arguments.number_field("--fairness-weight", request, "policy.fairness_weight",
                         "The share of its key, from 1 to 1000 (default: 1)");
  arguments.number_field("--max-running", request, "policy.max_running",
                         "How many of its key and lane may run at the same time");
  arguments.duration_field("--retention", request, "policy.retention_ms",
                           "How long it is kept after its end");
}

}  // namespace

Run setup_submit(Arguments& arguments) {
  auto given = std::make_shared<SubmitArguments>();
  auto& request = given->request;
  arguments.field("kind", request, "kind", "KIND", "What to run: the name of a worker's handler");
  given->payload.add_to(arguments, "Its input; '-' reads standard input",
                        "Its input is what this file holds");
  arguments.flag("--lines", given->lines,
                 "One execution per line of the file or of standard input");
  arguments.field("--lane", request, "lane", "NAME", "The queue to put it in (default: default)");
  arguments.field("--priority", request, "priority", "NUMBER", "0 to 9000, higher runs first");
  arguments.time_field("--delay", request, "delay_until_ms", Side::future,
                       "Not before then: 5m for in five minutes, or a time");
  arguments.time_field("--deadline", request, "deadline_ms", Side::future,
                       "It expires if it has not ended by then");
  arguments.pairs_field("--tag", request, "tags", "To find it by; repeatable");
  arguments.field("--id", request, "id", "ID", "An id of your own: makes the call safe to repeat");
  arguments.field("--idempotency-key", request, "idempotency_key", "TEXT",
                  "The same, with any text for a key");
  arguments.field("--flow", request, "flow", "ID",
                  "Make it a node of this flow, which has not ended");
  arguments.field(
      "--node", request, "node", "NAME",
      "Its name there: makes the call safe to repeat (default: the idempotency key, or made up)");
  arguments.texts_field("--after", request, "after", "NODE",
                        "A node of the flow that must complete first; repeatable");
  arguments.field("--content-type", request, "content_type", "TYPE",
                  "What the payload is, such as image/png");
  arguments.field("--traceparent", request, "traceparent", "TEXT",
                  "The W3C trace context that its worker goes on with");
  add_policy(arguments, request);
  given->wait.add_to(arguments, "Wait for its end and print the result");
  arguments.settings({Setting::ns});
  arguments.engine();
  arguments.examples(
      "  ff submit greet Ada --lane demo --wait\n"
      "  ff submit resize --file image.png --retries 5 --backoff 2s --attempt-timeout 1m\n"
      "  ff submit report --delay 2h --deadline 1d --tag team.name=billing\n"
      "  ff submit summarise --file book.txt --budget BUDGET_ID --quota QUOTA_ID\n"
      "  ff submit fetch --lines < urls.txt\n"
      "  ff submit publish --flow FLOW_ID --node publish --after build\n"
      "  ff submit parse -- -5          (a payload that begins with a dash)");
  return [given](const Context& context) { return run(context, *given); };
}

}  // namespace ff::cli
