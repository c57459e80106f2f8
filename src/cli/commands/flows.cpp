// Commands for flows.
#include <flowfabric/client.hpp>

#include <map>
#include <thread>

#include <fmt/format.h>

#include "base/text/rfc3339.hpp"
#include "base/try.hpp"
#include "cli/engine.hpp"
#include "cli/event_stream.hpp"
#include "cli/input/files.hpp"
#include "cli/input/stop_signals.hpp"
#include "cli/input/wait.hpp"
#include "cli/output/flow_graph.hpp"
#include "cli/output/live_area.hpp"
#include "http/wire/json_parser.hpp"

namespace ff::cli {
namespace {

constexpr std::size_t graph_bytes_max = 256 * 1024 * 1024;

using SharedRequest = std::shared_ptr<Request>;

// The engine, and the id of one of its flows.
void flow_argument(Arguments& arguments, Request& request) {
  arguments.field("id", request, "id", "ID", "The flow");
  arguments.engine();
}

SharedRequest request_for_flow(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  flow_argument(arguments, *request);
  return request;
}

// Runs `work` with a client and the flow's id.
template <class Work>
Result<ExitCode> with_flow(const Context& context, const Request& request, Work work) {
  const auto get = request.to<GetFlow>();
  FF_TRY(get);
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);
  Client client(**engine);
  return work(client, get->id);
}

// ---- Submitting -----------------------------------------------------------------------------------

struct FlowSubmitArguments {
  Request request;
  std::string file;
  bool dry_run = false;
  WaitOption wait;
};

Result<SubmitFlow> read_graph(const Context& context, const FlowSubmitArguments& given) {
  auto text = given.file == "-" ? read_all(stdin, "standard input", graph_bytes_max)
                                : read_file(given.file, graph_bytes_max);
  FF_TRY(text);
  auto body = http::parse_json_object(*text, given.file == "-" ? "standard input" : given.file);
  FF_TRY(body);
  auto url = given.request.texts;
  const auto& ns = context.settings.value(Setting::ns);
  if (ns.source != SettingSource::default_value || !body->contains("namespace"))
    url["namespace"] = ns.text;
  if (given.dry_run) url["dry_run"] = "true";
  return http::from_fields<SubmitFlow>(
      {.url = std::move(url), .body = std::move(*body), .text = std::move(*text)});
}

// The result of the node that the flow names, or its id if it names none.
Result<ExitCode> print_flow_result(const Context& context, Client& client, const FlowId& id,
                                   Millis limit) {
  const auto ended = client.wait(id, limit);
  FF_TRY(ended);
  const bool has_result = ended->result && ended->state == FlowState::completed;
  if (!has_result && ended->state == FlowState::completed) {
    if (context.json)
      print_json(http::to_fields(*ended));
    else
      fmt::print("{}\n", id.str());
    return ExitCode::ok;
  }
  const auto result = client.flow_result(id, Millis{0});
  FF_TRY(result);
  if (!context.json) {
    print_bytes(context, "result", *ended->result, *result);
    return ExitCode::ok;
  }
  http::FieldWriter fields;
  fields.word("id", id.str());
  if (!result->absent) fields.write_bytes("result", result->bytes);
  print_json(fields.finish());
  return ExitCode::ok;
}

Result<ExitCode> submit(const Context& context, const FlowSubmitArguments& given) {
  auto graph = read_graph(context, given);
  FF_TRY(graph);
  const bool dry_run = graph->dry_run;
  std::optional<IdAtInterrupt> interrupt;
  if (given.wait.wait && !dry_run) interrupt.emplace();
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);
  Client client(**engine, {.submit_retry = command_repeat.limit});
  const auto reply = client.submit_flow(std::move(*graph));
  FF_TRY(reply);
  if (interrupt) {
    interrupt->set("flow " + reply->flow.id.str());
    return print_flow_result(context, client, reply->flow.id, given.wait.limit());
  }
  if (context.json)
    print_json(http::to_fields(*reply));
  else if (dry_run && reply->duplicate)
    fmt::print("it was submitted before: {}\n", reply->flow.id.str());
  else if (dry_run)
    fmt::print("the graph is valid: {} nodes, {} edges\n", reply->flow.counts.nodes,
               reply->flow.edges);
  else
    fmt::print("{}\n", reply->flow.id.str());
  return ExitCode::ok;
}

