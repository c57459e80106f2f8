// The command table: what `ff` can do. A command is a file in commands/ and a row in the table.
#pragma once

#include <flowfabric/error.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/exit_code.hpp"

namespace ff {
class Engine;
}

namespace ff::cli {

// Declares the command's arguments on `app`; what it returns runs the command once they are parsed.
using Run = std::function<Result<ExitCode>()>;
struct Command {
  const char* name;
  const char* summary;
  Run (*setup)(CLI::App& app);
};

std::span<const Command> commands();

Run setup_demo(CLI::App& app);
Run setup_get(CLI::App& app);
Run setup_result(CLI::App& app);
Run setup_server(CLI::App& app);
Run setup_submit(CLI::App& app);
Run setup_version(CLI::App& app);

}  // namespace ff::cli
