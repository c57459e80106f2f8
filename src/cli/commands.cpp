#include <array>

#include "cli/command.hpp"

namespace ff::cli {

std::span<const Command> commands() {
  static constexpr std::array table{
      Command{"server", "Serve the HTTP API on a store", setup_server},
      Command{"demo", "Serve, with a worker and a few executions to watch", setup_demo},
      Command{"submit", "Submit an execution", setup_submit},
      Command{"get", "Show an execution", setup_get},
      Command{"result", "Print the result of an execution", setup_result},
      Command{"version", "Print the version", setup_version},
  };
  return table;
}

}  // namespace ff::cli
