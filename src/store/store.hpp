// The seam between the engine and where state is kept. Operations are data, so a store is few verbs,
// and a new store changes nothing above this line.
#pragma once

#include <flowfabric/async.hpp>
#include <flowfabric/engine.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <variant>
#include <vector>

#include "base/async/suspend.hpp"
#include "core/audit/commands.hpp"
#include "core/budgets/commands.hpp"
#include "core/effects/effect.hpp"
#include "core/execution/event.hpp"
#include "core/flows/commands.hpp"
#include "core/lanes/lane.hpp"
#include "core/quotas/commands.hpp"
#include "core/transitions/commands.hpp"
#include "core/waitpoints/commands.hpp"
#include "core/workers/commands.hpp"
#include "store/call.hpp"

namespace ff::store {

// ---- Queries that only the engine asks -----------------------------------------------------------

// Budgets and quotas that have no room: what needs one of them is passed over.
struct Closed {
  std::set<BudgetId> budgets = {};
  std::set<QuotaId> quotas = {};

  bool holds_back(const core::Needs& needs) const;
  std::size_t size() const { return budgets.size() + quotas.size(); }
};

struct Candidate {
  ExecutionId id;
  core::Needs needs;
};

// Whether a claim that names these kinds takes this one. They are sorted; none: all kinds.
inline bool takes_kind(const std::vector<Kind>& kinds, const Kind& kind) {
  return kinds.empty() || std::ranges::binary_search(kinds, kind);
}

// Takes the best executions that a worker could claim, at most `max`, best first. Nobody else is
// offered them until they are leased, granted or put back.
struct TakeReady {
  using Reply = std::vector<Candidate>;
  static constexpr OperationRow row{};
  Namespace ns;
  std::vector<LaneId> lanes;
  CapabilitySet capabilities;
  std::vector<Kind> kinds = {};  // sorted; none: all
  std::size_t max;
  Closed closed = {};
};

// Executions of one lane and kind with equal needs that a worker could claim.
struct ReadyGroup {
  Namespace ns;
  LaneId lane;
  std::optional<Kind> kind = {};  // none: not known yet
  core::Needs needs;
  std::vector<ExecutionId> best = {};  // some of them, the best first
};

// The groups that need one of these budgets and quotas, with at most `members_max` of each.
struct PeekReady {
  using Reply = std::vector<ReadyGroup>;
  static constexpr OperationRow row{};
  std::size_t members_max;
  std::set<std::variant<BudgetId, QuotaId>> needing;

