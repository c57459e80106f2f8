// Commands for executions that wait: suspending, signals, waitpoints, steps.
#include <flowfabric/client.hpp>
#include <flowfabric/limits.hpp>

#include <fmt/format.h>

#include "base/try.hpp"
#include "cli/engine.hpp"
#include "cli/input/payload.hpp"

namespace ff::cli {
namespace {

constexpr std::array waitpoint_columns{FieldColumn{"key"},
                                       FieldColumn{"state", Column::Fit::keep},
                                       FieldColumn{"signals"},
                                       FieldColumn{"counted"},
                                       FieldColumn{"created_at_ms", Column::Fit::drop},
                                       FieldColumn{"expires_at_ms", Column::Fit::drop},
                                       FieldColumn{"id", Column::Fit::keep}};
constexpr std::array token_columns{FieldColumn{"key"}, FieldColumn{"approver"},
                                   FieldColumn{"token", Column::Fit::keep}};
constexpr std::array signal_columns{FieldColumn{"index"},
                                    FieldColumn{"name", Column::Fit::keep},
                                    FieldColumn{"from"},
                                    FieldColumn{"accepted_at_ms"},
                                    FieldColumn{"effect"},
                                    FieldColumn{"bytes"},
                                    FieldColumn{"correlation_id", Column::Fit::drop}};
constexpr std::array step_columns{FieldColumn{"name", Column::Fit::keep}, FieldColumn{"bytes"},
                                  FieldColumn{"at_ms"}, FieldColumn{"content_type"}};

// Prints the rows of a list, made for a person or as they are.
template <class T, class ForTable>
void print_list(const Context& context, std::span<const FieldColumn> columns,
                const std::vector<T>& items, ForTable for_table) {
  std::vector<json::object> rows;
  for (const auto& item : items)
    rows.push_back(context.json ? http::to_fields(item) : for_table(item));
  print_rows(context, columns, rows);
}

Result<ExitCode> print(const Context& context, const auto& reply) {
  FF_TRY(reply);
  print_object(context, http::to_fields(*reply));
  return ExitCode::ok;
}

// ---- Suspending -----------------------------------------------------------------------------------

struct SuspendArguments {
  Request request;
  std::vector<std::string> signals;
  bool all = false;
};

Result<Condition> condition_of(const SuspendArguments& given) {
  std::vector<Condition> parts;
  for (const auto& text : given.signals) {
    auto name = SignalName::parse(text);
    FF_TRY(name);
    parts.push_back({OneSignal{.name = std::move(*name)}});
  }
  if (parts.empty()) return Condition{OperatorOnly{}};
  if (given.all) return Condition{AllOf{std::move(parts)}};
  return Condition{AnyOf{std::move(parts)}};
}

// The lease of an execution that waits for a worker, taken only to suspend it.
Result<Fence> claim_to_suspend(Engine& engine, const ExecutionId& id) {
  const auto execution = run_blocking(engine, GetExecution{id});
  FF_TRY(execution);
  const auto claimed =
      run_blocking(engine, ClaimExecution{.id = id,
                                          .worker = *WorkerId::parse("ff-suspend"),
                                          .capabilities = execution->policy.required_capabilities});
  FF_TRY(claimed);
  return claimed->fence;
}

Result<SuspendReply> suspend_unowned(Engine& engine, Suspend suspend) {
  const auto fence = claim_to_suspend(engine, suspend.id);
  FF_TRY(fence);
  const HandBack hand_back{.id = suspend.id, .fence = *fence, .reason = "ff suspend"};
  suspend.fence = *fence;
  auto reply = run_blocking(engine, std::move(suspend));
  // No worker would have it until the lease expires.
  if (!reply || reply->satisfied) run_blocking(engine, hand_back);
  return reply;
}

Result<ExitCode> run_suspend(const Context& context, const SuspendArguments& given) {
  auto request = given.request;
  const bool has_fence = request.texts.contains("lease_id") ||
                         request.texts.contains("lease_epoch") ||
                         request.texts.contains("attempt_id");
  if (!has_fence) {
    const auto any = Uuid{}.str();
    request.texts["lease_id"] = any;
    request.texts["lease_epoch"] = "1";
    request.texts["attempt_id"] = any;
  }
  if (!request.texts.contains("reason"))
    request.texts["reason"] = to_string(SuspendReason::manual_pause);
  auto suspend = request.to<Suspend>();
  FF_TRY(suspend);
  if (!request.values.contains("condition")) {
    auto condition = condition_of(given);
    FF_TRY(condition);
    suspend->condition = std::move(*condition);
  }
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);
  return print(context, has_fence ? run_blocking(**engine, std::move(*suspend))
                                  : suspend_unowned(**engine, std::move(*suspend)));
}

// ---- Signals --------------------------------------------------------------------------------------

struct SignalArguments {
  Request request;
  PayloadOption payload;
  std::string source_type;
  std::string source;
};

Result<ExitCode> run_signal(const Context& context, const SignalArguments& given) {
  auto send = given.request.to<SendSignal>();
  FF_TRY(send);
  auto payload = given.payload.read(limits::signal_bytes_max);
  FF_TRY(payload);
  send->payload = std::move(*payload);
  send->source = {.type = given.source_type, .identity = given.source};
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);
  return print(context, run_blocking(**engine, signal_repeatedly(**engine, std::move(*send),
                                                                 command_repeat)));
}

