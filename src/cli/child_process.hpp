// A command as a process of its own, with its input given and its output taken.
#pragma once

#include <flowfabric/error.hpp>
#include <flowfabric/time.hpp>

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace ff::cli {

struct ChildCommand {
  std::vector<std::string> arguments;    // the first is the program, a path
  std::vector<std::string> environment;  // NAME=VALUE, added to this process's own
  std::vector<std::string> withheld =
      {};                               // names of variables of this process that it does not get
  std::string input;                    // its standard input
  std::size_t output_bytes_max;         // of standard output; one that prints more is stopped
  std::size_t error_bytes_max;          // of standard error; only the last of it is kept
  Millis grace;                         // between SIGTERM and SIGKILL when it is stopped
  std::size_t request_bytes_max = 0;    // of what it writes to file 3; the rest is dropped
  std::vector<std::string> files = {};  // contents of further files that it can read: 4, 5, …
  // Called with each part of standard output as it comes; must not throw. The command is read on when it returns.
  std::function<void(std::string_view)> on_output = {};
};

inline constexpr int request_file = 3;
inline constexpr int first_input_file = 4;

struct ChildEnd {
  enum class How { exited, killed, stopped, printed_too_much };
  How how;
  int code;  // the exit code, or the signal that killed it
  std::string output;
  std::string error;    // also passed on to this process's standard error
  std::string request;  // that it wrote to file 3
};

// Runs it in a process group of its own until it ends, or until `stop` is requested: then the group is
// told SIGTERM and, after the grace, SIGKILL. Nothing of the group is left when this returns. Blocks;
// may be called from several threads. Fails with invalid_input if the command cannot be started.
Result<ChildEnd> run_child(const ChildCommand& command, std::stop_token stop);

// Kills all commands that are running, with their groups: this process is about to end. Any thread.
void kill_children();

}  // namespace ff::cli
