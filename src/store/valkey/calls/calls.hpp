// Commands as function calls: what is sent for each, and what its answer means.
#pragma once

#include <string>
#include <vector>

#include "store/store.hpp"
#include "store/valkey/client_names.hpp"

namespace ff::valkey_store {

// The function and what it is given after the time and the origin.
struct FunctionCall {
  std::string_view function;
  std::vector<std::string> arguments = {};
  bool takes_call_id = false;  // as its last argument, which makes it safe to repeat
};

// Whether its payload is set beside it first (Request of set_payload), as bytes cost less that way.
bool sends_payload_ahead(const core::Create& command);
// What is stored of it; empty: nothing.
std::string stored_retention(const core::Create& command);
FunctionCall call_for(core::Create& command);
FunctionCall call_for(core::GrantIssue& command);
FunctionCall call_for(core::LeaseGrant& command);
FunctionCall call_for(core::Unblock& command);
FunctionCall call_for(Renew& command);
FunctionCall call_for(UpdateProgress& command);
FunctionCall call_for(Complete& command);
FunctionCall call_for(Fail& command);
FunctionCall call_for(Delay& command);
FunctionCall call_for(HandBack& command);
FunctionCall call_for(WaitForChildren& command);
FunctionCall call_for(Cancel& command);
FunctionCall call_for(RevokeLease& command);
FunctionCall call_for(ChangePriority& command);
FunctionCall call_for(SetTags& command);
FunctionCall call_for(Replay& command);
FunctionCall call_for(core::TimerFire& command);
FunctionCall call_for(core::Remove& command);

// Answer of a function: the values after the event, in order. The first value that is not what was
// expected is remembered.
class Answer {
 public:
  Answer(bool duplicate, std::string event, std::vector<Reply> values)
      : duplicate_(duplicate), event_(std::move(event)), values_(std::move(values)) {}

  bool duplicate() const { return duplicate_; }
  const std::string& event() const { return event_; }

  bool at_end() const { return next_ == values_.size(); }
  std::string text();
  std::int64_t number();
  std::vector<Reply> list();
  TimePoint time() { return TimePoint{Millis{number()}}; }
  std::optional<TimePoint> optional_time();  // "" is none
  template <class Id>
  Id id() {
    auto parsed = Id::parse(text());
    if (!parsed) malformed_ = true;
    return parsed ? *parsed : Id{};
  }
  template <Named Enum>
  Enum word() {
    const auto value = from_name<Enum>(text());
    if (!value) malformed_ = true;
    return value.value_or(Enum{});
  }
  void expect(bool fine) { malformed_ |= !fine; }
  bool malformed() const { return malformed_; }

 private:
  bool duplicate_;
  std::string event_;
  std::vector<Reply> values_;
  std::size_t next_ = 0;
  bool malformed_ = false;
};

SubmitReply read_answer(const core::Create& command, Answer& answer);
GrantedExecution read_answer(const core::GrantIssue& command, Answer& answer);
ClaimedExecution read_answer(const core::LeaseGrant& command, Answer& answer);
core::UnblockReply read_answer(const core::Unblock& command, Answer& answer);
RenewReply read_answer(const Renew& command, Answer& answer);
Done read_answer(const UpdateProgress& command, Answer& answer);
EndReply read_answer(const Complete& command, Answer& answer);
FailReply read_answer(const Fail& command, Answer& answer);
EndReply read_answer(const Delay& command, Answer& answer);
EndReply read_answer(const HandBack& command, Answer& answer);
EndReply read_answer(const WaitForChildren& command, Answer& answer);
EndReply read_answer(const Cancel& command, Answer& answer);
RevokeReply read_answer(const RevokeLease& command, Answer& answer);
PriorityReply read_answer(const ChangePriority& command, Answer& answer);
TagsReply read_answer(const SetTags& command, Answer& answer);
EndReply read_answer(const Replay& command, Answer& answer);
core::TimerReply read_answer(const core::TimerFire& command, Answer& answer);
core::RemoveReply read_answer(const core::Remove& command, Answer& answer);

// [0, code, details…], said in a sentence.
struct RefusalContext {
  ExecutionId id;  // of a flow: its subject
  WorkerId worker = {};
  std::optional<LeaseId> expected_lease = {};
  bool by_idempotency_key = false;
  std::string waitpoint = {};
  StepName step = {};
  StreamName stream = {};
  std::uint64_t written = 0;  // as the writer says
  Condition condition = {};
  core::ConditionTerms terms = {};  // of the condition
  std::optional<FlowId> flow = {};      // that the command is about
  std::string_view list = {};            // the operation's field with the nodes that are to be added
  std::vector<NodeName> nodes = {};      // their names
  std::vector<std::vector<NodeName>> dependencies = {};  // of each of them
};

template <class Command>
  requires(Command::row.owner != Owner::flow)
RefusalContext context_of(const Command& command) {
  RefusalContext context{.id = command.id};
  if constexpr (requires { command.worker; }) context.worker = command.worker;
  if constexpr (std::is_same_v<Command, RevokeLease>) context.expected_lease = command.lease_id;
  if constexpr (std::is_same_v<Command, core::Create>)
    context.by_idempotency_key = command.submit.idempotency_key.has_value();
  if constexpr (std::is_same_v<Command, ChangePriority>) context.worker = {};
  if constexpr (std::is_same_v<Command, CloseWaitpoint>)
    context.waitpoint = command.waitpoint.str();
  if constexpr (std::is_same_v<Command, SendSignal>)
    if (command.waitpoint) context.waitpoint = command.waitpoint->str();
  if constexpr (std::is_same_v<Command, GetStep>) context.step = command.name;
  if constexpr (std::is_same_v<Command, AppendFrames>) {
    context.stream = command.stream;
    context.written = command.written;
  }
  if constexpr (std::is_same_v<Command, Suspend>) {
    context.condition = command.condition;
    context.terms = core::terms_of(command);
  }
  return context;
}
std::unexpected<Error> refused(const RefusalContext& context, const std::vector<Reply>& reply);

}  // namespace ff::valkey_store