// ---- Showing --------------------------------------------------------------------------------------

constexpr std::array flow_columns{FieldColumn{"id", Column::Fit::keep},
                                  FieldColumn{"state", Column::Fit::keep},
                                  FieldColumn{"kind"},
                                  FieldColumn{"ended"},
                                  FieldColumn{"failed"},
                                  FieldColumn{"created_at_ms", Column::Fit::drop},
                                  FieldColumn{"ended_at_ms", Column::Fit::drop},
                                  FieldColumn{"reason"}};

constexpr std::array node_columns{FieldColumn{"name", Column::Fit::keep},
                                  FieldColumn{"state", Column::Fit::keep},
                                  FieldColumn{"kind"},
                                  FieldColumn{"after"},
                                  FieldColumn{"attempts"},
                                  FieldColumn{"worker", Column::Fit::drop},
                                  FieldColumn{"took_ms", Column::Fit::drop},
                                  FieldColumn{"reason"},
                                  FieldColumn{"subflow"},
                                  FieldColumn{"id", Column::Fit::drop}};

json::object row_of(const FlowInfo& flow) {
  auto row = http::to_fields(flow);
  row["ended"] = fmt::format("{}/{}", flow.counts.ended(), flow.counts.nodes);
  const auto failed = flow.counts.failed + flow.counts.expired;
  row["failed"] = failed == 0 ? "" : std::to_string(failed);
  return row;
}

json::object row_of(const FlowNodeInfo& node) {
  auto row = http::to_fields(node);
  row["name"] = shown_name(node);
  row["after"] = shown_dependencies(node);
  if (node.started_at && node.ended_at)
    row["took_ms"] = (*node.ended_at - *node.started_at).count();
  return row;
}

std::string node_table(const std::vector<FlowNodeInfo>& nodes, const Screen& screen) {
  std::vector<json::object> rows;
  for (const auto& node : nodes) rows.push_back(row_of(node));
  return table_of(node_columns, rows, screen);
}

json::object with_nodes(json::object flow, const std::vector<FlowNodeInfo>& nodes) {
  json::array list;
  for (const auto& node : nodes) list.push_back(http::to_fields(node));
  flow["nodes"] = std::move(list);
  return flow;
}

Result<ExitCode> show(const Context& context, Client& client, const FlowId& id) {
  const auto flow = client.flow(id);
  FF_TRY(flow);
  const auto nodes = client.flow_nodes(id);
  FF_TRY(nodes);
  if (context.json) {
    print_json(with_nodes(http::to_fields(*flow), *nodes));
    return ExitCode::ok;
  }
  print_object(context, http::to_fields(*flow));
  fmt::print("\n{}", node_table(*nodes, standard_output()));
  return ExitCode::ok;
}

struct FlowListArguments {
  Request request;
  std::uint32_t limit = 100;
  bool all = false;
};

Result<ExitCode> list(const Context& context, const FlowListArguments& given) {
  if (given.limit == 0) return fail(Errc::invalid_input, "--limit must be at least 1");
  auto request = given.request;
  request.texts["namespace"] = context.settings.text(Setting::ns);
  auto which = request.to<ListFlows>();
  FF_TRY(which);
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);
  std::vector<json::object> rows;
  std::size_t seen = 0;
  do {
    const auto left = given.all ? limits::list_page_max : given.limit - seen;
    which->limit = static_cast<std::uint32_t>(std::min<std::size_t>(left, limits::list_page_max));
    auto page = run_blocking(**engine, *which);
    FF_TRY(page);
    seen += page->flows.size();
    for (const auto& flow : page->flows) {
      if (context.json)
        print_json(http::to_fields(flow));
      else
        rows.push_back(row_of(flow));
    }
    which->cursor = page->next;
  } while (which->cursor && (given.all || seen < given.limit));
  if (!context.json) print_rows(context, flow_columns, rows);
  if (which->cursor)
    fmt::print(stderr, "ff: there may be more; go on with --cursor {}\n", *which->cursor);
  return ExitCode::ok;
}

