#include <fmt/format.h>

#include "cli/output/pages.hpp"

namespace ff::cli {
namespace {

constexpr std::array quota_columns{FieldColumn{"id", Column::Fit::keep}, FieldColumn{"starts"},
                                   FieldColumn{"running"}, FieldColumn{"next_start_at_ms"},
                                   FieldColumn{"jitter_ms", Column::Fit::drop}};

// "12/100"
std::string of_limit(std::uint64_t count, std::optional<std::uint64_t> limit) {
  return limit ? fmt::format("{}/{}", count, *limit) : std::to_string(count);
}

json::object quota_for_table(const QuotaInfo& quota) {
  auto row = http::to_fields(quota);
  if (quota.spec.max_per_window)
    row["starts"] = fmt::format("{} per {}", of_limit(quota.in_window, quota.spec.max_per_window),
                                for_people("window_ms", row.at("window_ms")));
  row["running"] = of_limit(quota.running, quota.spec.max_concurrent);
  return row;
}

std::shared_ptr<Request> request_for_quota(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  arguments.field("id", *request, "id", "ID", "The quota");
  arguments.engine();
  return request;
}

}  // namespace

Run setup_quotas_create(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  arguments.number_field("--max-per-window", *request, "max_per_window",
                         "How many may start in any window");
  arguments.duration_field("--window", *request, "window_ms",
                           "How long the sliding window is (default: 1m)");
  arguments.number_field("--max-concurrent", *request, "max_concurrent",
                         "How many may run at the same time");
  arguments.duration_field("--jitter", *request, "jitter_ms",
                           "Spreads the time at which those that were refused are let in");
  arguments.field("--id", *request, "id", "UUID",
                  "An id of your own: makes the call safe to repeat");
  arguments.of_namespace();
  arguments.examples(
      "  ff quotas create --max-per-window 100 --window 1m --jitter 500ms\n"
      "  ff quotas create --max-concurrent 4");
  return create_and_print_id<CreateQuota>(request);
}

Run setup_quotas_list(Arguments& arguments) {
  auto options = std::make_shared<PageOptions>();
  options->add_to(arguments);
  arguments.examples("  ff quotas list\n  ff quotas list --all --json | jq -r .id");
  return [options](const Context& context) {
    return print_pages<ListQuotas>(context, *options, &QuotaList::quotas, quota_columns,
                                   quota_for_table);
  };
}

Run setup_quotas_show(Arguments& arguments) {
  auto request = request_for_quota(arguments);
  arguments.examples("  ff quotas show ID\n  ff quotas show ID --json | jq .running");
  return ask_and_print<GetQuota>(request);
}

Run setup_quotas_delete(Arguments& arguments) {
  auto request = request_for_quota(arguments);
  arguments.examples("  ff quotas delete ID");
  return ask_and_print<DeleteQuota>(request);
}

}  // namespace ff::cli
