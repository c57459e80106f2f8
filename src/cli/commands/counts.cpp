#include <fmt/format.h>

#include "base/try.hpp"
#include "cli/engine.hpp"
#include "cli/output/listing.hpp"

namespace ff::cli {

Run setup_counts(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  arguments.field("--lane", *request, "lane", "NAME", "Only of this lane");
  arguments.settings({Setting::ns});
  arguments.engine();
  arguments.examples("  ff counts\n  ff counts --lane demo --json");
  return [request](const Context& context) -> Result<ExitCode> {
    request->texts["namespace"] = context.settings.text(Setting::ns);
    const auto counts = ask<CountExecutions>(context, *request);
    FF_TRY(counts);
    if (!context.json)
      fmt::print("{}", counts_table(*counts, standard_output()));
    else
      for (const auto& count : fields_of(counts->counts)) print_json(count);
    return ExitCode::ok;
  };
}

}  // namespace ff::cli
