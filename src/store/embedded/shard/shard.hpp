// A shard: one thread that owns some partitions, so that the state machine needs no locks.
#pragma once

#include <flowfabric/time.hpp>

#include <functional>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/transitions/plan.hpp"
#include "store/embedded/commit/batch_writer.hpp"
#include "store/embedded/commit/mailbox.hpp"
#include "store/embedded/disk/retention_mark.hpp"
#include "store/embedded/shard/hot_edges.hpp"
#include "store/embedded/shard/indexes.hpp"
#include "store/embedded/shard/live_streams.hpp"
#include "store/embedded/shard/pending_effects.hpp"
#include "store/store.hpp"

namespace ff::embedded {

// A shard's part of a count; of all namespaces, if none is named.
struct CountShare {
  using Reply = std::vector<LaneCount>;
  static constexpr OperationRow row{};
  std::optional<Namespace> ns = {};
  std::optional<LaneId> lane = {};
};

// Calls that a shard handles: those of the store about one execution or partition, and its part
// of those that are about all.
inline constexpr auto is_about_execution = []<class Op>() {
  // No other scheduler shares this store, so nothing is ever blocked here.
  // Lists and inputs are read beside the shards.
  return (Op::row.owner == Owner::execution || Op::row.owner == Owner::flow) &&
         !store::OneOf<Op, core::Unblock, core::CancelOwedMembers, core::CancelSiblings, GetInputs,
                       ListFlowNodes>;
};
using ShardCall = store::AnyCallOf<
    Joined<Filtered<store::StoreOperations, is_about_execution>,
           OperationList<store::TimersDue, store::Reconcile, store::FindEffects,
                         store::SettleEffects, CountShare, store::CountWaiting, store::FindHeld>>>;

// Drains its mailbox, applies the calls, writes them as one batch, and lets the committer answer those
// that wait for the disk (group commit). start() may be called from any thread.
class Shard final : core::PartitionView {
 public:
  struct Parts {
    std::uint16_t number;
    PartitionIndex partition_count;
    Database& database;
    Committer& committer;
    Fault& fault;
    const Clock& clock;
    const store::Sinks& sinks;
    store::ReadyQueue& ready;
    RetentionMark& retention_mark;
    store::Durability durability;
    std::size_t hot_bytes_max;
    std::uint64_t live_bytes_max;
  };

  explicit Shard(Parts parts);  // outlives the committer, which tells it what is synced

  // Before run(): fills the indexes with what is on disk.
  Indexes& indexes() { return indexes_; }
  PendingEffects& effects() { return effects_; }
  void set_crash_count(std::uint64_t count) { crash_count_ = count; }
  // Executions that are older than `until` get leases with epochs above `floor`.
  void set_epoch_floor(LeaseEpoch floor, TimePoint until) {
    epoch_floor_ = floor;
    epoch_floor_until_ = until;
  }
  void run() {
    mailbox_.run([this](std::vector<ShardCall> calls) { process(std::move(calls)); });
  }

  void start(std::vector<ShardCall> calls) { mailbox_.put(std::move(calls)); }
  void stop() { mailbox_.stop(); }  // finishes what is in the mailbox

 private:
  void process(std::vector<ShardCall> calls);
  template <class Op>
  void process(store::Call<Op>& call, Batch& batch);
  void finish(Batch batch);
  Result<void> write(Batch& batch);

