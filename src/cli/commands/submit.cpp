#include <flowfabric/client.hpp>

#include <iostream>
#include <iterator>

#include <fmt/format.h>

#include "cli/output.hpp"
#include "cli/options.hpp"

namespace ff::cli {
namespace {

struct Arguments {
  EngineOption engine;
  NewExecution execution;
  double wait_seconds = 0;
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
  if (arguments.wait_seconds > 0) {
    fmt::print(stderr, "{}\n", submitted->id.str());
    return print_result(client, submitted->id, arguments.wait_seconds);
  }
  if (arguments.json)
    print_json(*submitted);
  else
    fmt::print("{}\n", submitted->id.str());
  return ExitCode::ok;
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
  app.add_option("--wait", arguments->wait_seconds,
                 "Wait up to SECONDS (60 if not given) and print the result")
      ->expected(0, 1)
      ->default_str("60")
      ->check(CLI::PositiveNumber);
  app.add_flag("--json", arguments->json, "Print the answer as JSON");
  app.footer("Examples:\n  ff submit greet Ada --lane demo --wait\n  ff submit resize - < image.png");
  return [arguments] { return run(*arguments); };
}

}  // namespace ff::cli