json::object signal_for_table(const ReceivedSignal& signal) {
  auto row = http::to_fields(signal);
  const auto& [type, identity] = signal.source;
  row["from"] = type.empty() ? identity : fmt::format("{}:{}", type, identity);
  row["bytes"] = signal.payload.size();
  return row;
}

// ---- Answers --------------------------------------------------------------------------------------

struct AnswerArguments {
  std::string token;
  std::string signal;
  std::string comment;
  std::string content_type;
  PayloadOption payload;
};

Result<ExitCode> run_answer(const Context& context, const AnswerArguments& given) {
  auto token = read_token(given.token);
  FF_TRY(token);
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);
  Client client(**engine, {.submit_retry = command_repeat.limit});
  if (given.signal.empty()) return print(context, client.waitpoint(std::move(*token)));
  auto payload = given.payload.read(limits::signal_bytes_max);
  FF_TRY(payload);
  return print(context, client.answer(std::move(*token), {.signal = given.signal,
                                                          .payload = std::move(*payload),
                                                          .content_type = given.content_type,
                                                          .comment = given.comment}));
}

std::shared_ptr<AnswerArguments> answer_arguments(Arguments& arguments) {
  auto given = std::make_shared<AnswerArguments>();
  arguments.positional("token", given->token,
                       "The token, or the link that carries it; '-' reads standard input, @FILE a "
                       "file: process lists show arguments",
                       Arguments::Need::required, "TOKEN");
  arguments.engine();
  return given;
}

// A command that answers with one fixed signal.
Run answer_with(const char* signal, Arguments& arguments) {
  auto given = answer_arguments(arguments);
  given->signal = signal;
  arguments.option("--comment", given->comment, "TEXT", "Why, for those who ask later");
  return [given](const Context& context) { return run_answer(context, *given); };
}

// ---- Waitpoints -----------------------------------------------------------------------------------

Result<ExitCode> print_tokens(const Context& context, Client& client, const ExecutionId& id,
                              const std::vector<WaitpointInfo>& waitpoints) {
  std::vector<json::object> rows;
  for (const auto& waitpoint : waitpoints) {
    const auto issued = client.tokens(id, waitpoint.id);
    FF_TRY(issued);
    if (context.json) {
      rows.push_back(http::to_fields(*issued));
      continue;
    }
    for (const auto& each : issued->tokens) {
      auto& row = rows.emplace_back(http::to_fields(each));
      row["key"] = waitpoint.key.str();
    }
  }
  print_rows(context, token_columns, rows);
  return ExitCode::ok;
}

