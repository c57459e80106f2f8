// The command table: what `ff` can do. A command is a file in commands/ and a row in the table.
#pragma once

#include <flowfabric/error.hpp>

#include <functional>
#include <span>

#include "cli/arguments.hpp"
#include "cli/exit_code.hpp"

namespace ff::cli {

// Declares the command's arguments; what it returns runs the command once they are parsed.
using Run = std::function<Result<ExitCode>()>;
struct Command {
  const char* name;
  const char* summary;
  Run (*setup)(Arguments& arguments);
};

std::span<const Command> commands();

Run setup_backup(Arguments& arguments);
Run setup_bench(Arguments& arguments);
Run setup_check(Arguments& arguments);
Run setup_demo(Arguments& arguments);
Run setup_get(Arguments& arguments);
Run setup_restore(Arguments& arguments);
Run setup_result(Arguments& arguments);
Run setup_server(Arguments& arguments);
Run setup_submit(Arguments& arguments);
Run setup_version(Arguments& arguments);

}  // namespace ff::cli
