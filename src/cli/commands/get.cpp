#include "cli/options.hpp"
#include "cli/output.hpp"

namespace ff::cli {

Run setup_get(Arguments& arguments) {
  struct Given {
    ExecutionOption execution;
    bool json = false;
  };
  auto given = std::make_shared<Given>();
  given->execution.add_to(arguments);
  arguments.flag("--json", given->json, "Print it as JSON");

  return [given] {
    return given->execution.with([&](Client& client, const ExecutionId& id) -> Result<ExitCode> {
      const auto execution = client.get(id);
      if (!execution) return std::unexpected(execution.error());
      if (given->json)
        print_json(*execution);
      else
        print_fields(*execution);
      return ExitCode::ok;
    });
  };
}

}  // namespace ff::cli
