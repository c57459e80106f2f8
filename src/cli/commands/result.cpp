#include <flowfabric/client.hpp>

#include "cli/options.hpp"
#include "cli/output.hpp"

namespace ff::cli {

Run setup_result(Arguments& arguments) {
  struct Given {
    EngineOption engine;
    std::string id;
    WaitOption wait;
  };
  auto given = std::make_shared<Given>();
  arguments.positional("id", given->id, "The execution", Arguments::Need::required);
  given->wait.add_to(arguments, "Wait for its end");
  given->engine.add_to(arguments);

  return [given]() -> Result<ExitCode> {
    const auto id = ExecutionId::parse(given->id);
    if (!id) return std::unexpected(id.error());
    const auto engine = given->engine.open();
    if (!engine) return std::unexpected(engine.error());
    Client client(**engine);
    return print_result(client, *id, given->wait.limit());
  };
}

}  // namespace ff::cli
