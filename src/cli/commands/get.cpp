#include <flowfabric/client.hpp>

#include "cli/options.hpp"
#include "cli/output.hpp"

namespace ff::cli {

Run setup_get(CLI::App& app) {
  struct Arguments {
    EngineOption engine;
    std::string id;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  arguments->engine.add_to(app);
  app.add_option("id", arguments->id, "The execution")->required();
  app.add_flag("--json", arguments->json, "Print it as JSON");

  return [arguments]() -> Result<ExitCode> {
    const auto id = ExecutionId::parse(arguments->id);
    if (!id) return std::unexpected(id.error());
    const auto engine = arguments->engine.open();
    if (!engine) return std::unexpected(engine.error());
    const auto execution = Client(**engine).get(*id);
    if (!execution) return std::unexpected(execution.error());
    if (arguments->json)
      print_json(*execution);
    else
      print_fields(*execution);
    return ExitCode::ok;
  };
}

}  // namespace ff::cli