struct GraphArguments {
  Request request;
  bool mermaid = false;
  bool dot = false;
};

Result<ExitCode> draw(const Context& context, const GraphArguments& given, Client& client,
                      const FlowId& id) {
  if (given.mermaid && given.dot)
    return fail(Errc::invalid_input, "give --mermaid or --dot, not both");
  const auto nodes = client.flow_nodes(id);
  FF_TRY(nodes);
  if (given.mermaid)
    fmt::print("{}", to_mermaid(*nodes));
  else if (given.dot)
    fmt::print("{}", to_dot(*nodes));
  else if (context.json)
    print_json(with_nodes({{"id", id.str()}}, *nodes));
  else
    fmt::print("{}", draw_graph(*nodes, standard_output()));
  return ExitCode::ok;
}

// ---- Watching -------------------------------------------------------------------------------------

constexpr Millis redraw_interval{100};  // events may come faster than anyone reads

std::string headline(const FlowInfo& flow, const Screen& screen) {
  const std::string state(to_string(flow.state));
  return fmt::format("{} {}  {}  {} of {} nodes ended{}{}\n\n", flow.kind.str(), flow.id.str(),
                     screen.colours ? coloured(state, colour_of(state)) : state,
                     flow.counts.ended(), flow.counts.nodes, flow.reason.empty() ? "" : "  ",
                     flow.reason);
}

// The graph; if that is too high, the nodes that run or wait first, as many as there is room for.
std::string picture(const FlowInfo& flow, std::vector<FlowNodeInfo> nodes, const Screen& screen) {
  const auto head = headline(flow, screen);
  const auto room = screen.height > 4 ? screen.height - 4 : 1;
  auto graph = draw_graph(nodes, screen);
  if (static_cast<std::size_t>(std::ranges::count(graph, '\n')) <= room) return head + graph;
  std::ranges::stable_sort(nodes, {}, [](const FlowNodeInfo& node) {
    if (node.state == ExecutionState::active) return 0;
    return is_terminal(node.state) ? 2 : 1;
  });
  if (nodes.size() > room) nodes.resize(room);
  return head + node_table(nodes, screen);
}

// Lines for a pipe or a file: an event each, with the name of its node.
class EventLines {
 public:
  EventLines(const Context& context, Client& client, const FlowId& id)
      : context_(context), client_(client), id_(id) {}

  Result<void> print(const std::vector<Event>& events) {
    for (const auto& event : events) {
      if (context_.json) {
        print_event(context_, event);
        continue;
      }
      const auto name = name_of(event);
      FF_TRY(name);
      fmt::print("{}  {:<16}  {}\n", to_rfc3339(event.at), to_string(event.type), *name);
    }
    flush_output();
    return {};
  }

 private:
  Result<std::string> name_of(const Event& event) {
    if (is_of_flow(event.type)) return id_.str();
    if (!names_.contains(event.id)) {
      const auto nodes = client_.flow_nodes(id_);
      FF_TRY(nodes);
      for (const auto& node : *nodes) names_[node.id] = shown_name(node);
    }
    const auto found = names_.find(event.id);
    return found == names_.end() ? short_id(event.id) : found->second;
  }

  const Context& context_;
  Client& client_;
  FlowId id_;
  std::map<ExecutionId, std::string> names_;
};

Result<ExitCode> end_of_watch(const FlowInfo& flow) {
  if (flow.state == FlowState::completed) return ExitCode::ok;
  return fail(Errc::execution_failed,
              fmt::format("flow {} is {}{}{}", flow.id.str(), to_string(flow.state),
                          flow.reason.empty() ? "" : ": ", flow.reason));
}