Result<ExitCode> run_waitpoints(const Context& context, const Request& request, bool tokens) {
  const auto list = request.to<ListWaitpoints>();
  FF_TRY(list);
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);
  Client client(**engine);
  const auto waitpoints = client.waitpoints(list->id);
  FF_TRY(waitpoints);
  if (tokens) return print_tokens(context, client, list->id, *waitpoints);
  print_list(context, waitpoint_columns, *waitpoints,
             [](const WaitpointInfo& each) { return http::to_fields(each); });
  return ExitCode::ok;
}

Result<ExitCode> run_steps(const Context& context, const Request& request,
                           const std::string& name) {
  const auto list = request.to<ListSteps>();
  FF_TRY(list);
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);
  Client client(**engine);
  if (!name.empty()) {
    const auto result = client.step(list->id, name);
    FF_TRY(result);
    print_bytes(context, "result", list->id, *result);
    return ExitCode::ok;
  }
  const auto steps = client.steps(list->id);
  FF_TRY(steps);
  print_list(context, step_columns, *steps,
             [](const StepInfo& each) { return http::to_fields(each); });
  return ExitCode::ok;
}

}  // namespace

Run setup_suspend(Arguments& arguments) {
  auto given = std::make_shared<SuspendArguments>();
  auto& request = given->request;
  arguments.execution(request);
  arguments.list("--signals", given->signals,
                 "Names of signals, any of which resumes it (default: only ff resume does)");
  arguments.flag("--all", given->all, "With --signals: all of them are needed");
  arguments.json_field("--condition", request, "condition",
                       "The whole condition as JSON, instead of --signals");
  arguments.duration_field("--timeout", request, "timeout_ms",
                           "How long at most (default: without limit)");
  arguments.field("--on-timeout", request, "on_timeout", "fail|cancel|expire|auto_resume|escalate",
                  "What happens then (default: fail)");
  arguments.field("--reason", request, "reason",
                  "waiting_for_signal|waiting_for_approval|waiting_for_callback|"
                  "waiting_for_tool_result|waiting_for_operator_review|paused_by_policy|"
                  "paused_by_budget|step_boundary|manual_pause",
                  "Why (default: manual_pause)");
  arguments.field("--lease-id", request, "lease_id", "UUID",
                  "With the two below: suspend it as the worker that has this lease");
  arguments.field("--lease-epoch", request, "lease_epoch", "NUMBER", "The lease's epoch");
  arguments.field("--attempt-id", request, "attempt_id", "UUID", "The attempt");
  arguments.examples(
      "  ff suspend ID                                    (until ff resume ID)\n"
      "  ff suspend ID --signals go --timeout 1d --on-timeout cancel\n\n"
      "It suspends work that waits for a worker. Work that runs belongs to its worker: give that\n"
      "worker's lease, or take it away first (ff revoke).");
  return [given](const Context& context) { return run_suspend(context, *given); };
}

Run setup_resume(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  arguments.execution(*request);
  arguments.field("--reason", *request, "reason", "TEXT",
                  "Why, for its worker and for those who ask later");
  arguments.duration_field("--delay", *request, "delay_ms", "How long it waits before it goes on");
  arguments.examples("  ff resume ID --reason 'approved by phone'");
  return ask_and_print<Resume>(request);
}