  // Core decides each command; the decision is carried out in `batch`. These need more than that:
  template <class Command>
  Result<typename Command::Reply> execute(Command command, Batch& batch) {
    return change(std::move(command), batch);
  }
  Result<ClaimedExecution> execute(core::LeaseGrant command, Batch& batch);
  Result<ClaimedExecution> start_execution(core::LeaseGrant command, Batch& batch);
  Result<ExecutionInfo> execute(const GetExecution& query, Batch& batch);
  Result<Bytes> execute(const GetPayload& query, Batch& batch);
  Result<Bytes> execute(const store::ReadResult& query, Batch& batch);
  Result<Attempts> execute(const GetAttempts& query, Batch& batch);
  Result<LeaseHistory> execute(const GetLeaseHistory& query, Batch& batch);
  Result<std::vector<LaneCount>> execute(const CountShare& query, Batch& batch);
  Result<Done> execute(const store::PutBack& query, Batch& batch);
  Result<Done> execute(const core::CheckLease& query, Batch& batch);
  Result<bool> execute(const core::HoldsToken& query, Batch& batch);
  Result<std::optional<core::FoundSignal>> execute(const core::FindSignal& query, Batch& batch);
  Result<store::DueReply> execute(const store::TimersDue& query, Batch& batch);
  Result<std::vector<store::WaitingCount>> execute(const store::CountWaiting& query, Batch& batch);
  Result<std::vector<store::HeldExecution>> execute(const store::FindHeld& query, Batch& batch);
  Result<store::ReconcileReply> execute(const store::Reconcile& query, Batch& batch);
  Result<store::EffectPage> execute(const store::FindEffects& query, Batch& batch);
  Result<SuspensionReply> execute(const GetSuspension& query, Batch& batch);
  Result<SignalPage> execute(const GetSignals& query, Batch& batch);
  Result<Bytes> execute(const GetStep& query, Batch& batch);
  Result<StepList> execute(const ListSteps& query, Batch& batch);
  Result<Done> execute(const store::SettleEffects& command, Batch& batch);
  Result<FlowInfo> execute(const core::ReadFlow& query, Batch& batch);
  Result<StreamPage> execute(const store::ReadFrames& query, Batch& batch);
  Result<StreamList> execute(const ListStreams& query, Batch& batch);
  Result<AttemptFrames> execute(const store::ReadAttemptFrames& query, Batch& batch);
  Result<std::uint64_t> find_first(const store::ReadAttemptFrames& query, std::uint32_t index,
                                   const core::Stream& stream);
  Result<std::optional<core::Append>> append_holding(const ExecutionId& id,
                                                     core::AppendPlace frame);

  void skip_lost_epochs(const ExecutionId& id);
  template <class Command>
  Result<typename Command::Reply> change(Command command, Batch& batch);
  struct Decided {
    std::vector<core::Change> changes;
    std::vector<core::Effect> effects;
    bool waits;  // for the disk
  };
  void carry_out(Decided decided, Batch& batch);
  void keep_effects(PartitionIndex partition, std::span<const core::Effect> effects, Batch& batch);
  BatchNumber depends_on(const Batch& batch) const;
  void put_execution(core::Execution&& next, std::optional<std::string> payload,
                     BatchNumber durable_in, Batch& batch);
  std::optional<std::string> put_belonging(core::PutBelonging& put, BatchNumber durable_in,
                                           Batch& batch);
  void put_waits(const ExecutionId& id, core::Waits waits, Batch& batch);
  void put_streams(const ExecutionId& id, core::Streams streams, BatchNumber durable_in,
                   Batch& batch);
  void put_append(const ExecutionId& id, core::Append append, Batch& batch);
  void erase_append(const core::EraseAppend& erase, Batch& batch);
  bool is_live(const ExecutionId& id, std::uint32_t stream);
  void forget_live_streams();
  // Those that end behind a number, in order, until `visit` returns false.
  Result<void> for_each_append(const ExecutionId& id, core::AppendPlace behind,
                               const std::function<bool(const core::Append&)>& visit);
  Result<void> add_frames(const store::ReadFrames& query, std::uint32_t stream, StreamPage& page);
  void erase_belongings(const core::Execution& of, core::Belonging kind, Batch& batch);
  void erase_found(const ExecutionId& id, core::Belonging kind, Batch& batch);
  void remove_execution(const core::Execution& last, Batch& batch);
  void put_flow(core::Flow&& next, BatchNumber durable_in, Batch& batch);
  void remove_flow(const core::Flow& last, Batch& batch);
  void remove_from_indexes(const core::Flow& flow, Batch& batch);
  void add_edge(const core::Edge& edge, Batch& batch);
  void put_edge(const core::Edge& edge, Batch& batch);
  void add_member(const core::AddMember& member, Batch& batch);
  void shrink_flows(BatchNumber written);
  ExecutionId subject_of(const FlowId& id) const;
  void write_indexes(const core::Execution* before, const core::Execution& next, Batch& batch);

  bool all_synced(const Batch& batch) const;

