#include <fmt/format.h>

#include "base/try.hpp"
#include "cli/output/pages.hpp"

namespace ff::cli {
namespace {

constexpr std::array budget_columns{FieldColumn{"id", Column::Fit::keep},
                                    FieldColumn{"scope"},
                                    FieldColumn{"state", Column::Fit::keep},
                                    FieldColumn{"usage"},
                                    FieldColumn{"on_hard_limit", Column::Fit::drop},
                                    FieldColumn{"next_reset_at_ms", Column::Fit::drop}};

// "tokens 900/1000, requests 5"
std::string usage_text(const BudgetInfo& budget) {
  auto usage = budget.usage;
  for (const auto& [dimension, limit] : budget.spec.hard_limits) usage.try_emplace(dimension, 0);
  std::string text;
  for (const auto& [dimension, used] : usage) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", dimension, used);
    const auto limit = budget.spec.hard_limits.find(dimension);
    if (limit != budget.spec.hard_limits.end()) text += fmt::format("/{}", limit->second);
  }
  return text;
}

json::object budget_for_table(const BudgetInfo& budget) {
  auto row = http::to_fields(budget);
  const auto& spec = budget.spec;
  row["scope"] = spec.scope_id.empty() ? spec.scope_type
                                       : fmt::format("{}:{}", spec.scope_type, spec.scope_id);
  row["state"] = budget.exhausted ? "exhausted" : "open";
  row["usage"] = usage_text(budget);
  return row;
}

std::shared_ptr<Request> request_for_budget(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  arguments.field("id", *request, "id", "ID", "The budget");
  arguments.engine();
  return request;
}

}  // namespace

Run setup_budgets_create(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  arguments.amounts_field("--hard", *request, "hard_limits",
                          "A hard limit, such as tokens=1000; repeatable");
  arguments.amounts_field("--soft", *request, "soft_limits",
                          "A limit beyond which reports are told so; repeatable");
  arguments.duration_field("--reset-every", *request, "reset_interval_ms",
                           "How often its usage is set to zero (default: only by hand)");
  arguments.field("--enforcement", *request, "enforcement_mode", "strict|advisory",
                  "Whether hard limits hold, or are only told (default: strict)");
  arguments.field("--on-hard", *request, "on_hard_limit", "fail|suspend|reject|warn",
                  "What becomes of a running execution that breaks one (default: fail)");
  arguments.field("--on-soft", *request, "on_soft_limit", "warn|ignore",
                  "Whether going beyond a soft limit is told (default: warn)");
  arguments.field("--scope-type", *request, "scope_type", "TEXT",
                  "What it is for, such as tenant; for people");
  arguments.field("--scope-id", *request, "scope_id", "TEXT", "Whom it is for; for people");
  arguments.field("--id", *request, "id", "UUID",
                  "An id of your own: makes the call safe to repeat");
  arguments.of_namespace();
  arguments.examples(
      "  ff budgets create --hard tokens=100000 --soft tokens=80000 --reset-every 1d\n"
      "  ff budgets create --hard cost_cents=5000 --on-hard suspend --scope-type tenant "
      "--scope-id acme");
  return create_and_print_id<CreateBudget>(request);
}

Run setup_budgets_list(Arguments& arguments) {
  auto options = std::make_shared<PageOptions>();
  options->add_to(arguments);
  arguments.examples("  ff budgets list\n  ff budgets list --all --json | jq -r .id");
  return [options](const Context& context) {
    return print_pages<ListBudgets>(context, *options, &BudgetList::budgets, budget_columns,
                                    budget_for_table);
  };
}

Run setup_budgets_show(Arguments& arguments) {
  auto request = request_for_budget(arguments);
  arguments.examples("  ff budgets show ID\n  ff budgets show ID --json | jq .usage");
  return ask_and_print<GetBudget>(request);
}

Run setup_budgets_report(Arguments& arguments) {
  auto request = request_for_budget(arguments);
  arguments.amounts_field("dimensions", *request, "dimensions", "How much was used");
  arguments.field("--execution", *request, "execution_id", "ID",
                  "Who spent it: ff budgets release takes back what it has spent");
  arguments.field("--dedup-key", *request, "dedup_key", "TEXT",
                  "Repeated with the same within a day, it counts once");
  arguments.examples(
      "  ff budgets report ID tokens=250 requests=1\n"
      "  ff budgets report ID tokens=250 --dedup-key invoice-7    (safe to repeat)");
  return [request](const Context& context) -> Result<ExitCode> {
    const auto reply = ask<ReportUsage>(context, *request);
    FF_TRY(reply);
    print_object(context, http::to_fields(*reply));
    return reply->outcome == UsageOutcome::hard_breach ? ExitCode::conflict : ExitCode::ok;
  };
}

Run setup_budgets_release(Arguments& arguments) {
  auto request = request_for_budget(arguments);
  arguments.field("execution", *request, "execution_id", "ID", "Whose spending");
  arguments.examples("  ff budgets release ID EXECUTION");
  return ask_and_print<ReleaseUsage>(request);
}

Run setup_budgets_reset(Arguments& arguments) {
  auto request = request_for_budget(arguments);
  arguments.examples("  ff budgets reset ID");
  return ask_and_print<ResetBudget>(request);
}

Run setup_budgets_delete(Arguments& arguments) {
  auto request = request_for_budget(arguments);
  arguments.examples("  ff budgets delete ID");
  return ask_and_print<DeleteBudget>(request);
}

}  // namespace ff::cli
