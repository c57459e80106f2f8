// Suspensions: an execution gives up its worker and waits for signals, an operator or a timeout. Waitpoints
// are the places where outsiders, who hold a signed token, answer.
#pragma once

#include <flowfabric/executions.hpp>
#include <flowfabric/work.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ff {

// ---- Conditions ---------------------------------------------------------------------------------

// The things that a count counts.
enum class Counted : std::uint8_t { signals, sources, waitpoints };
FF_NAMES(Counted, "signals", "sources", "waitpoints");

// The condition under which signals resume an execution. A signal counts for every part that accepts it.
struct Condition;

struct OneSignal {
  std::optional<SignalName> name = {};         // absent: any
  std::optional<WaitpointKey> waitpoint = {};  // absent: sent in whichever way
  bool operator==(const OneSignal&) const = default;
};
struct AllOf {
  std::vector<Condition> of;
  bool operator==(const AllOf&) const;
};
struct AnyOf {
  std::vector<Condition> of;
  bool operator==(const AnyOf&) const;
};
struct CountOf {
  std::uint32_t n = 1;
  Counted of{};
  std::optional<SignalName> name = {};        // absent: any
  std::vector<WaitpointKey> waitpoints = {};  // empty: sent in whichever way
  bool operator==(const CountOf&) const = default;
};
struct OperatorOnly {  // no signal resumes it
  bool operator==(const OperatorOnly&) const = default;
};
struct TimeoutOnly {  // likewise; its timeout does
  bool operator==(const TimeoutOnly&) const = default;
};
struct Condition {
  std::variant<OneSignal, AllOf, AnyOf, CountOf, OperatorOnly, TimeoutOnly> is = OneSignal{};
  bool operator==(const Condition&) const = default;
};
inline bool AllOf::operator==(const AllOf& other) const { return of == other.of; }
inline bool AnyOf::operator==(const AnyOf& other) const { return of == other.of; }

// ---- Waitpoints ---------------------------------------------------------------------------------

// A question to a person, as the approval page shows it.
struct Question {
  struct Choice {
    SignalName signal;  // that the choice sends
    std::string label;
    bool operator==(const Choice&) const = default;
  };
  std::string title = {};
  std::string text = {};
  std::vector<Choice> choices = {};
  // The people that are asked: each has a token of their own and one vote. Empty: one token for everybody.
  std::vector<std::string> approvers = {};
  bool operator==(const Question&) const = default;
};

enum class WaitpointState : std::uint8_t { pending, active, closed };
FF_NAMES(WaitpointState, "pending", "active", "closed");

struct WaitpointInfo {
  WaitpointId id;
  WaitpointKey key;
  WaitpointState state{};
  TimePoint created_at;
  std::optional<TimePoint> expires_at = {};
  std::optional<TimePoint> closed_at = {};
  std::optional<std::string> close_reason = {};
  std::uint32_t signals = 0;  // that arrived here
  std::uint32_t counted = 0;  // of these
  std::optional<Question> question = {};
  bool operator==(const WaitpointInfo&) const = default;
};

struct WaitpointToken {
  std::optional<std::string> approver = {};  // the person that it is for
  std::string token;
  bool operator==(const WaitpointToken&) const = default;
};
struct IssuedWaitpoint {
  WaitpointInfo info;
  std::vector<WaitpointToken> tokens = {};
  bool operator==(const IssuedWaitpoint&) const = default;
};

struct NewWaitpoint {
  WaitpointKey key;
  std::optional<WaitpointId> id = {};     // absent: minted
  std::optional<Millis> expires_in = {};  // absent: it lives as long as its suspension
  std::optional<Question> question = {};
  bool operator==(const NewWaitpoint&) const = default;
};

struct CreateWaitpointReply {
  IssuedWaitpoint waitpoint;
  bool duplicate = false;  // it was open already; nothing was changed
  bool operator==(const CreateWaitpointReply&) const = default;
};

