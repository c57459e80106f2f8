#include "cli/input/completion.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/try.hpp"
#include "cli/command.hpp"

namespace ff::cli {
namespace {

// The subcommands of a group are inside it.
std::vector<CommandDescription> describe_commands(const CLI::App& program) {
  std::vector<CommandDescription> all;
  for (const auto* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    auto& described = all.emplace_back(CommandDescription{
        command->get_name(), command->get_description(), {}, {}, describe_commands(*command)});
    for (const auto* option : command->get_options()) {
      const bool takes_value = option->get_items_expected_max() > 0;
      const auto type = takes_value ? option->get_type_name() : "";
      if (option->get_positional())
        described.positional_types.push_back(type);
      else
        described.options.push_back(
            {option->get_name(false, false), option->get_description(), type});
    }
  }
  return all;
}

}  // namespace

Run setup_completion(Arguments& arguments) {
  auto shell = std::make_shared<std::string>();
  arguments.positional("shell", *shell, "Whose", Arguments::Need::required, "bash|zsh|fish");
  arguments.examples(
      "  source <(ff completion bash)                    (in ~/.bashrc)\n"
      "  source <(ff completion zsh)                     (in ~/.zshrc, after compinit)\n"
      "  ff completion fish > ~/.config/fish/completions/ff.fish");
  return [shell, program = &arguments.program()](const Context&) -> Result<ExitCode> {
    const auto script = completion_script(*shell, describe_commands(*program));
    FF_TRY(script);
    fmt::print("{}", *script);
    return ExitCode::ok;
  };
}

}  // namespace ff::cli
