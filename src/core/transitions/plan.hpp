// A plan: what a store writes, tells and answers for one command. Everything in it lives in the command's
// partition, and is written at once or not at all.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "base/assert.hpp"
#include "base/try.hpp"
#include "core/effects/effect.hpp"
#include "core/execution/belonging.hpp"
#include "core/flows/commands.hpp"
#include "core/refusals.hpp"
#include "core/streams/stream.hpp"
#include "core/transitions/transitions.hpp"

namespace ff::core {

struct PutExecution {
  Execution next;
  std::optional<EventType> event = {};
};
struct RemoveExecution {  // with all its belongings
  Execution last;
  std::optional<EventType> event = {};
};
struct SignalPayload {
  std::uint32_t index = 0;  // of the signal
  std::string bytes;
};
struct SignalIndex {
  SignalId id;
  std::uint32_t index = 0;
};
struct PutBelonging {
  ExecutionId id;
  Belonging kind{};
  std::variant<std::string, Attempt, Waits, WaitDetails, StoredSignal, SignalPayload, KnownSignal,
               SignalIndex, StoredStep, Streams, Append, StreamDocument>
      value;
};
struct EraseBelonging {  // all of a kind
  ExecutionId id;
  Belonging kind{};
};
struct PutFlow {
  Flow next;
  std::optional<EventType> event = {};
};
struct RemoveFlow {  // after its nodes
  Flow last;
};
struct AddMember {
  FlowId flow;
  std::uint32_t index = 0;
  ExecutionId node;
};
struct AddEdge {  // at both of its nodes
  Edge edge;
};
struct PutEdge {
  Edge edge;
};
struct EraseAppend {
  ExecutionId id;
  AppendPlace place;
};
using Change = std::variant<PutExecution, RemoveExecution, PutBelonging, EraseBelonging, PutFlow,
                            RemoveFlow, AddMember, AddEdge, PutEdge, EraseAppend>;

template <class Reply>
struct Plan {
  Reply reply;
  std::vector<Change> changes = {};  // the belongings of an execution before the execution itself
  std::vector<Effect> effects = {};
  bool waits_for_disk = false;    // although other commands of its kind do not
  bool has_consequences = false;  // what it means for a flow and its other nodes is in it
};

// The input of a decision: the executions of one partition, as they are after all earlier commands.
class PartitionView {
 public:
  virtual ~PartitionView() = default;

  // Null if there is none. Valid until the plan is carried out.
  virtual Result<const Execution*> find(const ExecutionId& id) = 0;
  virtual Result<const Execution*> find(const Namespace& ns, const IdempotencyKey& key) = 0;