// Opens a waitpoint before the suspension that waits for it, so that its token can be handed out first.
// Signals that arrive before the suspension count. An open waitpoint with the same key is returned as it is.
struct CreateWaitpoint {
  using Reply = CreateWaitpointReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/waitpoints",
                                             Role::work,
                                             "Open a waitpoint before suspending",
                                             {"created", "exists"}}};
  ExecutionId id;
  Fence fence;
  NewWaitpoint waitpoint;
};

struct CloseWaitpointReply {
  bool closed = false;  // false: it was closed already
  bool operator==(const CloseWaitpointReply&) const = default;
};

// Closes an open waitpoint: its tokens are useless from then on.
struct CloseWaitpoint {
  using Reply = CloseWaitpointReply;
  static constexpr OperationRow row{
      .owner = Owner::execution,
      .writes = Writes::durable,
      .is_stored = true,
      .is_audited = true,
      .http = {HttpMethod::post, "/v1/executions/{id}/waitpoints/{waitpoint}/close", Role::work,
               "Close a waitpoint"}};
  ExecutionId id;
  WaitpointId waitpoint;
  std::string reason = {};
};

struct WaitpointList {
  std::vector<WaitpointInfo> waitpoints;  // by time of creation
  std::optional<std::string> next = {};   // the cursor of the next page, if there is one
};

// The open waitpoints of an execution, without their tokens.
struct ListWaitpoints {
  using Reply = WaitpointList;
  static constexpr OperationRow row{
      .owner = Owner::execution,
      .http = {HttpMethod::get, "/v1/executions/{id}/pending-waitpoints", Role::read,
               "The open waitpoints of an execution"}};
  ExecutionId id;
  std::uint32_t limit = 100;
  std::optional<std::string> cursor = {};  // `next` of the page before
};

// The tokens of one open waitpoint. Whoever has a token can answer: reading it is audited.
struct GetWaitpointTokens {
  using Reply = IssuedWaitpoint;
  static constexpr OperationRow row{
      .owner = Owner::execution,
      .is_audited = true,
      .http = {HttpMethod::get, "/v1/executions/{id}/waitpoints/{waitpoint}/tokens", Role::work,
               "The tokens of an open waitpoint"}};
  ExecutionId id;
  WaitpointId waitpoint;
};

// ---- Suspending and resuming --------------------------------------------------------------------

enum class SuspendReason : std::uint8_t {
  waiting_for_signal,
  waiting_for_approval,
  waiting_for_callback,
  waiting_for_tool_result,
  waiting_for_operator_review,
  paused_by_policy,
  paused_by_budget,
  step_boundary,
  manual_pause,
};
FF_NAMES(SuspendReason, "waiting_for_signal", "waiting_for_approval", "waiting_for_callback",
         "waiting_for_tool_result", "waiting_for_operator_review", "paused_by_policy",
         "paused_by_budget", "step_boundary", "manual_pause");

// The effect of a suspension's timeout.
enum class TimeoutAction : std::uint8_t {
  fail,
  cancel,
  expire,
  auto_resume,  // the worker goes on, and learns that it was the timeout
  escalate,     // it stays suspended until an operator resumes it; signals no longer do
};
FF_NAMES(TimeoutAction, "fail", "cancel", "expire", "auto_resume", "escalate");

struct SuspendReply {
  ExecutionState state{};
  SuspensionId suspension_id;
  // Signals that had arrived before satisfy the condition: nothing was suspended and the lease goes on.
  bool satisfied = false;
  std::optional<TimePoint> timeout_at = {};
  std::vector<IssuedWaitpoint> waitpoints = {};
  bool operator==(const SuspendReply&) const = default;
};

// Gives the execution back until the condition is satisfied; then the same attempt resumes. Repeated with the
// same suspension id, it answers as the first time; without one, the same call under the same lease is a
// repeat, so a worker that waits for the same thing twice under one lease gives an id.
struct Suspend {
  using Reply = SuspendReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/suspend",
                                             Role::work,
                                             "Give it back until signals resume it",
                                             {"suspended", "satisfied"}}};
  ExecutionId id;
  Fence fence;
  std::optional<SuspensionId> suspension_id = {};  // absent: follows from lease and call
  Condition condition = {};
  std::vector<NewWaitpoint> waitpoints =
      {};  // open ones with these keys are taken, others are made
  SuspendReason reason{};
  std::optional<Millis> timeout = {};
  TimeoutAction on_timeout{};
  Millis resume_delay{0};
  std::string state = {};  // bytes, untouched: for the handler when it resumes
};

