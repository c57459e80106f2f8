#include <algorithm>
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
      Command{"why", "Say why an execution is not running", setup_why},
      Command{"cancel", "End an execution that has not ended", setup_cancel},
      Command{"replay", "Run an ended execution once more", setup_replay},
      Command{"priority", "Change the priority of an execution", setup_priority},
      Command{"revoke", "Take an execution away from its worker", setup_revoke},
      Command{"tags", "Show or change the tags of an execution", setup_tags},
      Command{"suspend", "Let an execution wait until it is resumed", setup_suspend},
      Command{"resume", "Resume a suspended execution", setup_resume},
      Command{"signal", "Send a signal to an execution", setup_signal},
      Command{"signals", "Show the signals of an execution", setup_signals},
      Command{"waitpoints", "Show the open waitpoints of an execution", setup_waitpoints},
      Command{"approve", "Approve with a waitpoint's token", setup_approve},
      Command{"reject", "Reject with a waitpoint's token", setup_reject},
      Command{"answer", "Answer with a waitpoint's token", setup_answer},
      Command{"steps", "Show the kept steps of an execution", setup_steps},
      Command{"tail", "Follow what an execution writes while it runs", setup_tail},
      Command{"ticket", "Issue a ticket for reading the streams of an execution", setup_ticket},
      Command{"streams", "Show the streams of an execution", setup_streams},
      Command{"work", "Run a shell command for each execution", setup_work, Prints::text},
      Command{"events", "Follow what happens to executions", setup_events},
      Command{"flow submit", "Submit a flow: a graph of executions", setup_flow_submit},
      Command{"flow ls", "List flows, the newest first", setup_flow_list},
      Command{"flow get", "Show a flow and its nodes", setup_flow_get},
      Command{"flow graph", "Draw the graph of a flow", setup_flow_graph},
      Command{"flow watch", "Show a flow as it changes, until its end", setup_flow_watch},
      Command{"flow cancel", "Cancel a flow and its nodes", setup_flow_cancel},
      Command{"flow pause", "Start no further nodes of a flow", setup_flow_pause},
      Command{"flow resume", "Let nodes of a paused flow start", setup_flow_resume},
      Command{"flow redrive", "Run nodes of a flow once more, and all after them",
              setup_flow_redrive},
      Command{"budgets create", "Create a budget", setup_budgets_create},
      Command{"budgets list", "List the budgets and what is used of them", setup_budgets_list},
      Command{"budgets show", "Show a budget", setup_budgets_show},
      Command{"budgets report", "Report what was used", setup_budgets_report},
      Command{"budgets release", "Take back what an execution has spent", setup_budgets_release},
      Command{"budgets reset", "Set the usage of a budget to zero", setup_budgets_reset},
      Command{"budgets delete", "Delete a budget", setup_budgets_delete},
      Command{"quotas create", "Create a quota", setup_quotas_create},
      Command{"quotas list", "List the quotas and how full they are", setup_quotas_list},
      Command{"quotas show", "Show a quota", setup_quotas_show},
      Command{"quotas delete", "Delete a quota", setup_quotas_delete},
      Command{"workers list", "List the workers that are alive", setup_workers_list},
      Command{"workers show", "Show a worker and what it runs", setup_workers_show},
      Command{"workers drain", "Give a worker no more work", setup_workers_drain},
      Command{"lanes ls", "List the lanes, and which are paused", setup_lanes_list},
      Command{"lanes pause", "Give workers no more work of a lane", setup_lanes_pause},
      Command{"lanes resume", "Let work of a paused lane start", setup_lanes_resume},
      Command{"audit", "Show which operators' actions were carried out or refused", setup_audit},
      Command{"whoami", "Show the caller's name, roles and namespace", setup_whoami},
      Command{"secrets list", "List the secrets whose waitpoint tokens are valid",
              setup_secrets_list},
      Command{"secrets rotate", "Sign waitpoint tokens with another secret", setup_secrets_rotate},
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

const Group* group_of(const Command& command) {
  static constexpr std::array table{
      Group{"budgets", "Limit what work may spend",
            "  ff budgets create --hard tokens=100000 --reset-every 1d\n"
            "  ff budgets list"},
      Group{"flow", "Run graphs of executions",
            "  ff flow submit release.json --wait\n"
            "  ff flow graph ID"},
      Group{"lanes", "See the lanes there are, and pause them",
            "  ff lanes ls\n"
            "  ff lanes pause gpu --reason 'driver update'"},
      Group{"quotas", "Limit how often and how many at once work may start",
            "  ff quotas create --max-per-window 100 --window 1m\n"
            "  ff quotas list"},
      Group{"secrets", "Replace the secret that signs waitpoint tokens",
            "  ff secrets list\n"
            "  ff secrets rotate"},
      Group{"workers", "See the workers there are, and drain them",
            "  ff workers list\n"
            "  ff workers drain WORKER"},
  };
  const std::string_view name = command.name;
  const auto found = std::ranges::find(table, name.substr(0, name.find(' ')), &Group::name);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace ff::cli