Result<ExitCode> watch(const Context& context, Engine& engine, const FlowId& id,
                       const StopSignals& signals) {
  Client client(engine);
  const bool drawn = standard_output().terminal && !context.json;
  LiveArea area;
  EventLines lines(context, client, id);
  EventStream events(engine, {.flow = id}, signals.token());
  // From here on no change goes unseen.
  FF_TRY(events.next({.wait = false}));
  while (!signals.stopped()) {
    const auto flow = client.flow(id);
    FF_TRY(flow);
    if (drawn) {
      auto nodes = client.flow_nodes(id);
      FF_TRY(nodes);
      area.draw(picture(*flow, std::move(*nodes), standard_output()));
    }
    if (flow->ended_at) {
      // Events of the end that have not been printed yet.
      const auto last = events.next({.wait = false});
      FF_TRY(last);
      if (!drawn) FF_TRY(lines.print(last->events));
      return end_of_watch(*flow);
    }
    const auto page = events.next({});
    FF_TRY(page);
    if (!drawn) FF_TRY(lines.print(page->events));
    if (drawn) std::this_thread::sleep_for(redraw_interval);
  }
  return fail(
      Errc::execution_not_terminal,
      fmt::format("flow {} has not ended; ff flow watch {} follows it again", id.str(), id.str()));
}

// ---- Operating ------------------------------------------------------------------------------------

struct CancelArguments {
  Request request;
  WaitOption wait;
};

struct RedriveArguments {
  Request request;
  bool dry_run = false;
};

Result<ExitCode> redrive(const Context& context, const RedriveArguments& given) {
  auto request = given.request;
  if (given.dry_run) request.texts["dry_run"] = "true";
  const auto reply = ask<RedriveFlow>(context, request);
  FF_TRY(reply);
  if (context.json) {
    print_json(http::to_fields(*reply));
    return ExitCode::ok;
  }
  for (const auto& node : reply->nodes) fmt::print("{}\n", node.str());
  if (reply->count > reply->nodes.size())
    fmt::print("… and {} more\n", reply->count - reply->nodes.size());
  return ExitCode::ok;
}

}  // namespace

Run setup_flow_submit(Arguments& arguments) {
  auto given = std::make_shared<FlowSubmitArguments>();
  auto& request = given->request;
  arguments.positional("file", given->file, "The graph as JSON; '-' reads standard input",
                       Arguments::Need::required, "FILE");
  arguments.flag("--dry-run", given->dry_run, "Only check the graph");
  arguments.field("--id", request, "id", "ID", "An id of your own: makes the call safe to repeat");
  arguments.field("--idempotency-key", request, "idempotency_key", "TEXT",
                  "The same, with any text for a key");
  given->wait.add_to(arguments, "Wait for its end and print the result of its result node");
  arguments.settings({Setting::ns});
  arguments.engine();
  arguments.examples(
      "  ff flow submit release.json --wait --timeout 1h\n"
      "  ff flow submit release.json --dry-run\n"
      "  echo '{\"nodes\": [{\"name\": \"a\", \"kind\": \"greet\"},\n"
      "         {\"name\": \"b\", \"kind\": \"greet\", \"after\": [\"a\"]}]}' | ff flow submit -");
  return [given](const Context& context) { return submit(context, *given); };
}

Run setup_flow_list(Arguments& arguments) {
  auto given = std::make_shared<FlowListArguments>();
  auto& request = given->request;
  arguments.field("--state", request, "state",
                  "building|running|paused|completed|failed|cancelled|expired",
                  "Only in this state");
  arguments.field("--kind", request, "kind", "NAME", "Only of this kind");
  arguments.field("--tag", request, "tag", "KEY=VALUE", "Only with this tag");
  arguments.option("--limit", given->limit, "How many at most (default: 100)");
  arguments.flag("--all", given->all, "As many as there are");
  arguments.field("--cursor", request, "cursor", "TEXT", "Go on where an earlier list ended");
  arguments.settings({Setting::ns});
  arguments.engine();
  arguments.examples(
      "  ff flow ls --state running\n  ff flow ls --kind release --json | jq -r .id");
  return [given](const Context& context) { return list(context, *given); };
}

