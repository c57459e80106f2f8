#include <flowfabric/limits.hpp>

#include <fmt/format.h>

#include "base/try.hpp"
#include "cli/engine.hpp"
#include "cli/output/listing.hpp"

namespace ff::cli {
namespace {

struct ListArguments {
  Request request;
  std::uint32_t limit = 100;
  bool all = false;
};

// An active execution that no worker holds says so.
void show_reclaimable(json::object& row) {
  const auto ownership = row.at("state_vector").at("ownership_state").as_string();
  if (ownership == to_string(OwnershipState::lease_expired_reclaimable) ||
      ownership == to_string(OwnershipState::lease_revoked))
    row["state"] = "active (reclaimable)";
}

// Page after page, until there are `limit` or no more.
Result<ExitCode> run(const Context& context, const ListArguments& given) {
  auto request = given.request;
  request.texts["namespace"] = context.settings.text(Setting::ns);
  auto list = request.to<ListExecutions>();
  FF_TRY(list);
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);

  std::vector<json::object> rows;  // of the table
  std::size_t seen = 0;
  do {
    const auto left = given.all ? limits::list_page_max : given.limit - seen;
    list->limit = static_cast<std::uint32_t>(std::min<std::size_t>(left, limits::list_page_max));
    auto page = run_blocking(**engine, *list);
    FF_TRY(page);
    seen += page->executions.size();
    for (auto& row : fields_of(page->executions)) {
      if (context.json) {
        print_json(row);
        continue;
      }
      show_reclaimable(row);
      rows.push_back(std::move(row));
    }
    list->cursor = page->next;
  } while (list->cursor && (given.all || seen < given.limit));

  if (!context.json) print_rows(context, execution_columns, rows);
  if (list->cursor)
    fmt::print(stderr, "ff: there may be more; go on with --cursor {}\n", *list->cursor);
  return ExitCode::ok;
}

}  // namespace

Run setup_list(Arguments& arguments) {
  auto given = std::make_shared<ListArguments>();
  auto& request = given->request;
  arguments.field("--lane", request, "lane", "NAME", "Only of this lane");
  arguments.field("--state", request, "state", state_choices, "Only in this state");
  arguments.field("--kind", request, "kind", "NAME", "Only of this kind");
  arguments.field("--tag", request, "tag", "KEY=VALUE", "Only with this tag");
  arguments.time_field("--since", request, "created_from_ms", Side::past,
                       "Only submitted since then: a time, or 2h for two hours ago");
  arguments.time_field("--until", request, "created_before_ms", Side::past,
                       "Only submitted before then");
  arguments.field("--where", request, "where", "FILTER",
                  "Only what matches: 'state:failed kind:render created:>-2h'");
  arguments.field("--sort", request, "order",
                  "newest|oldest|ended_newest|ended_oldest|priority_highest|priority_lowest",
                  "The order (default: newest)");
  arguments.option("--limit", given->limit, "How many at most (default: 100)");
  arguments.flag("--all", given->all, "As many as there are");
  arguments.field("--cursor", request, "cursor", "TEXT", "Go on where an earlier list ended");
  arguments.settings({Setting::ns});
  arguments.engine();
  arguments.examples(
      "  ff ls --lane demo --state failed --since 1h\n"
      "  ff ls --where 'state:failed,expired tag:billing.customer=7 ended:>-1d' --sort "
      "ended_newest\n"
      "  ff ls --tag billing.customer=7 --all --json | jq -r .id");
  return [given](const Context& context) -> Result<ExitCode> {
    if (given->limit == 0) return fail(Errc::invalid_input, "--limit must be at least 1");
    return run(context, *given);
  };
}

}  // namespace ff::cli