  Result<const core::Execution*> find(const ExecutionId& id) override;
  Result<const core::Execution*> find(const Namespace& ns, const IdempotencyKey& key) override;
  Result<core::Waits> find_waits(const core::Execution& execution) override;
  Result<core::WaitDetails> find_details(const core::Execution& execution,
                                         const core::Waits& waits) override;
  Result<std::vector<core::StoredSignal>> find_signals(
      const core::Execution& execution, std::span<const std::uint32_t> indexes) override;
  Result<std::vector<core::StoredSignal>> find_signals(const core::Execution& execution,
                                                       std::uint32_t from) override;
  Result<std::optional<core::KnownSignal>> find_signal(const core::Execution& execution,
                                                       const SignalKey& key) override;
  Result<std::optional<core::StoredSignal>> find_signal(const core::Execution& execution,
                                                        const SignalId& signal) override;
  Result<bool> has_step(const core::Execution& execution, const StepName& name) override;
  bool has_effect(PartitionIndex partition, const core::Effect& effect) override;
  Result<core::Streams> find_streams(const core::Execution& execution) override;
  Result<core::AppendSize> find_append(const core::Execution& execution,
                                       core::AppendPlace place) override;
  Result<std::string> find_document(const core::Execution& execution,
                                    std::uint32_t stream) override;
  std::uint64_t crash_count() const override { return crash_count_; }
  Result<const core::Flow*> find_flow(const FlowId& id) override;
  Result<std::vector<ExecutionId>> find_members(const FlowId& flow, std::uint32_t from,
                                                std::size_t max) override;
  Result<std::vector<core::EdgeId>> find_edges_out(const ExecutionId& upstream,
                                                   const std::optional<core::EdgeId>& after,
                                                   std::size_t max) override;
  Result<core::Edge> find_edge(const core::EdgeId& id) override;
  // Before belongings are read from the database: the current batch may have changed them.
  Result<void> write_changes_of(const ExecutionId& id);

  // The execution, from memory or disk; null if there is none.
  Result<HotRecord*> find_record(const ExecutionId& id);
  Result<HotRecord*> load(const ExecutionId& id);
  Result<std::string> payload_of(HotRecord& record, const Batch& batch);
  Result<std::string> stored_payload(const ExecutionId& id);
  Result<std::vector<core::Attempt>> attempts_of(const HotRecord& record, Batch& batch);
  TimePoint now();

  static constexpr std::size_t hot_edges_max = 50'000;

  Parts parts_;
  Batch* batch_ = nullptr;  // the current one
  BatchWriter writer_;
  Indexes indexes_;
  HotRecords hot_;
  HotEdges hot_edges_{hot_edges_max};
  LiveStreams live_streams_;
  PendingEffects effects_;
  std::optional<TimePoint> first_retained_;  // of the entries of retention that are not written yet
  std::set<Indexes::QueueKey> ended_changed_;  // lanes whose count of ended ones must be written
  std::map<std::string, IdempotencyEntry> new_keys_;  // of this batch, not written yet
  std::set<ExecutionId> removed_;                     // likewise
  struct HotFlow {
    core::Flow flow;
    BatchNumber changed_in = 0;
    BatchNumber durable_in = 0;  // a reply about it waits until that batch is synced
    BatchNumber state_durable_in = 0;  // a reply that only depends on its state, likewise
  };
  std::map<FlowId, HotFlow> flows_;  // that changed or were asked for lately
  // Of this batch, not written yet.
  std::set<FlowId> removed_flows_;
  std::set<FlowId> unwritten_members_of_;
  std::unordered_set<ExecutionId> unwritten_edges_of_;  // nodes that edges go out of
  std::unordered_map<core::EdgeId, core::Edge> unwritten_edges_;
  std::uint64_t crash_count_ = 0;
  LeaseEpoch epoch_floor_{};
  TimePoint epoch_floor_until_{};
  TimePoint last_now_{};            // time never runs backwards in here
  bool based_on_unsynced_ = false;  // what the current call answers must wait
  bool starts_execution_ = false;   // the current call, which only depends on the state of a flow
  Mailbox<ShardCall> mailbox_;      // last: its thread uses all of the above
};

}  // namespace ff::embedded
