// The command table: what `ff` can do. A command is a file in commands/ and a row in the table.
#pragma once

#include <flowfabric/error.hpp>

#include <functional>
#include <span>

#include "cli/arguments.hpp"
#include "cli/exit_code.hpp"

namespace ff::cli {

// What a command is run with, besides its own arguments.
struct Context {
  const Settings& settings;
  bool json = false;  // for a program, not for a person
};

// Declares the command's arguments; what it returns runs the command once they are parsed.
using Run = std::function<Result<ExitCode>(const Context& context)>;

enum class Prints : std::uint8_t { text, text_or_json };  // with --json

struct Command {
  const char* name;
  const char* summary;
  Run (*setup)(Arguments& arguments);
  Prints prints = Prints::text_or_json;
};

std::span<const Command> commands();

Run setup_attempts(Arguments& arguments);
Run setup_backup(Arguments& arguments);
Run setup_bench(Arguments& arguments);
Run setup_cancel(Arguments& arguments);
Run setup_check(Arguments& arguments);
Run setup_completion(Arguments& arguments);
Run setup_config(Arguments& arguments);
Run setup_counts(Arguments& arguments);
Run setup_demo(Arguments& arguments);
Run setup_events(Arguments& arguments);
Run setup_get(Arguments& arguments);
Run setup_leases(Arguments& arguments);
Run setup_list(Arguments& arguments);
Run setup_payload(Arguments& arguments);
Run setup_priority(Arguments& arguments);
Run setup_replay(Arguments& arguments);
Run setup_restore(Arguments& arguments);
Run setup_result(Arguments& arguments);
Run setup_revoke(Arguments& arguments);
Run setup_server(Arguments& arguments);
Run setup_submit(Arguments& arguments);
Run setup_tags(Arguments& arguments);
Run setup_library(Arguments& arguments);
Run setup_version(Arguments& arguments);
Run setup_watch(Arguments& arguments);
Run setup_work(Arguments& arguments);

}  // namespace ff::cli
