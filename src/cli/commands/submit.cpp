#include <flowfabric/client.hpp>

#include <iostream>
#include <iterator>

#include <fmt/format.h>

#include "cli/options.hpp"
#include "cli/output.hpp"

namespace ff::cli {
namespace {

struct Given {
  EngineOption engine;
  NewExecution execution;
  WaitOption wait;
  bool json = false;
};

Result<ExitCode> run(Given given) {
  if (given.execution.payload == "-")
    given.execution.payload.assign(std::istreambuf_iterator<char>(std::cin), {});
  const auto engine = given.engine.open();
  if (!engine) return std::unexpected(engine.error());
  Client client(**engine);

  const auto submitted = client.submit(std::move(given.execution));
  if (!submitted) return std::unexpected(submitted.error());
  if (given.json)
    print_json(*submitted);
  else if (!given.wait.wait)
    fmt::print("{}\n", submitted->id.str());
  if (!given.wait.wait) return ExitCode::ok;
  return print_result(client, submitted->id, given.wait.limit());
}

}  // namespace

Run setup_submit(Arguments& arguments) {
  using Need = Arguments::Need;
  auto given = std::make_shared<Given>();
  auto& execution = given->execution;
  arguments.positional("kind", execution.kind, "What to run: the name of a worker's handler",
                       Need::required);
  arguments.positional("payload", execution.payload, "Its input; '-' reads standard input",
                       Need::optional);
  arguments.option("--lane", execution.lane, "The queue to put it in");
  arguments.option("--namespace", execution.ns, "The tenant");
  arguments.option("--priority", execution.priority, "0 to 9000, higher runs first");
  arguments.option("--id", execution.id, "Execution id, to make the call safe to repeat");
  given->wait.add_to(arguments, "Wait for its end and print the result");
  arguments.flag("--json", given->json, "Print the answer as JSON");
  given->engine.add_to(arguments);
  arguments.examples("  ff submit greet Ada --lane demo --wait\n  ff submit resize - < image.png");
  return [given] { return run(*given); };
}

}  // namespace ff::cli
