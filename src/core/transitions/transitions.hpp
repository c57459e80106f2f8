// The state machine: what a command does to an execution. Pure functions of execution, command and
// time; they decide, and a store acts. One file per command.
#pragma once

#include "core/transitions/commands.hpp"

namespace ff::core {

template <class Reply>
struct Step {
  Reply reply;
  std::optional<Execution> next = {};       // absent: nothing changes
  std::optional<EventType> event = {};      // to be published
  std::optional<Attempt> archive = {};      // an earlier attempt, for a record of its own
  std::optional<std::string> payload = {};  // to be stored beside the execution
  std::optional<std::string> result = {};   // likewise
  bool drop_result = false;                 // remove the result of an earlier run
  bool start_anew = false;                  // and its waitpoints, signals and steps
  bool remove = false;                      // forget it, with all that belongs to it
};

template <class Command>
using Decision = Result<Step<typename Command::Reply>>;

// Of everything that a repeated submit must have in common with the first.
std::uint64_t request_digest(const Submit& submit);

// `existing` has the id or the idempotency key already. Submitting the same again is a duplicate,
// anything else is refused.
Decision<Create> apply(const Execution* existing, Create command, TimePoint now);

// The execution exists: a store answers execution_not_found by itself.
Decision<GrantIssue> apply(const Execution& execution, const GrantIssue& command, TimePoint now);
Decision<LeaseGrant> apply(const Execution& execution, const LeaseGrant& command, TimePoint now);
Decision<Renew> apply(const Execution& execution, const Renew& command, TimePoint now);
Decision<UpdateProgress> apply(const Execution& execution, UpdateProgress command, TimePoint now);
Decision<Complete> apply(const Execution& execution, Complete command, TimePoint now);
Decision<Fail> apply(const Execution& execution, Fail command, TimePoint now);
Decision<Delay> apply(const Execution& execution, const Delay& command, TimePoint now);
Decision<HandBack> apply(const Execution& execution, HandBack command, TimePoint now);
Decision<WaitForChildren> apply(const Execution& execution, const WaitForChildren& command,
                                TimePoint now);
Decision<Cancel> apply(const Execution& execution, Cancel command, TimePoint now);
Decision<RevokeLease> apply(const Execution& execution, RevokeLease command, TimePoint now);
Decision<ChangePriority> apply(const Execution& execution, const ChangePriority& command,
                               TimePoint now);
Decision<SetTags> apply(const Execution& execution, SetTags command, TimePoint now);
Decision<Replay> apply(const Execution& execution, Replay command, TimePoint now);
// A timer that concerns the execution alone, not its suspension or its waitpoints.
Decision<TimerFire> apply(const Execution& execution, const TimerFire& command, TimePoint now);
Decision<Remove> apply(const Execution& execution, const Remove& command, TimePoint now);

// Whether the lease holds.
Result<Done> check_lease(const Execution& execution, const Fence& fence, TimePoint now);

// Reads that depend on the state. `result` is what is stored beside a completed execution.
Result<Bytes> read_result(const Execution& execution, std::optional<std::string> result);

}  // namespace ff::core