  bool concerns(const core::Needs& needs) const;
};

// Executions of one lane with equal needs that wait for a worker. A granted one, or one whose lease was
// lost, is not among them.
struct WaitingCount {
  Namespace ns;
  LaneId lane;
  core::Needs needs;
  std::uint64_t count = 0;
  bool operator==(const WaitingCount&) const = default;
};

// How many executions wait for more than a worker's turn, by what they need; of one namespace or of all.
struct CountWaiting {
  using Reply = std::vector<WaitingCount>;
  static constexpr OperationRow row{};
  std::optional<Namespace> ns = {};
};

struct HeldExecution {
  WorkerId worker;
  ExecutionId id;
  auto operator<=>(const HeldExecution&) const = default;
};

// Executions that the workers of a namespace hold, or that one of them holds; at most `max`. Costs what the
// live leases cost.
struct FindHeld {
  using Reply = std::vector<HeldExecution>;
  static constexpr OperationRow row{};
  Namespace ns;
  std::optional<WorkerId> worker = {};
  std::size_t max;
};

struct BlockedExecution {
  ExecutionId id;
  Namespace ns;
  LaneId lane;
  core::Needs needs;
};
struct BlockedPage {
  std::vector<BlockedExecution> executions;  // those blocked longest first, as far as that is cheap
  std::optional<std::string> next = {};      // where to go on, if there may be more
};

// Executions that another scheduler on the same store blocked for a reason, about `max` at a time. The
// engine itself stores no such state: it derives why an execution waits when somebody asks. With the reason
// waiting_for_children: nodes that wait for others, which the engine does store; looks at about `max` executions.
struct FindBlocked {
  using Reply = BlockedPage;
  static constexpr OperationRow row{};
  BlockingReason reason{};
  std::optional<std::string> after = {};  // `next` of the page before
  std::size_t max;
};

struct FlowPage {
  std::vector<FlowId> flows;
  std::optional<std::string> next = {};  // where to go on, if there may be more
};

// Flows of all namespaces that have not ended, as far as that is cheap to tell; looks at about `max`.
struct FindOpenFlows {
  using Reply = FlowPage;
  static constexpr OperationRow row{};
  std::optional<std::string> after = {};  // `next` of the page before
  std::size_t max;
};

// Cancellations that a program of the contract began in flows: of their members, or of the nodes before a node that
// started without them.
struct OwedCancels {
  std::size_t backlog = 0;  // flows whose members are still to be cancelled, due or not
  std::vector<FlowId> flows = {};                    // core::CancelOwedMembers
  std::vector<core::CancelSiblings> siblings = {};
};
enum class OwedTo : std::uint8_t { members, siblings };

// Those that are due, at most `max` of each partition. Only on Valkey.
struct FindOwedCancels {
  using Reply = OwedCancels;
  static constexpr OperationRow row{};
  OwedTo to{};
  std::size_t max;
};

struct BlockedCount {
  BlockingReason reason{};
  std::uint64_t count = 0;
  bool operator==(const BlockedCount&) const = default;
};

// How many are stored as blocked in all namespaces together; zeros are left out.
struct CountBlocked {
  using Reply = std::vector<BlockedCount>;
  static constexpr OperationRow row{};
};

// Offers again what was taken and is still ready.
struct PutBack {
  using Reply = Done;
  static constexpr OperationRow row{.owner = Owner::execution};
  ExecutionId id;
};

struct DueReply {
  std::vector<ExecutionId> due;        // the oldest first
  std::optional<TimePoint> next = {};  // when the first of the others comes due
};

// Executions whose timer of a kind has run out, at most `max`.
struct TimersDue {
  using Reply = DueReply;
  static constexpr OperationRow row{};
  core::TimerKind kind{};
  std::size_t max;
};

// Ended executions whose retention has run out, at most `max`.
struct RetentionDue {
  using Reply = DueReply;
  static constexpr OperationRow row{};
  std::size_t max;
};

struct ReconcileReply {
  std::size_t checked = 0;
  std::size_t repaired = 0;
};

// Compares the indexes of a partition with its records, and mends them.
struct Reconcile {
  using Reply = ReconcileReply;
  static constexpr OperationRow row{};
  PartitionIndex partition;
};

// How many executions there are in all namespaces together, by lane and state.
struct CountAll {
  using Reply = StateCounts;
  static constexpr OperationRow row{};
};

// Writes something to the disk and waits for it: whether that works.
struct Probe {
  using Reply = Done;
  static constexpr OperationRow row{};
};

// An effect that is stored and not settled. It lives in the partition of its cause.
struct PendingEffect {
  PartitionIndex partition{};
  core::Effect effect;
  bool operator==(const PendingEffect&) const = default;
};

struct EffectPage {
  std::vector<PendingEffect> effects;
  bool more = false;  // some partitions have others
};

// Effects of all partitions that are not settled, at most about `max`.
struct FindEffects {
  using Reply = EffectPage;
  static constexpr OperationRow row{};
  std::size_t max;
};

// Forgets effects of a partition that were carried out. Safe to repeat.
struct SettleEffects {
  using Reply = Done;
  static constexpr OperationRow row{.writes = Writes::logged};
  PartitionIndex partition{};
  std::vector<core::Effect> effects;
};

struct ReadResult {
  using Reply = Bytes;
  static constexpr OperationRow row{.owner = Owner::execution};
  ExecutionId id;
};

struct ReadFrames {
  using Reply = StreamPage;
  static constexpr OperationRow row{.owner = Owner::execution};
  ExecutionId id;
  StreamName stream;
  std::uint64_t from = 0;
  std::uint32_t limit = 0;
  std::size_t bytes_max = limits::stream_page_bytes_max;
};

// The frames of an attempt from one id to another, both among them.
struct ReadAttemptFrames {
  using Reply = AttemptFrames;
  static constexpr OperationRow row{.owner = Owner::execution};
  ExecutionId id;
  std::uint32_t attempt = 0;
  FrameId first;
  FrameId last;
  std::uint32_t limit = 0;
};

// ---- The store -----------------------------------------------------------------------------------

// The operations that an engine hands on as they are, and those that only the engine asks for.
using StoreOperations = Joined<
    Filtered<EngineOperations, []<class Op>() { return Op::row.is_stored; }>,
    OperationList<core::Create, core::GrantIssue, core::LeaseGrant, core::TimerFire, core::Remove,
                  core::Unblock, core::CheckLease, core::HoldsToken, core::FindSignal, ReadResult,
                  ReadFrames, ReadAttemptFrames,
                  FindEffects, SettleEffects, TakeReady, PutBack, TimersDue, RetentionDue, Reconcile, CountAll,
                  Probe, PeekReady, CountWaiting, FindHeld, FindBlocked, FindOpenFlows, FindOwedCancels,
                  CountBlocked,
                  core::HoldLane, core::RefreshPausedLanes, core::AppendAudit, core::TrimAudit,
                  core::LiveWorkers, core::Admit, core::ReleaseToken, core::HeldTokens,
                  core::CheckBudget, core::ResetsDue, core::ResetIfDue, core::LedgerOf,
                  core::ForgetSpending, core::ReconcileBudgets, core::ReconcileQuotas,
                  core::AllBudgets, core::AllQuotas, core::ReadKeyRing, core::RotateKeyRing,
                  core::CreateFlow, core::AddNodes, core::SubmitNode, core::Grow,
                  core::AddItems, core::EndNode,
                  core::ReadFlow, core::BeginCancel,
                  core::BeginRedrive, core::AdvanceFlow, core::ResolveEdges, core::CancelRest,
                  core::CheckNode, core::CheckFlow, core::CancelOwedMembers, core::CancelSiblings>>;
using AnyCall = AnyCallOf<StoreOperations>;

template <class Op, class... Ops>
concept OneOf = (std::same_as<Op, Ops> || ...);

// About a budget, a quota, workers, paused lanes or the audit log, not about an execution.
template <class Op>
concept OfResource = Op::row.owner == Owner::budget || Op::row.owner == Owner::quota ||
                     Op::row.owner == Owner::worker || Op::row.owner == Owner::lane ||
                     Op::row.owner == Owner::audit;

// About the secrets that sign waitpoint tokens.
template <class Op>
concept OfKeyRing = Op::row.owner == Owner::key_ring;

// A budget or a quota may have room now that it had not: work that it held back may be able to start.
struct Opening {
  Namespace ns;
  std::variant<BudgetId, QuotaId> of;
};

// Receivers of what happens in a store. Called from any thread; they must not block.
struct Sinks {
  using Changes = std::span<const core::ExecutionChange>;

