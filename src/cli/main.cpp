#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <span>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"
#include "cli/input/config_file.hpp"
#include "cli/output/help.hpp"
#include "cli/output/log.hpp"
#include "cli/output/output.hpp"
#include "http/wire/problem.hpp"

// Read by jemalloc: freed memory goes back to the system within seconds, also in a process that has become idle.
// (Builds without jemalloc ignore it.)
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true,dirty_decay_ms:2000,muzzy_decay_ms:0";
}

namespace ff::cli {
namespace {

constexpr const char* footer =
    R"(Every setting may be a flag, a variable, or a line in a file; see ff config.
Exit codes: 0 ok, 1 the execution (or something else) failed, 2 wrong usage or input,
3 no such execution, flow, node, step, waitpoint, budget, quota or worker, 4 its state does not
allow that, 5 server or store unavailable, 6 the token does not allow that, 130 interrupted.)";

bool is_command(std::string_view name) {
  return std::ranges::any_of(commands(), [&](const auto& command) { return command.name == name; });
}
bool is_group(const std::string& name) {
  return std::ranges::any_of(commands(), [&](const auto& command) {
    return std::string_view(command.name).starts_with(name + ' ');
  });
}

// The words that name a command, as far as the user gave any.
std::string command_name(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  std::string name = argv[1];
  if (is_group(name) && argc > 2 && argv[2][0] != '-') name += std::string(" ") + argv[2];
  return name;
}

// A place for the command: in the program itself, or in its group.
CLI::App& add_command(CLI::App& program, const Command& command,
                      std::map<std::string_view, CLI::App*>& groups) {
  const auto* group = group_of(command);
  if (!group) return *program.add_subcommand(command.name, command.summary);
  auto& app = groups[group->name];
  if (!app) {
    app = program.add_subcommand(std::string(group->name), group->summary);
    app->require_subcommand(1);
    app->footer(std::string("Examples:\n") + group->examples);
  }
  return *app->add_subcommand(command.name + group->name.size() + 1, command.summary);
}

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

Result<std::map<Setting, SettingValue>> config_file(const std::string& flag) {
  auto file = flag;
  if (file.empty()) file = variable("FF_CONFIG").value_or("");
  if (file.empty()) file = default_config_file(variable);
  if (file.empty()) return {};
  return read_config(file);
}

// The command that was chosen, and what the parser found for it.
struct Chosen {
  Run run;
  const CommonArguments* common = nullptr;
};

bool has_settings(const CommonArguments& common) { return !common.wanted.empty(); }

Result<ExitCode> run(const Chosen& chosen) {
  // A command without settings works whatever is in the file.
  Result<std::map<Setting, SettingValue>> file;
  if (has_settings(*chosen.common)) file = config_file(chosen.common->config_file);
  FF_TRY(file);
  const auto settings = Settings::resolve(
      chosen.common->wanted,
      {.flags = chosen.common->flags, .variable = variable, .file = std::move(*file)});
  FF_TRY(settings);
  return chosen.run({.settings = *settings, .json = chosen.common->json});
}

// Unlike fmt::print, it does not throw if nobody can read it.
void print_error(const std::string& line) { std::fputs((line + '\n').c_str(), stderr); }

int report(const Error& error, bool as_json) {
  std::fflush(stdout);
  const bool wants_token = error.code == Errc::unauthenticated;
  if (as_json)
    print_error(boost::json::serialize(http::to_problem(error)));
  else
    print_error(
        fmt::format("ff: {}: {}{}", error.name(), printable(error.message, std::string::npos),
                    wants_token ? "; give ff the token as FF_TOKEN or in --token-file" : ""));
  return static_cast<int>(exit_code_of(error));
}

// The engine did all that was asked, so this is none of its errors and has no code.
int report_lost_output(const std::error_code& reason, bool as_json) {
  const auto message = fmt::format("cannot write to standard output: {}", reason.message());
  if (as_json)
    print_error(boost::json::serialize(boost::json::object{{"detail", message}}));
  else
    print_error("ff: " + message);
  return static_cast<int>(ExitCode::failed);
}

int run_and_report(const Chosen& chosen) {
  const bool as_json = chosen.common->json;
  try {
    const auto exit_code = run(chosen);
    if (!exit_code) return report(exit_code.error(), as_json);
    flush_output();
    return static_cast<int>(*exit_code);
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) != 0) return report_lost_output(error.code(), as_json);
    if (std::ferror(stderr) != 0) return static_cast<int>(ExitCode::failed);
    throw;
  }
}

// Without this, the next file that is opened, of a store or a connection, would get the place of a closed standard
// file and what is printed to it. Standard output stays unwritable, so that a lost output is reported.
void fill_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(file, F_GETFD) < 0)
      static_cast<void>(::open("/dev/null", file == STDOUT_FILENO ? O_RDONLY : O_RDWR));
}

// Whether errors are to be JSON, also where the words make no command.
bool wants_json(int argc, char** argv) {
  for (const std::string_view word : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    if (word == "--") return false;
    if (word == "--json") return true;
  }
  return false;
}

Error wrong_usage(std::string_view message, const std::string& command) {
  return {Errc::invalid_input, fmt::format("{}; see ff {}{}--help", message, printable(command),
                                           command.empty() ? "" : " ")};
}

// Help and versions are no errors, though the parser ends with them like with one.
int end_of_parsing(CLI::App& app, const CLI::ParseError& end, const Error& error, bool as_json) {
  if (end.get_exit_code() != 0) return report(error, as_json);
  app.exit(end);
  std::cout.flush();
  if (std::cout) return 0;
  return report_lost_output({errno, std::generic_category()}, as_json);
}

void add_common(CLI::App& app, const Command& command, CommonArguments& common) {
  if (command.prints == Prints::text_or_json)
    app.add_flag("--json", common.json, "Print JSON, one object per line; errors, too");
  if (!has_settings(common)) return;
  app.add_option("--config", common.config_file, "A file of settings [FF_CONFIG]")
      ->type_name("FILE")
      ->group("Settings");
}

int main(int argc, char** argv) {
  fill_standard_files();
  // Of commands; programs that serve or work set the level that the user wants.
  log_to_stderr("warning");

  CLI::App app{"FlowFabric: a durable execution engine", "ff"};
  app.set_version_flag("--version", fmt::format("ff {}", version));
  app.require_subcommand(1);
  app.footer(footer);
  app.formatter(std::make_shared<HelpFormatter>());

  Chosen chosen;
  std::map<std::string, CommonArguments> common;
  std::map<std::string_view, CLI::App*> groups;
  for (const auto& command : commands()) {
    auto& sub = add_command(app, command, groups);
    auto& own = common[command.name];
    Arguments arguments(sub, own);
    auto run = command.setup(arguments);
    add_common(sub, command, own);
    sub.final_callback([&chosen, &own, run = std::move(run)] { chosen = {run, &own}; });
  }
  const auto name = command_name(argc, argv);
  const bool as_json = wants_json(argc, argv);
  if (!name.empty() && !is_command(name) && !is_group(name)) {
    const auto group = name.substr(0, name.find(' '));
    return report(wrong_usage(fmt::format("there is no command '{}'", printable(name)),
                              is_group(group) ? group : ""),
                  as_json);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    return end_of_parsing(app, end, wrong_usage(end.what(), name), as_json);
  }
  return run_and_report(chosen);
}

}  // namespace
}  // namespace ff::cli

int main(int argc, char** argv) { return ff::cli::main(argc, argv); }
