// The state machine: what a command does to an execution. Pure functions of execution, command and
// time; they decide, and a store acts. One file per command.
#pragma once

#include "core/commands.hpp"
#include "core/event.hpp"
#include "core/execution.hpp"

namespace ff::core {

template <class Reply>
struct Step {
  Reply reply;
  std::optional<Execution> next = {};       // absent: nothing changes
  std::optional<EventType> event = {};      // what to tell the world
  std::optional<std::string> payload = {};  // to be stored beside the execution
  std::optional<std::string> result = {};   // likewise
};

template <class Command>
using Decision = Result<Step<typename Command::Reply>>;

// What has the id already. Submitting the same again is a duplicate, anything else is refused.
struct Existing {
  Execution execution;
  std::string payload;
};
Decision<Create> apply(const std::optional<Existing>& existing, Create command, TimePoint now);

// `execution` is never terminal-and-gone here: a store answers execution_not_found by itself.
Decision<LeaseGrant> apply(const Execution& execution, const LeaseGrant& command, TimePoint now);
Decision<Renew> apply(const Execution& execution, const Renew& command, TimePoint now);
Decision<Complete> apply(const Execution& execution, Complete command, TimePoint now);
Decision<Fail> apply(const Execution& execution, Fail command, TimePoint now);
Decision<LeaseExpire> apply(const Execution& execution, const LeaseExpire& command, TimePoint now);

// Reads that depend on the state. `result` is what is stored beside a completed execution.
Result<ResultBytes> read_result(const Execution& execution, std::string result);

std::unexpected<Error> not_found(const ExecutionId& id);

}  // namespace ff::core
