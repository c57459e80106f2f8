#include <flowfabric/client.hpp>

#include <iostream>
#include <iterator>

#include <fmt/format.h>

#include "cli/options.hpp"
#include "cli/output.hpp"

namespace ff::cli {
namespace {

struct Arguments {
  EngineOption engine;
  NewExecution execution;
  WaitOption wait;
  bool json = false;
};

Result<ExitCode> run(Arguments arguments) {
  if (arguments.execution.payload == "-")
    arguments.execution.payload.assign(std::istreambuf_iterator<char>(std::cin), {});
  const auto engine = arguments.engine.open();
  if (!engine) return std::unexpected(engine.error());
  Client client(**engine);

  const auto submitted = client.submit(std::move(arguments.execution));
  if (!submitted) return std::unexpected(submitted.error());
  if (arguments.json)
    print_json(*submitted);
  else if (!arguments.wait.wait)
    fmt::print("{}\n", submitted->id.str());
  if (!arguments.wait.wait) return ExitCode::ok;
  return print_result(client, submitted->id, arguments.wait.limit());
}

}  // namespace

Run setup_submit(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  auto& execution = arguments->execution;
  arguments->engine.add_to(app);
  app.add_option("kind", execution.kind, "What to run: the name of a worker's handler")->required();
  app.add_option("payload", execution.payload, "Its input; '-' reads standard input");
  app.add_option("--lane", execution.lane, "The queue to put it in")->capture_default_str();
  app.add_option("--namespace", execution.ns, "The tenant")->capture_default_str();
  app.add_option("--priority", execution.priority, "0 to 9000, higher runs first")
      ->capture_default_str();
  app.add_option("--id", execution.id, "Execution id, to make the call safe to repeat");
  arguments->wait.add_to(app, "Wait for its end and print the result");
  app.add_flag("--json", arguments->json, "Print the answer as JSON");
  app.footer("Examples:\n  ff submit greet Ada --lane demo --wait\n  ff submit resize - < image.png");
  return [arguments] { return run(*arguments); };
}

}  // namespace ff::cli