Run setup_flow_get(Arguments& arguments) {
  auto request = request_for_flow(arguments);
  arguments.examples("  ff flow get ID\n  ff flow get ID --json | jq '.nodes[].state'");
  return [request](const Context& context) {
    return with_flow(context, *request,
                     [&](Client& client, const FlowId& id) { return show(context, client, id); });
  };
}

Run setup_flow_graph(Arguments& arguments) {
  auto given = std::make_shared<GraphArguments>();
  flow_argument(arguments, given->request);
  arguments.flag("--mermaid", given->mermaid, "In the language of Mermaid");
  arguments.flag("--dot", given->dot, "In the language of Graphviz");
  arguments.examples("  ff flow graph ID\n  ff flow graph ID --dot | dot -Tsvg > flow.svg");
  return [given](const Context& context) {
    return with_flow(context, given->request, [&](Client& client, const FlowId& id) {
      return draw(context, *given, client, id);
    });
  };
}

Run setup_flow_watch(Arguments& arguments) {
  auto request = request_for_flow(arguments);
  arguments.examples("  ff flow watch ID          (exit code 0 if it completed, 1 if not)");
  return [request](const Context& context) -> Result<ExitCode> {
    const auto get = request->to<GetFlow>();
    FF_TRY(get);
    const StopSignals signals;
    const auto engine = open_engine(context.settings);
    FF_TRY(engine);
    return watch(context, **engine, get->id, signals);
  };
}

Run setup_flow_cancel(Arguments& arguments) {
  auto given = std::make_shared<CancelArguments>();
  auto& request = given->request;
  flow_argument(arguments, request);
  arguments.field("--reason", request, "reason", "TEXT", "Why, for those who ask later");
  arguments.field("--policy", request, "policy", "cancel_all|cancel_pending|flow_only",
                  "Which nodes are cancelled (default: cancel_all)");
  given->wait.add_to(arguments, "Wait until the nodes are cancelled");
  arguments.examples(
      "  ff flow cancel ID --reason 'wrong branch' --wait\n"
      "  ff flow cancel ID --policy cancel_pending");
  return [given](const Context& context) -> Result<ExitCode> {
    auto cancel = given->request.to<CancelFlow>();
    FF_TRY(cancel);
    cancel->wait = std::min(given->wait.limit(), limits::wait_max);
    const auto engine = open_engine(context.settings);
    FF_TRY(engine);
    const auto reply = Client(**engine).cancel_flow(std::move(*cancel));
    FF_TRY(reply);
    print_object(context, http::to_fields(*reply));
    return ExitCode::ok;
  };
}

Run setup_flow_pause(Arguments& arguments) {
  auto request = request_for_flow(arguments);
  arguments.field("--reason", *request, "reason", "TEXT", "Why, for those who ask later");
  arguments.examples("  ff flow pause ID --reason 'change freeze'");
  return ask_and_print<PauseFlow>(request);
}

Run setup_flow_resume(Arguments& arguments) {
  auto request = request_for_flow(arguments);
  arguments.examples("  ff flow resume ID");
  return ask_and_print<ResumeFlow>(request);
}

Run setup_flow_redrive(Arguments& arguments) {
  auto given = std::make_shared<RedriveArguments>();
  auto& request = given->request;
  flow_argument(arguments, request);
  arguments.field("--from", request, "from", "NODE",
                  "This node and all after it (default: all that failed)");
  arguments.field("--reason", request, "reason", "TEXT", "Why, for those who ask later");
  arguments.flag("--dry-run", given->dry_run, "Only print the nodes that would run again");
  arguments.examples("  ff flow redrive ID\n  ff flow redrive ID --from deploy --dry-run");
  return [given](const Context& context) { return redrive(context, *given); };
}

}  // namespace ff::cli
