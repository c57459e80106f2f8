#include <flowfabric/client.hpp>

#include "cli/options.hpp"
#include "cli/output.hpp"

namespace ff::cli {

Run setup_get(Arguments& arguments) {
  struct Given {
    EngineOption engine;
    std::string id;
    bool json = false;
  };
  auto given = std::make_shared<Given>();
  arguments.positional("id", given->id, "The execution", Arguments::Need::required);
  arguments.flag("--json", given->json, "Print it as JSON");
  given->engine.add_to(arguments);

  return [given]() -> Result<ExitCode> {
    const auto id = ExecutionId::parse(given->id);
    if (!id) return std::unexpected(id.error());
    const auto engine = given->engine.open();
    if (!engine) return std::unexpected(engine.error());
    const auto execution = Client(**engine).get(*id);
    if (!execution) return std::unexpected(execution.error());
    if (given->json)
      print_json(*execution);
    else
      print_fields(*execution);
    return ExitCode::ok;
  };
}

}  // namespace ff::cli
