#include <cstdio>

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <CLI/CLI.hpp>

#include "base/utf8.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"

namespace ff::cli {
namespace {

constexpr const char* footer =
    R"(Exit codes: 0 ok, 1 the execution (or something else) failed, 2 wrong usage or input,
3 no such execution, 4 its state does not allow that, 5 server or store unavailable.)";

bool is_command(std::string_view name) {
  return std::ranges::any_of(commands(), [&](const auto& command) { return command.name == name; });
}

int main(int argc, char** argv) {
  spdlog::set_default_logger(spdlog::stderr_logger_mt("ff"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);

  CLI::App app{"FlowFabric: a durable execution engine", "ff"};
  app.set_version_flag("--version", fmt::format("ff {}", version));
  app.require_subcommand(1);
  app.footer(footer);

  Run chosen;
  for (const auto& command : commands()) {
    auto* sub = app.add_subcommand(command.name, command.summary);
    Arguments arguments(*sub);
    auto run = command.setup(arguments);
    sub->final_callback([&chosen, run = std::move(run)] { chosen = run; });
  }
  if (argc > 1 && argv[1][0] != '-' && !is_command(argv[1])) {
    fmt::print(stderr, "ff: there is no command '{}'; see ff --help\n", printable(argv[1]));
    return static_cast<int>(ExitCode::usage);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& wrong) {
    return app.exit(wrong) == 0 ? 0 : static_cast<int>(ExitCode::usage);
  }

  auto exit_code = chosen();
  if (exit_code && std::fflush(stdout) != 0)
    exit_code = fail(Errc::internal, "cannot write to standard output");
  if (exit_code) return static_cast<int>(*exit_code);
  fmt::print(stderr, "ff: {}: {}\n", exit_code.error().name(),
             printable(exit_code.error().message, std::string::npos));
  return static_cast<int>(exit_code_of(exit_code.error()));
}

}  // namespace
}  // namespace ff::cli

int main(int argc, char** argv) { return ff::cli::main(argc, argv); }
