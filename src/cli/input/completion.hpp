// Completion scripts for shells, made from what the program says of itself.
#pragma once

#include <flowfabric/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ff::cli {

struct OptionDescription {
  std::string name;  // --lane
  std::string help;
  std::string type;  // empty for a flag; FILE, DIR, or choices with | between them
};

struct CommandDescription {
  std::string name;
  std::string summary;
  std::vector<OptionDescription> options;
  std::vector<std::string> positional_types;
  std::vector<CommandDescription> commands = {};  // of a group
};

// Fails with invalid_input for a shell that is not bash, zsh or fish.
Result<std::string> completion_script(std::string_view shell,
                                      const std::vector<CommandDescription>& commands);

}  // namespace ff::cli
