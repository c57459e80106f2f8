// Commands that act on all executions that a filter matches.
#include <flowfabric/client.hpp>

#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "cli/input/stop_signals.hpp"
#include "cli/output/pages.hpp"
#include "cli/output/progress.hpp"

namespace ff::cli {
namespace {

constexpr std::array bulk_columns{FieldColumn{"id", Column::Fit::keep},
                                  FieldColumn{"action", Column::Fit::keep},
                                  FieldColumn{"state", Column::Fit::keep},
                                  FieldColumn{"matched"},
                                  FieldColumn{"done"},
                                  FieldColumn{"failed"},
                                  FieldColumn{"skipped"},
                                  FieldColumn{"created_at_ms", Column::Fit::drop},
                                  FieldColumn{"where"}};

struct BulkArguments {
  BulkAction action{};
  Request request;
  bool dry_run = false;
  bool detach = false;
};

std::string summary_of(const BulkInfo& bulk) {
  return fmt::format("{} {}: matched {}, done {}, failed {}, skipped {}",
                     to_string(bulk.work.action), to_string(bulk.state), bulk.counts.matched,
                     bulk.counts.done, bulk.counts.failed, bulk.counts.skipped);
}

std::string count_text(const StartBulkReply& reply) {
  return fmt::format("{}{}", reply.at_least ? "at least " : "", reply.matches.value_or(0));
}

Result<ExitCode> print_dry_run(const Context& context, Engine& engine, StartBulk start) {
  start.dry_run = true;
  const auto reply = run_blocking(engine, std::move(start));
  FF_TRY(reply);
  if (context.json)
    print_json(http::to_fields(*reply));
  else
    fmt::print("{} executions match {}\n", count_text(*reply), reply->where);
  return ExitCode::ok;
}

Result<ExitCode> print_end(const Context& context, const BulkInfo& bulk) {
  if (context.json) {
    print_json(http::to_fields(bulk));
  } else {
    fmt::print("{}\n", summary_of(bulk));
    for (const auto& failure : bulk.failures)
      fmt::print(stderr, "ff: {}: {}: {}\n", short_id(failure.id), failure.error,
                 printable(failure.message, 200));
  }
  if (bulk.error) return fail(Errc::internal, *bulk.error);
  return bulk.counts.failed == 0 ? ExitCode::ok : ExitCode::failed;
}

// A bar on a terminal, otherwise a line now and then.
class Follower {
 public:
  Follower(std::string what, std::uint64_t total) : progress_(std::move(what), total) {}

  void show(const BulkInfo& bulk) {
    progress_.add(bulk.counts.matched - shown_);
    shown_ = bulk.counts.matched;
    const auto now = std::chrono::steady_clock::now();
    if (screen_of(STDERR_FILENO).terminal || now < line_next_) return;
    line_next_ = now + std::chrono::seconds{5};
    fmt::print(stderr, "ff: {}\n", summary_of(bulk));
  }

 private:
  Progress progress_;
  std::uint64_t shown_ = 0;
  std::chrono::steady_clock::time_point line_next_ =
      std::chrono::steady_clock::now() + std::chrono::seconds{5};
};

Result<ExitCode> follow(const Context& context, Client& client, const BulkId& id,
                        std::uint64_t total, const StopSignals& signals) {
  constexpr Millis look_first{50}, look_last{500};
  auto pause = look_first;
  std::optional<BulkInfo> last;
  {
    Follower follower("bulk", total);
    while (!signals.stopped()) {
      auto bulk = client.bulk(id);
      FF_TRY(bulk);
      follower.show(*bulk);
      last = std::move(*bulk);
      if (is_terminal(last->state)) break;
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, look_last);
    }
  }
  if (last && is_terminal(last->state)) return print_end(context, *last);
  return fail(
      Errc::execution_not_terminal,
      fmt::format("interrupted; the bulk job goes on. Follow it: ff bulk get {} --follow; stop it: "
                  "ff bulk stop {}",
                  id.str(), id.str()));
}

Result<ExitCode> start(const Context& context, const BulkArguments& given) {
  auto request = given.request;
  request.texts["namespace"] = context.settings.text(Setting::ns);
  request.texts["action"] = to_string(given.action);
  auto operation = request.to<StartBulk>();
  FF_TRY(operation);
  const StopSignals signals;
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);
  if (given.dry_run) return print_dry_run(context, **engine, std::move(*operation));

