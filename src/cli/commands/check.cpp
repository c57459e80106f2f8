#include "store/embedded/tools/check.hpp"

#include <memory>

#include <fmt/format.h>

#include "base/try.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress.hpp"

namespace ff::cli {
namespace {

json::object fields_of(const embedded::CheckReport& report) {
  return {{"live", report.live},
          {"ended", report.ended},
          {"flows", report.flows},
          {"budgets", report.budgets},
          {"quotas", report.quotas},
          {"schedules", report.schedules},
          {"index_entries", report.index_entries},
          {"problem_count", report.problem_count},
          {"problems", json::array(report.problems.begin(), report.problems.end())}};
}

void print_text(const embedded::CheckReport& report) {
  fmt::print("{} live and {} ended executions, {} flows, {} budgets, {} quotas, {} schedules, {} index entries\n",
             report.live, report.ended, report.flows, report.budgets, report.quotas, report.schedules,
             report.index_entries);
  for (const auto& problem : report.problems) fmt::print("  {}\n", problem);
  const auto more = report.problem_count - report.problems.size();
  if (more > 0) fmt::print("  and {} more\n", more);
  fmt::print("{}\n", report.problem_count == 0
                         ? "no problems"
                         : fmt::format("{} problems; restore the data directory from a backup",
                                       report.problem_count));
}

Result<embedded::CheckReport> check(const std::string& directory) {
  Progress progress("entries checked:", 0);
  return embedded::check(directory, {.on_entry = [&] { progress.add(1); }});
}

}  // namespace

Run setup_check(Arguments& arguments) {
  auto directory = std::make_shared<std::string>();
  arguments.positional("directory", *directory, "The data directory; no server may use it",
                       Arguments::Need::required, "DIR");
  arguments.examples("  ff check ./ff-data        (exit code 1 if there are problems)");

  return [directory](const Context& context) -> Result<ExitCode> {
    const auto report = check(*directory);
    FF_TRY(report);
    if (context.json)
      print_json(fields_of(*report));
    else
      print_text(*report);
    return report->problem_count == 0 ? ExitCode::ok : ExitCode::failed;
  };
}

}  // namespace ff::cli
