#include <flowfabric/client.hpp>

#include "cli/options.hpp"
#include "cli/output.hpp"

namespace ff::cli {

Run setup_result(CLI::App& app) {
  struct Arguments {
    EngineOption engine;
    std::string id;
    WaitOption wait;
  };
  auto arguments = std::make_shared<Arguments>();
  arguments->engine.add_to(app);
  app.add_option("id", arguments->id, "The execution")->required();
  arguments->wait.add_to(app, "Wait for its end");

  return [arguments]() -> Result<ExitCode> {
    const auto id = ExecutionId::parse(arguments->id);
    if (!id) return std::unexpected(id.error());
    const auto engine = arguments->engine.open();
    if (!engine) return std::unexpected(engine.error());
    Client client(**engine);
    return print_result(client, *id, arguments->wait.limit());
  };
}

}  // namespace ff::cli
