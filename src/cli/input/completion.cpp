#include "cli/input/completion.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/utf8.hpp"

namespace ff::cli {
namespace {

// "a|b" → "a b"; empty if the type is no list of choices.
std::string choices_of(const std::string& type) {
  if (type.find('|') == std::string::npos) return "";
  auto choices = type;
  std::ranges::replace(choices, '|', ' ');
  return choices;
}

bool is_file(const std::string& type) { return type == "FILE" || type == "DIR"; }

std::vector<std::string> names(const auto& described) {
  std::vector<std::string> all;
  for (const auto& each : described) all.push_back(each.name);
  return all;
}

// Inside single quotes of a shell.
std::string shell_quoted(std::string_view text) {
  std::string safe;
  for (const char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + safe + "'";
}

// Bash code that completes a value of this type.
std::string bash_values(const std::string& type) {
  if (const auto choices = choices_of(type); !choices.empty())
    return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", choices);
  if (is_file(type)) return fmt::format("_ff_files {}", type == "DIR" ? "-d" : "-f");
  return ":";
}

// The commands that take arguments; those of a group by their full names.
std::vector<CommandDescription> without_groups(const std::vector<CommandDescription>& commands) {
  std::vector<CommandDescription> all;
  for (const auto& command : commands) {
    if (command.commands.empty()) all.push_back(command);
    for (auto inner : command.commands) {
      inner.name = command.name + " " + inner.name;
      all.push_back(std::move(inner));
    }
  }
  return all;
}

std::vector<CommandDescription> groups_of(std::vector<CommandDescription> commands) {
  std::erase_if(commands, [](const auto& command) { return command.commands.empty(); });
  return commands;
}

std::string bash(const std::vector<CommandDescription>& commands) {
  std::string script = fmt::format(
      R"(# bash completion for ff: source <(ff completion bash)
_ff_files() {{
  compopt -o filenames 2> /dev/null
  COMPREPLY+=($(compgen "$1" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
_ff() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$word"))
    return
  fi
  local command=${{COMP_WORDS[1]}}
  if [ "$COMP_CWORD" -eq 2 ]; then
    case "$command" in
)",
      fmt::join(names(commands), " "));
  for (const auto& group : groups_of(commands))
    script +=
        fmt::format("      {}) COMPREPLY=($(compgen -W '{} --help' -- \"$word\")); return ;;\n",
                    group.name, fmt::join(names(group.commands), " "));
  script += "    esac\n  fi\n  case \"$command\" in\n";
  for (const auto& group : groups_of(commands))
    script += fmt::format("    {}) command+=\" ${{COMP_WORDS[2]}}\" ;;\n", group.name);
  script += "  esac\n  case \"$command $before\" in\n";
  const auto leaves = without_groups(commands);
  for (const auto& command : leaves)
    for (const auto& option : command.options)
      if (!option.type.empty())
        script += fmt::format("    '{} {}') {}; return ;;\n", command.name, option.name,
                              bash_values(option.type));
  script += "  esac\n  case \"$command\" in\n";
  for (const auto& command : leaves) {
    script += fmt::format("    '{}') COMPREPLY=($(compgen -W '{}{}' -- \"$word\"))", command.name,
                          fmt::join(names(command.options), " "),
                          fmt::join(
                              [&] {
                                std::vector<std::string> words;
                                for (const auto& type : command.positional_types)
                                  words.push_back(" " + choices_of(type));
                                return words;
                              }(),
                              ""));
    if (std::ranges::any_of(command.positional_types, is_file)) script += "; _ff_files -f";
    script += " ;;\n";
  }
  return script + "  esac\n}\ncomplete -F _ff ff\n";
}

std::string zsh_action(const std::string& type) {
  if (const auto choices = choices_of(type); !choices.empty()) return fmt::format("({})", choices);
  if (type == "DIR") return "_files -/";
  if (type == "FILE") return "_files";
  return " ";
}

// In a description of zsh, brackets and colons are signs.
std::string zsh_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string zsh(const std::vector<CommandDescription>& commands) {
  std::string script = R"(#compdef ff
# zsh completion for ff: source <(ff completion zsh)
_ff() {
  local -a commands
  commands=(
)";
  for (const auto& command : commands)
    script += fmt::format("    {}\n", shell_quoted(command.name + ":" + zsh_text(command.summary)));
  script += R"(  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=${words[2]}
  shift words
  (( CURRENT-- ))
  case $command in
)";
  for (const auto& group : groups_of(commands)) {
    script += fmt::format("    {})\n      commands=(\n", group.name);
    for (const auto& command : group.commands)
      script +=
          fmt::format("        {}\n", shell_quoted(command.name + ":" + zsh_text(command.summary)));
    script += R"(      )
      if (( CURRENT == 2 )); then
        _describe command commands
        return
      fi
      command+=" ${words[2]}"
      shift words
      (( CURRENT-- )) ;;
)";
  }
  script += "  esac\n  case $command in\n";
  for (const auto& command : without_groups(commands)) {
    script += fmt::format("    '{}') _arguments", command.name);
    for (const auto& option : command.options) {
      auto spec = fmt::format("{}[{}]", option.name, zsh_text(option.help));
      if (!option.type.empty())
        spec += fmt::format(":{}:{}", zsh_text(choices_of(option.type).empty() ? option.type : " "),
                            zsh_action(option.type));
      script += " \\\n      " + shell_quoted(spec);
    }
    for (const auto& type : command.positional_types)
      script += " \\\n      " + shell_quoted(fmt::format("::{}:{}", " ", zsh_action(type)));
    script += " ;;\n";
  }
  return script + "  esac\n}\ncompdef _ff ff\n";
}

// Each word of the command's name has been given.
std::string fish_condition(const std::string& name) {
  const auto blank = name.find(' ');
  if (blank == std::string::npos) return "__fish_seen_subcommand_from " + name;
  return fmt::format("__fish_seen_subcommand_from {}; and {}", name.substr(0, blank),
                     fish_condition(name.substr(blank + 1)));
}

std::string fish(const std::vector<CommandDescription>& commands) {
  std::string script = "# fish completion for ff: ff completion fish | source\ncomplete -c ff -f\n";
  for (const auto& command : commands) {
    script += fmt::format("complete -c ff -n __fish_use_subcommand -a {} -d {}\n", command.name,
                          shell_quoted(command.summary));
  }
  for (const auto& group : groups_of(commands))
    for (const auto& command : group.commands)
      script += fmt::format(
          "complete -c ff -n '__fish_seen_subcommand_from {}; and not __fish_seen_subcommand_from "
          "{}' "
          "-a {} -d {}\n",
          group.name, fmt::join(names(group.commands), " "), command.name,
          shell_quoted(command.summary));
  for (const auto& command : without_groups(commands)) {
    const auto line = fmt::format("complete -c ff -n '{}'", fish_condition(command.name));
    const auto values = [](const std::string& type) -> std::string {
      if (const auto choices = choices_of(type); !choices.empty())
        return fmt::format(" -x -a '{}'", choices);
      return is_file(type) ? " -r -F" : " -x";
    };
    for (const auto& option : command.options)
      script +=
          fmt::format("{} -l {} -d {}{}\n", line, option.name.substr(2), shell_quoted(option.help),
                      option.type.empty() ? "" : values(option.type));
    for (const auto& type : command.positional_types)
      if (!choices_of(type).empty() || is_file(type))
        script += fmt::format("{}{}\n", line, is_file(type) ? " -F" : values(type));
  }
  return script;
}

}  // namespace

Result<std::string> completion_script(std::string_view shell,
                                      const std::vector<CommandDescription>& commands) {
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  return fail(Errc::invalid_input,
              fmt::format("there is no completion for '{}'; there is one for bash, zsh and fish",
                          printable(shell)));
}

}  // namespace ff::cli