  // The events of durable changes, those of one execution in order, each once.
  std::function<void(Changes)> on_events = [](Changes) {};
  // Changes as soon as they are known, for those who wait: in any order, some perhaps twice, also ones of long
  // ago that may not have been heard of. Durable, except new work: a reply to its claim waits for the disk.
  std::function<void(Changes)> on_changes = [](Changes) {};
  std::function<void(const Opening&)> on_opening = [](const Opening&) {};
  // Store::paused_lanes() returns another set.
  std::function<void()> on_paused_lanes = [] {};
  // Frames were appended to a stream of an execution; perhaps told twice.
  std::function<void(const ExecutionId&)> on_frames = [](const ExecutionId&) {};
  // Events and changes may have been missed: those who wait look for themselves.
  std::function<void()> on_gap = [] {};
};

// A command changes one partition, atomically; the rest reads. All methods may be called from any
// thread. Time is the store's own.
class Store {
 public:
  virtual ~Store() = default;

  // Does the calls' operations and answers each through its `done`. A reply, a read's too, is given
  // only when everything it is based on is as durable as the store promises.
  virtual void start(std::vector<AnyCall> calls) = 0;

  // Once, before the first call.
  virtual void set_sinks(Sinks sinks) = 0;

  // Ends when the events of everything that was answered before are told.
  virtual asio::awaitable<void> catch_up_with_events() { co_return; }

  // The cursor with which a list goes on behind an execution.
  virtual std::string list_cursor(TimePoint created_at, const ExecutionId& id) const = 0;

  virtual PartitionIndex partition_count() const = 0;
  virtual TimePoint now() const = 0;

  // The paused lanes as this process knows them: at once what it changed itself, within a second what others did.
  // Costs no command.
  virtual std::shared_ptr<const core::PausedLanes> paused_lanes() const {
    static const auto none = std::make_shared<const core::PausedLanes>();
    return none;
  }

  // For a process that is about to stop: calls that wait for a server, and later ones, fail at once. A store
  // in this process has nothing to break off.
  virtual void break_off() {}

  // The error that stopped the store, if one did. It serves nothing any more until it is opened anew.
  virtual Result<void> health() const = 0;

  // co_await store.run(Complete{…})
  template <class Op>
  Async<typename Op::Reply> run(Op operation);

  // Starts all, waits for all; replies in the order of the operations.
  template <class Op>
  asio::awaitable<std::vector<Result<typename Op::Reply>>> run_all(std::vector<Op> operations);
};

template <class Op>
Async<typename Op::Reply> Store::run(Op operation) {
  Result<typename Op::Reply> reply = std::unexpected(Error{});
  co_await suspend_until([&](Continuation resume) {
    std::vector<AnyCall> calls;
    calls.push_back(Call<Op>{std::move(operation), [&reply, resume = std::move(resume)](
                                                       Result<typename Op::Reply> given) mutable {
                               reply = std::move(given);
                               resume();
                             }});
    start(std::move(calls));
  });
  co_return reply;
}

template <class Op>
asio::awaitable<std::vector<Result<typename Op::Reply>>> Store::run_all(
    std::vector<Op> operations) {
  std::vector<Result<typename Op::Reply>> replies(operations.size(), std::unexpected(Error{}));
  if (operations.empty()) co_return replies;
  struct Gather {
    std::atomic<std::size_t> missing;
    Continuation resume;
  };
  co_await suspend_until([&](Continuation resume) {
    const auto gather = std::make_shared<Gather>(operations.size(), std::move(resume));
    std::vector<AnyCall> calls;
    calls.reserve(operations.size());
    for (std::size_t i = 0; i < operations.size(); ++i)
      calls.push_back(Call<Op>{std::move(operations[i]),
                               [gather, &reply = replies[i]](Result<typename Op::Reply> given) {
                                 reply = std::move(given);
                                 if (--gather->missing == 0) gather->resume();
                               }});
    start(std::move(calls));
  });
  co_return replies;
}

}  // namespace ff::store
