// The command table: what `ff` can do. A command is a file in commands/ and a row in the table.
#pragma once

#include <flowfabric/error.hpp>

#include <functional>
#include <span>

#include "cli/input/arguments.hpp"
#include "cli/output/exit_code.hpp"

namespace ff::cli {

// Context of a command's run, besides its own arguments.
struct Context {
  const Settings& settings;
  bool json = false;  // for a program, not for a person
};

// Declares the command's arguments; what it returns runs the command once they are parsed.
using Run = std::function<Result<ExitCode>(const Context& context)>;

enum class Prints : std::uint8_t { text, text_or_json };  // with --json

struct Command {
  const char* name;  // with a blank: of a group
  const char* summary;
  Run (*setup)(Arguments& arguments);
  Prints prints = Prints::text_or_json;
};

std::span<const Command> commands();

// Commands whose names begin with the same word: `ff budgets create`, `ff budgets list`.
struct Group {
  std::string_view name;
  const char* summary;
  const char* examples;
};

// The group that a command is in, if it is in one.
const Group* group_of(const Command& command);

Run setup_answer(Arguments& arguments);
Run setup_approve(Arguments& arguments);
Run setup_attempts(Arguments& arguments);
Run setup_audit(Arguments& arguments);
Run setup_backup(Arguments& arguments);
Run setup_bench(Arguments& arguments);
Run setup_budgets_create(Arguments& arguments);
Run setup_budgets_delete(Arguments& arguments);
Run setup_budgets_list(Arguments& arguments);
Run setup_budgets_release(Arguments& arguments);
Run setup_budgets_report(Arguments& arguments);
Run setup_budgets_reset(Arguments& arguments);
Run setup_budgets_show(Arguments& arguments);
Run setup_cancel(Arguments& arguments);
Run setup_check(Arguments& arguments);
Run setup_completion(Arguments& arguments);
Run setup_config(Arguments& arguments);
Run setup_counts(Arguments& arguments);
Run setup_demo(Arguments& arguments);
Run setup_events(Arguments& arguments);
Run setup_flow_cancel(Arguments& arguments);
Run setup_flow_get(Arguments& arguments);
Run setup_flow_graph(Arguments& arguments);
Run setup_flow_list(Arguments& arguments);
Run setup_flow_pause(Arguments& arguments);
Run setup_flow_redrive(Arguments& arguments);
Run setup_flow_resume(Arguments& arguments);
Run setup_flow_submit(Arguments& arguments);
Run setup_flow_watch(Arguments& arguments);
Run setup_get(Arguments& arguments);
Run setup_lanes_list(Arguments& arguments);
Run setup_lanes_pause(Arguments& arguments);
Run setup_lanes_resume(Arguments& arguments);
Run setup_leases(Arguments& arguments);
Run setup_list(Arguments& arguments);
Run setup_payload(Arguments& arguments);
Run setup_priority(Arguments& arguments);
Run setup_quotas_create(Arguments& arguments);
Run setup_quotas_delete(Arguments& arguments);
Run setup_quotas_list(Arguments& arguments);
Run setup_quotas_show(Arguments& arguments);
Run setup_reject(Arguments& arguments);
Run setup_replay(Arguments& arguments);
Run setup_restore(Arguments& arguments);
Run setup_result(Arguments& arguments);
Run setup_resume(Arguments& arguments);
Run setup_revoke(Arguments& arguments);
Run setup_secrets_list(Arguments& arguments);
Run setup_secrets_rotate(Arguments& arguments);
Run setup_server(Arguments& arguments);
Run setup_streams(Arguments& arguments);
Run setup_tail(Arguments& arguments);
Run setup_ticket(Arguments& arguments);
Run setup_signal(Arguments& arguments);
Run setup_signals(Arguments& arguments);
Run setup_steps(Arguments& arguments);
Run setup_submit(Arguments& arguments);
Run setup_suspend(Arguments& arguments);
Run setup_tags(Arguments& arguments);
Run setup_library(Arguments& arguments);
Run setup_version(Arguments& arguments);
Run setup_waitpoints(Arguments& arguments);
Run setup_watch(Arguments& arguments);
Run setup_whoami(Arguments& arguments);
Run setup_why(Arguments& arguments);
Run setup_work(Arguments& arguments);
Run setup_workers_drain(Arguments& arguments);
Run setup_workers_list(Arguments& arguments);
Run setup_workers_show(Arguments& arguments);

}  // namespace ff::cli
