#include "store/embedded/check.hpp"

#include <memory>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "cli/command.hpp"

namespace ff::cli {
namespace {

namespace json = boost::json;

void print_json(const embedded::CheckReport& report) {
  json::array problems(report.problems.begin(), report.problems.end());
  fmt::print("{}\n", json::serialize(json::object{{"live", report.live},
                                                  {"ended", report.ended},
                                                  {"index_entries", report.index_entries},
                                                  {"problem_count", report.problem_count},
                                                  {"problems", std::move(problems)}}));
}

void print_text(const embedded::CheckReport& report) {
  fmt::print("{} live and {} ended executions, {} index entries\n", report.live, report.ended,
             report.index_entries);
  for (const auto& problem : report.problems) fmt::print("  {}\n", problem);
  const auto more = report.problem_count - report.problems.size();
  if (more > 0) fmt::print("  and {} more\n", more);
  fmt::print("{}\n", report.problem_count == 0
                         ? "no problems"
                         : fmt::format("{} problems; restore the data directory from a backup",
                                       report.problem_count));
}

}  // namespace

Run setup_check(Arguments& arguments) {
  struct Given {
    std::string directory;
    bool json = false;
  };
  auto given = std::make_shared<Given>();
  arguments.positional("directory", given->directory, "The data directory; no server may use it",
                       Arguments::Need::required);
  arguments.flag("--json", given->json, "Print it as JSON");
  arguments.examples("  ff check ./ff-data        (exit code 1 if there are problems)");

  return [given]() -> Result<ExitCode> {
    const auto report = embedded::check(given->directory);
    if (!report) return std::unexpected(report.error());
    if (given->json)
      print_json(*report);
    else
      print_text(*report);
    return report->problem_count == 0 ? ExitCode::ok : ExitCode::failed;
  };
}

}  // namespace ff::cli