  // What the bar is drawn to.
  std::uint64_t total = 0;
  if (!given.detach && screen_of(STDERR_FILENO).terminal) {
    auto count = *operation;
    count.dry_run = true;
    const auto matches = run_blocking(**engine, std::move(count));
    FF_TRY(matches);
    if (!matches->at_least) total = matches->matches.value_or(0);
  }
  const auto started = run_blocking(**engine, std::move(*operation));
  FF_TRY(started);
  if (given.detach) {
    if (context.json)
      print_json(http::to_fields(*started));
    else
      fmt::print("{}\n", started->id->str());
    return ExitCode::ok;
  }
  Client client(**engine);
  return follow(context, client, *started->id, total, signals);
}

Run setup_action(Arguments& arguments, BulkAction action, const char* examples) {
  auto given = std::make_shared<BulkArguments>();
  given->action = action;
  auto& request = given->request;
  switch (action) {
    case BulkAction::cancel:
    case BulkAction::replay:
    case BulkAction::redrive:
      arguments.field("--reason", request, "reason", "TEXT", "Why, for those who ask later");
      break;
    case BulkAction::priority:
      arguments.field("priority", request, "priority", "NUMBER", "0 to 9000, higher runs first");
      break;
    case BulkAction::tags:
      arguments.pairs_field("set", request, "set", "Tags to set");
      arguments.field("--remove", request, "remove", "KEYS", "Tags to remove, comma-separated");
      break;
    case BulkAction::remove: break;
  }
  arguments.field("--where", request, "where", "FILTER",
                  "Which executions: state:failed kind:render created:>-2h (required)");
  arguments.field("--requested-by", request, "requested_by", "NAME", "Who wants it");
  arguments.field("--id", request, "id", "ID", "An id of your own: makes the call safe to repeat");
  arguments.flag("--dry-run", given->dry_run, "Only count the executions that match");
  arguments.flag("--detach", given->detach, "Print the job's id and do not wait for its end");
  arguments.of_namespace();
  arguments.examples(examples);
  return [given](const Context& context) { return start(context, *given); };
}

std::shared_ptr<Request> request_for_bulk(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  arguments.field("id", *request, "id", "ID", "The bulk job");
  arguments.engine();
  return request;
}

}  // namespace

Run setup_bulk_cancel(Arguments& arguments) {
  return setup_action(
      arguments, BulkAction::cancel,
      "  ff bulk cancel --where 'lane:mail state:waiting' --dry-run\n"
      "  ff bulk cancel --where 'tag:billing.customer=7' --reason 'wrong customer'");
}
Run setup_bulk_replay(Arguments& arguments) {
  return setup_action(arguments, BulkAction::replay,
                      "  ff bulk replay --where 'state:failed kind:render ended:>-2h'");
}
Run setup_bulk_redrive(Arguments& arguments) {
  return setup_action(
      arguments, BulkAction::redrive,
      "  ff bulk redrive --where 'state:failed ended:>-1d'     (the flows of these nodes)");
}
Run setup_bulk_priority(Arguments& arguments) {
  return setup_action(arguments, BulkAction::priority,
                      "  ff bulk priority 100 --where 'lane:gpu state:waiting'");
}
Run setup_bulk_tags(Arguments& arguments) {
  return setup_action(arguments, BulkAction::tags,
                      "  ff bulk tags billing.checked=yes --where 'kind:invoice'\n"
                      "  ff bulk tags --remove billing.checked --where 'kind:invoice'");
}
Run setup_bulk_delete(Arguments& arguments) {
  return setup_action(arguments, BulkAction::remove,
                      "  ff bulk delete --where 'state:completed ended:<-1d'");
}

Run setup_bulk_list(Arguments& arguments) {
  auto options = std::make_shared<PageOptions>();
  options->add_to(arguments);
  arguments.examples("  ff bulk ls\n  ff bulk ls --all --json | jq -r .id");
  return [options](const Context& context) {
    return print_pages<ListBulks>(context, *options, &BulkList::bulks, bulk_columns,
                                  [](const BulkInfo& bulk) { return http::to_fields(bulk); });
  };
}

Run setup_bulk_get(Arguments& arguments) {
  auto request = request_for_bulk(arguments);
  auto follows = std::make_shared<bool>(false);
  arguments.flag("--follow", *follows, "Until it has ended");
  arguments.examples("  ff bulk get ID\n  ff bulk get ID --follow");
  return [request, follows](const Context& context) -> Result<ExitCode> {
    if (!*follows) return ask_and_print<GetBulk>(request)(context);
    const auto get = request->to<GetBulk>();
    FF_TRY(get);
    const StopSignals signals;
    const auto engine = open_engine(context.settings);
    FF_TRY(engine);
    Client client(**engine);
    return follow(context, client, get->id, 0, signals);
  };
}

Run setup_bulk_stop(Arguments& arguments) {
  auto request = request_for_bulk(arguments);
  arguments.examples("  ff bulk stop ID");
  return ask_and_print<StopBulk>(request);
}

}  // namespace ff::cli
