#include <flowfabric/client.hpp>

#include "cli/options.hpp"
#include "cli/output.hpp"

namespace ff::cli {

Run setup_result(CLI::App& app) {
  struct Arguments {
    EngineOption engine;
    std::string id;
    double wait_seconds = 0;
  };
  auto arguments = std::make_shared<Arguments>();
  arguments->engine.add_to(app);
  app.add_option("id", arguments->id, "The execution")->required();
  app.add_option("--wait", arguments->wait_seconds,
                 "Wait up to SECONDS (60 if not given) for it to end")
      ->expected(0, 1)
      ->default_str("60")
      ->check(CLI::PositiveNumber);

  return [arguments]() -> Result<ExitCode> {
    const auto id = ExecutionId::parse(arguments->id);
    if (!id) return std::unexpected(id.error());
    const auto engine = arguments->engine.open();
    if (!engine) return std::unexpected(engine.error());
    Client client(**engine);
    return print_result(client, *id, arguments->wait_seconds);
  };
}

}  // namespace ff::cli
