#include <fmt/format.h>

#include "cli/output/output.hpp"
#include "store/valkey/boot/library.hpp"

namespace ff::cli {

// For operators who load it themselves: a server then needs no right to.
Run setup_library(Arguments& arguments) {
  arguments.examples(
      "  ff library | valkey-cli -x FUNCTION LOAD REPLACE\n"
      "  ff library --json");
  return [](const Context& context) -> Result<ExitCode> {
    const auto& version = valkey_store::library_version;
    if (context.json)
      print_json({{"name", "flowfabric"},
                  {"version", fmt::format("{}.{}", version.major, version.minor)},
                  {"text", valkey_store::library_text()}});
    else
      fmt::print("{}", valkey_store::library_text());
    return ExitCode::ok;
  };
}

}  // namespace ff::cli
