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
      Command{"backup", "Save a server's data while it runs", setup_backup},
      Command{"restore", "Make a data directory from a backup", setup_restore},
      Command{"check", "Verify a data directory", setup_check},
      Command{"bench", "Measure an engine on this machine", setup_bench},
      Command{"version", "Print the version", setup_version},
  };
  return table;
}

}  // namespace ff::cli
