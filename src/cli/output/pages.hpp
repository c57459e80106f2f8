// Commands that list what comes in pages.
#pragma once

#include <flowfabric/limits.hpp>

#include <fmt/format.h>

#include "base/try.hpp"
#include "cli/engine.hpp"

namespace ff::cli {

// How many to list, and from where on.
struct PageOptions {
  Request request;
  std::uint32_t limit = 100;
  bool all = false;

  void add_to(Arguments& arguments) {
    arguments.option("--limit", limit, "How many at most (default: 100)");
    arguments.flag("--all", all, "As many as there are");
    arguments.field("--after", request, "after", "ID", "Go on where an earlier list ended");
    arguments.of_namespace();
  }
};

// Page after page of `items`, until there are enough or no more. `for_table` makes a row for a person
// of an item's fields.
template <class Op, class Items, class ForTable>
Result<ExitCode> print_pages(const Context& context, const PageOptions& options, Items items,
                             std::span<const FieldColumn> columns, ForTable for_table) {
  if (options.limit == 0) return fail(Errc::invalid_input, "--limit must be at least 1");
  auto request = options.request;
  request.texts["namespace"] = context.settings.text(Setting::ns);
  auto list = request.to<Op>();
  FF_TRY(list);
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);

  std::vector<json::object> rows;
  std::size_t seen = 0;
  do {
    const auto left = options.all ? limits::list_page_max : options.limit - seen;
    list->limit = static_cast<std::uint32_t>(std::min<std::size_t>(left, limits::list_page_max));
    const auto page = run_blocking(**engine, *list);
    FF_TRY(page);
    for (const auto& item : (*page).*items) {
      ++seen;
      if (context.json)
        print_json(http::to_fields(item));
      else
        rows.push_back(for_table(item));
    }
    list->after = page->next;
  } while (list->after && (options.all || seen < options.limit));

  if (!context.json) print_rows(context, columns, rows);
  if (list->after)
    fmt::print(stderr, "ff: there are more; go on with --after {}\n", list->after->str());
  return ExitCode::ok;
}

// Runs a command that creates an object, and prints the object's id, or all fields as JSON.
template <class Op>
Run create_and_print_id(std::shared_ptr<Request> request) {
  return [request](const Context& context) -> Result<ExitCode> {
    request->texts["namespace"] = context.settings.text(Setting::ns);
    const auto reply = ask<Op>(context, *request);
    FF_TRY(reply);
    if (context.json)
      print_json(http::to_fields(*reply));
    else
      fmt::print("{}\n", reply->id.str());
    return ExitCode::ok;
  };
}

}  // namespace ff::cli
