#include <array>

#include "cli/command.hpp"

namespace ff::cli {

std::span<const Command> commands() {
  static constexpr std::array table{
      Command{"server", "Serve the HTTP API on a store", setup_server, Prints::text},
      Command{"demo", "Serve, with a worker and a few executions to watch", setup_demo,
              Prints::text},
      Command{"submit", "Submit an execution, or one per line of a file", setup_submit},
      Command{"get", "Show an execution", setup_get},
      Command{"ls", "List executions, the newest first", setup_list},
      Command{"counts", "Count executions by lane and state", setup_counts},
      Command{"watch", "Show an execution, a lane or everything as it changes", setup_watch},
      Command{"result", "Print the result of an execution", setup_result},
      Command{"payload", "Print the payload of an execution", setup_payload},
      Command{"attempts", "Show the attempts at an execution", setup_attempts},
      Command{"leases", "Show who held an execution when", setup_leases},
      Command{"cancel", "End an execution that has not ended", setup_cancel},
      Command{"replay", "Run an ended execution once more", setup_replay},
      Command{"priority", "Change the priority of an execution", setup_priority},
      Command{"revoke", "Take an execution away from its worker", setup_revoke},
      Command{"tags", "Show or change the tags of an execution", setup_tags},
      Command{"work", "Run a shell command for each execution", setup_work, Prints::text},
      Command{"events", "Follow what happens to executions", setup_events},
      Command{"backup", "Save a server's data while it runs", setup_backup},
      Command{"restore", "Make a data directory from a backup", setup_restore},
      Command{"check", "Verify a data directory", setup_check},
      Command{"bench", "Measure an engine on this machine", setup_bench},
      Command{"config", "Show every setting and where it comes from", setup_config},
      Command{"completion", "Print a completion script for a shell", setup_completion,
              Prints::text},
      Command{"library", "Print the function library for Valkey", setup_library},
      Command{"version", "Print the version", setup_version},
  };
  return table;
}

}  // namespace ff::cli