// Resumes a suspended execution, whatever its condition.
struct Resume {
  using Reply = EndReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/resume",
                                             Role::submit,
                                             "Resume a suspended execution",
                                             {"resumed"}}};
  ExecutionId id;
  std::string reason = {};
  Millis delay{0};
};

// The newest suspension of an execution, open or over.
struct SuspensionInfo {
  SuspensionId id;
  SuspendReason reason{};
  TimePoint since;
  std::uint32_t attempt_index = 0;
  Condition condition = {};
  std::string progress = {};  // one sentence: how far the condition is
  std::optional<TimePoint> timeout_at = {};
  TimeoutAction on_timeout{};
  bool escalated = false;
  std::optional<TimePoint> closed_at = {};
  std::optional<std::string> close_reason = {};
  std::vector<WaitpointInfo> waitpoints = {};  // bound to it
  std::string state = {};
  bool operator==(const SuspensionInfo&) const = default;
};
struct SuspensionReply {
  std::optional<SuspensionInfo> suspension = {};  // none: it was never suspended
  std::vector<WaitpointInfo> waitpoints = {};     // all that are known
  bool operator==(const SuspensionReply&) const = default;
};

struct GetSuspension {
  using Reply = SuspensionReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .is_stored = true,
                                    .http = {HttpMethod::get, "/v1/executions/{id}/suspension",
                                             Role::read, "The newest suspension of an execution"}};
  ExecutionId id;
};

// ---- Signals ------------------------------------------------------------------------------------

// The effect of a signal.
enum class SignalEffect : std::uint8_t {
  no_op,                            // of other programs' plain conditions: nothing matched
  appended_to_waitpoint,            // it counts, and more is needed
  resume_condition_satisfied,       // it resumed the execution
  appended_to_waitpoint_duplicate,  // an equal one, of the same source or waitpoint, has counted before
  signal_ignored_not_in_condition,  // the condition does not ask for signals of this waitpoint
  signal_ignored_matcher_failed,    // nor for this name
  buffered_for_pending_waitpoint,   // kept for a suspension to come
};
FF_NAMES(SignalEffect, "no_op", "appended_to_waitpoint", "resume_condition_satisfied",
         "appended_to_waitpoint_duplicate", "signal_ignored_not_in_condition",
         "signal_ignored_matcher_failed", "buffered_for_pending_waitpoint");

// Origin of a signal, for conditions that count sources and for those who read it.
struct SignalSource {
  std::string type = {};  // such as user, webhook or service
  std::string identity = {};
  bool operator==(const SignalSource&) const = default;
};

struct SignalReply {
  SignalId signal_id;  // of the first, if it was a duplicate
  SignalEffect effect{};
  bool duplicate = false;
  ExecutionState state{};  // of the execution, after it
  bool operator==(const SignalReply&) const = default;
};

// Sends a signal to an execution that has not ended. Without a waitpoint it counts wherever the condition
// names no waitpoint, also in a suspension to come. Repeated with the same signal id or idempotency key, it
// answers as the first time and counts once.
struct SendSignal {
  using Reply = SignalReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
      .is_traffic = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/signals/{name}",
                                             Role::submit,
                                             "Send a signal to an execution",
                                             {"accepted", "duplicate"}}};
  ExecutionId id;
  SignalName name;
  std::optional<WaitpointId> waitpoint = {};
  std::optional<SignalId> signal_id = {};  // absent: minted
  std::string payload = {};                // bytes, untouched
  std::optional<ContentType> content_type = {};
  SignalSource source = {};
  std::string category = {};
  std::string correlation_id = {};
  std::optional<SignalKey> idempotency_key = {};
  Millis dedup_window = limits::signal_dedup_default;
};