Run setup_signal(Arguments& arguments) {
  auto given = std::make_shared<SignalArguments>();
  auto& request = given->request;
  arguments.execution(request);
  arguments.field("name", request, "name", "NAME", "The signal's name");
  given->payload.add_to(arguments, "Its payload; '-' reads standard input",
                        "Its payload is what this file holds");
  arguments.field("--content-type", request, "content_type", "TYPE",
                  "What the payload is, such as application/json");
  arguments.field("--key", request, "idempotency_key", "TEXT",
                  "Makes the call safe to repeat: a signal counts once per key");
  arguments.field("--waitpoint", request, "waitpoint", "UUID",
                  "The waitpoint that it is for (default: the execution itself)");
  arguments.option("--source", given->source, "NAME", "Who sends it");
  arguments.option("--source-type", given->source_type, "TEXT", "What that is, such as user");
  arguments.field("--category", request, "category", "TEXT", "For those who read it");
  arguments.field("--correlation-id", request, "correlation_id", "TEXT", "For those who read it");
  arguments.examples(
      "  ff signal ID approved\n"
      "  ff signal ID paid '{\"euros\":7}' --content-type application/json --key invoice-7\n"
      "  ff signal ID photo --file cat.png --source camera-1");
  return [given](const Context& context) { return run_signal(context, *given); };
}

Run setup_signals(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  arguments.execution(*request);
  arguments.examples("  ff signals ID\n  ff signals ID --json | jq -r .payload");
  return [request](const Context& context) -> Result<ExitCode> {
    const auto get = request->to<GetSignals>();
    FF_TRY(get);
    const auto engine = open_engine(context.settings);
    FF_TRY(engine);
    const auto signals = Client(**engine).signals(get->id);
    FF_TRY(signals);
    print_list(context, signal_columns, *signals, signal_for_table);
    return ExitCode::ok;
  };
}

Run setup_waitpoints(Arguments& arguments) {
  struct Given {
    Request request;
    bool tokens = false;
  };
  auto given = std::make_shared<Given>();
  arguments.execution(given->request);
  arguments.flag("--tokens", given->tokens,
                 "Show their tokens: whoever has one can answer; reading them is audited");
  arguments.examples(
      "  ff waitpoints ID\n  ff waitpoints ID --tokens --json | jq -r '.tokens[].token'");
  return [given](const Context& context) {
    return run_waitpoints(context, given->request, given->tokens);
  };
}

Run setup_approve(Arguments& arguments) {
  arguments.examples(
      "  ff approve TOKEN --comment 'looks good'\n"
      "  ff approve - < token.txt            (keeps it out of the list of processes)");
  return answer_with("approve", arguments);
}

Run setup_reject(Arguments& arguments) {
  arguments.examples("  ff reject TOKEN --comment 'not on a Friday'\n  ff reject @token.txt");
  return answer_with("reject", arguments);
}

Run setup_answer(Arguments& arguments) {
  auto given = answer_arguments(arguments);
  arguments.positional("signal", given->signal,
                       "The answer: one of the question's choices, or the name of a signal "
                       "(default: only show the question)",
                       Arguments::Need::optional, "SIGNAL");
  given->payload.add_to(arguments, "Its payload; '-' reads standard input",
                        "Its payload is what this file holds");
  arguments.option("--content-type", given->content_type, "TYPE",
                   "What the payload is, such as application/json");
  arguments.option("--comment", given->comment, "TEXT", "Why, for those who ask later");
  arguments.examples(
      "  ff answer TOKEN                     (shows the question)\n"
      "  ff answer TOKEN paid '{\"euros\":7}' --content-type application/json\n"
      "  ff answer @token.txt blue");
  return [given](const Context& context) -> Result<ExitCode> {
    if (given->token == "-" && given->payload.text == "-")
      return fail(Errc::invalid_input, "standard input is the token or the payload, not both");
    return run_answer(context, *given);
  };
}

Run setup_steps(Arguments& arguments) {
  struct Given {
    Request request;
    std::string name;
  };
  auto given = std::make_shared<Given>();
  arguments.execution(given->request);
  arguments.positional("name", given->name, "The step whose result to print (default: list them)",
                       Arguments::Need::optional, "NAME");
  arguments.examples("  ff steps ID\n  ff steps ID plan > plan.txt");
  return
      [given](const Context& context) { return run_steps(context, given->request, given->name); };
}

}  // namespace ff::cli