  // Of an execution that is there.
  virtual Result<Waits> find_waits(const Execution& execution) = 0;
  virtual Result<WaitDetails> find_details(const Execution& execution, const Waits& waits) = 0;
  virtual Result<std::vector<StoredSignal>> find_signals(const Execution& execution,
                                                         std::span<const std::uint32_t> indexes) = 0;
  // All from an index on.
  virtual Result<std::vector<StoredSignal>> find_signals(const Execution& execution,
                                                         std::uint32_t from) = 0;
  virtual Result<std::optional<KnownSignal>> find_signal(const Execution& execution,
                                                         const SignalKey& key) = 0;
  virtual Result<std::optional<StoredSignal>> find_signal(const Execution& execution,
                                                          const SignalId& id) = 0;
  // Null if there is none.
  virtual Result<const Flow*> find_flow(const FlowId& id) = 0;
  // The nodes of a flow from an index on, in order.
  virtual Result<std::vector<ExecutionId>> find_members(const FlowId& flow, std::uint32_t from,
                                                        std::size_t max) = 0;
  // Edges of nodes that are there; those out of a node behind `after`, in order.
  virtual Result<std::vector<EdgeId>> find_edges_out(const ExecutionId& upstream,
                                                     const std::optional<EdgeId>& after,
                                                     std::size_t max) = 0;
  virtual Result<Edge> find_edge(const EdgeId& id) = 0;
  virtual Result<Streams> find_streams(const Execution& execution) = 0;
  // The oldest append to a stream that is kept.
  virtual Result<AppendSize> find_append(const Execution& execution, AppendPlace place) = 0;
  // Of a summary stream that has one.
  virtual Result<std::string> find_document(const Execution& execution, std::uint32_t stream) = 0;
  // How often the store may have lost what was not on disk.
  virtual std::uint64_t crash_count() const { return 0; }
  virtual Result<bool> has_step(const Execution& execution, const StepName& name) = 0;
  // Whether it is stored and not settled.
  virtual bool has_effect(PartitionIndex partition, const Effect& effect) = 0;
};

// True if an execution has ended by this.
bool ends_execution(const std::vector<Change>& changes);

// Asserts what holds of every execution, and of every change of one. `before` is null if it is new.
void assert_consistent(const Execution* before, const Execution& next);

// Erases the waitpoints, signals and steps of a run that is over.
void erase_waits_and_steps(const Execution& before, std::vector<Change>& changes);

// The plan of a step that changes one execution; `before` is null if it is new.
template <class Reply>
Plan<Reply> plan_of(const Execution* before, Step<Reply>&& step) {
  Plan<Reply> plan{.reply = std::move(step.reply)};
  if (!step.next) return plan;
  const auto id = step.next->id;
  assert_consistent(before, *step.next);
  auto& changes = plan.changes;
  changes.reserve(1 + (step.archive ? 1 : 0) + (step.payload ? 1 : 0) + (step.drop_result ? 1 : 0) +
                  (step.result ? 1 : 0));
  if (before) plan.effects = effects_of(*before, step.remove ? nullptr : &*step.next);
  if (step.remove) {
    changes.emplace_back(std::in_place_type<RemoveExecution>, std::move(*step.next), step.event);
    return plan;
  }
  if (step.archive)
    changes.emplace_back(PutBelonging{id, Belonging::attempt, std::move(*step.archive)});
  if (step.payload)
    changes.emplace_back(PutBelonging{id, Belonging::payload, std::move(*step.payload)});
  if (step.drop_result) changes.emplace_back(EraseBelonging{id, Belonging::result});
  if (step.start_anew && before) erase_waits_and_steps(*before, changes);
  if (step.result)
    changes.emplace_back(PutBelonging{id, Belonging::result, std::move(*step.result)});
  changes.emplace_back(std::in_place_type<PutExecution>, std::move(*step.next), step.event);
  return plan;
}

template <class Command>
Result<Plan<typename Command::Reply>> decide(PartitionView& view, Command command, TimePoint now) {
  const auto before = view.find(command.id);
  FF_TRY(before);
  if (!*before) return refusals::not_found(command.id);
  auto step = apply(**before, std::move(command), now);
  FF_TRY(step);
  return plan_of(*before, std::move(*step));
}

// A node of a flow is claimed only while the flow lets it start.
Result<Plan<ClaimedExecution>> decide(PartitionView& view, LeaseGrant command, TimePoint now);
Result<Plan<GrantedExecution>> decide(PartitionView& view, GrantIssue command, TimePoint now);
// Of an execution, or of a flow (its subject id) with all its nodes.
Result<Plan<RemoveReply>> decide(PartitionView& view, Remove command, TimePoint now);
// A node that was skipped cannot run again by itself.
Result<Plan<EndReply>> decide(PartitionView& view, Replay command, TimePoint now);

Result<Plan<FlowReply>> decide(PartitionView& view, CreateFlow command, TimePoint now);
Result<Plan<FlowInfo>> decide(PartitionView& view, AddNodes command, TimePoint now);
Result<Plan<SubmitReply>> decide(PartitionView& view, SubmitNode command, TimePoint now);
Result<Plan<EndReply>> decide(PartitionView& view, Grow command, TimePoint now);
Result<Plan<Done>> decide(PartitionView& view, AddItems command, TimePoint now);
Result<Plan<Done>> decide(PartitionView& view, EndNode command, TimePoint now);
Result<Plan<FlowInfo>> decide(PartitionView& view, const SealFlow& command, TimePoint now);
Result<Plan<FlowInfo>> decide(PartitionView& view, PauseFlow command, TimePoint now);
Result<Plan<FlowInfo>> decide(PartitionView& view, const ResumeFlow& command, TimePoint now);
Result<Plan<CancelFlowReply>> decide(PartitionView& view, BeginCancel command, TimePoint now);
Result<Plan<FlowInfo>> decide(PartitionView& view, BeginRedrive command, TimePoint now);
Result<Plan<SliceReply>> decide(PartitionView& view, const AdvanceFlow& command, TimePoint now);
Result<Plan<SliceReply>> decide(PartitionView& view, const ResolveEdges& command, TimePoint now);
Result<Plan<SliceReply>> decide(PartitionView& view, const CancelRest& command, TimePoint now);
Result<Plan<CheckReply>> decide(PartitionView& view, const CheckNode& command, TimePoint now);
Result<Plan<CheckFlowReply>> decide(PartitionView& view, CheckFlow command, TimePoint now);

Result<Plan<AddFlowMemberReply>> decide(PartitionView& view, const AddFlowMember& command,
                                        TimePoint now);
Result<Plan<StageEdgeReply>> decide(PartitionView& view, const StageEdge& command, TimePoint now);
Result<Plan<ApplyEdgeReply>> decide(PartitionView& view, const ApplyEdge& command, TimePoint now);

Result<Plan<SubmitReply>> decide(PartitionView& view, Create command, TimePoint now);
Result<Plan<SuspendReply>> decide(PartitionView& view, Suspend command, TimePoint now);
Result<Plan<EndReply>> decide(PartitionView& view, Resume command, TimePoint now);
Result<Plan<SignalReply>> decide(PartitionView& view, SendSignal command, TimePoint now);
Result<Plan<CreateWaitpointReply>> decide(PartitionView& view, CreateWaitpoint command,
                                          TimePoint now);
Result<Plan<CloseWaitpointReply>> decide(PartitionView& view, CloseWaitpoint command,
                                         TimePoint now);
Result<Plan<TimerReply>> decide(PartitionView& view, TimerFire command, TimePoint now);
Result<Plan<TimerReply>> decide_flow_timer(PartitionView& view, const TimerFire& command,
                                           TimePoint now);
Result<Plan<AppendReply>> decide(PartitionView& view, AppendFrames command, TimePoint now);
Result<Plan<PutStepReply>> decide(PartitionView& view, PutStep command, TimePoint now);

}  // namespace ff::core