struct ReceivedSignal {
  std::uint32_t index = 0;  // in the order of arrival
  SignalId id;
  SignalName name;
  std::optional<WaitpointId> waitpoint = {};
  SignalSource source = {};
  std::string category = {};
  std::string correlation_id = {};
  TimePoint accepted_at;
  SignalEffect effect{};
  std::optional<SuspensionId> counted_for = {};  // the suspension that it counted for
  std::optional<ContentType> content_type = {};
  std::string payload = {};
  bool operator==(const ReceivedSignal&) const = default;
};
struct SignalPage {
  std::vector<ReceivedSignal> signals;     // the oldest first
  std::optional<std::uint32_t> next = {};  // the index to continue from, if there are more
  bool operator==(const SignalPage&) const = default;
};

// The signals that an execution has received since it was submitted or replayed, with payloads; about 8 MiB
// at a time.
struct GetSignals {
  using Reply = SignalPage;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .is_stored = true,
                                    .http = {HttpMethod::get, "/v1/executions/{id}/signals",
                                             Role::read, "The signals of an execution"}};
  ExecutionId id;
  std::uint32_t from = 0;  // index of the first
  std::uint32_t limit = 100;
};

// ---- For outsiders -------------------------------------------------------------------------------

// The part of a waitpoint that a token's holder may see.
struct WaitpointView {
  WaitpointState state{};
  std::optional<Question> question = {};  // without the other approvers' names
  std::optional<std::string> approver = {};
  std::optional<SignalName> answer = {};  // that this token has given
  std::uint32_t answers = 0;              // by all
  std::string progress = {};
  std::optional<TimePoint> expires_at = {};
  bool operator==(const WaitpointView&) const = default;
};

// Shows a waitpoint to the holder of its token. Changes nothing. Every token that is not valid answers
// waitpoint_not_found; a valid one whose waitpoint is over answers waitpoint_closed.
struct ReadWaitpoint {
  using Reply = WaitpointView;
  static constexpr OperationRow row{.http = {HttpMethod::get, "/v1/waitpoints/{token}",
                                             Role::nobody,
                                             "Show a waitpoint to the holder of its token"}};
  std::string token;
};

struct AnswerReply {
  SignalEffect effect{};
  bool duplicate = false;  // the same answer was given before
  std::string progress = {};
  bool operator==(const AnswerReply&) const = default;
};

// Answers a waitpoint with its token. A token answers once: the same answer again succeeds, another one is
// refused with waitpoint_answered.
struct AnswerWaitpoint {
  using Reply = AnswerReply;
  static constexpr OperationRow row{.writes = Writes::durable,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/waitpoints/{token}",
                                             Role::nobody,
                                             "Answer a waitpoint with its token",
                                             {"accepted", "duplicate"}}};
  std::string token;
  SignalName signal;
  std::string payload = {};
  std::optional<ContentType> content_type = {};
  std::string comment = {};
};

// ---- The published contract's signal ---------------------------------------------------------------

struct DeliveredSignal {
  SignalReply signal;
  bool operator==(const DeliveredSignal&) const = default;
};

// A signal to a waitpoint under the published contract's path and names. The token is checked before anything
// else and must be of this waitpoint and this execution: invalid_token, token_expired. Then it is a SendSignal.
struct DeliverSignal {
  using Reply = DeliveredSignal;
  static constexpr OperationRow row{
      .owner = Owner::execution,
      .writes = Writes::durable,
      .is_audited = true,
                                    .is_traffic = true,
      .http = {HttpMethod::post, "/v1/executions/{execution_id}/signal", Role::submit,
               "Send a signal to a waitpoint with its token"}};
  ExecutionId id;
  WaitpointId waitpoint;
  std::string token;  // of the waitpoint: the contract's form or our own
  SignalId signal_id;
  SignalName name;
  std::string payload = {};
  SignalSource source = {};
  std::string category = {};
  std::string correlation_id = {};
  std::optional<SignalKey> idempotency_key = {};
  Millis dedup_window = limits::signal_dedup_default;
};

}  // namespace ff
