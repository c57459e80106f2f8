#include "base/version.hpp"

#include <fmt/format.h>

#include "cli/output/output.hpp"

namespace ff::cli {

Run setup_version(Arguments& arguments) {
  arguments.examples("  ff version\n  ff version --json");
  return [](const Context& context) -> Result<ExitCode> {
    if (context.json)
      print_json({{"version", version}});
    else
      fmt::print("ff {}\n", version);
    return ExitCode::ok;
  };
}

}  // namespace ff::cli
