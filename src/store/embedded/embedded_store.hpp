// How the store in this process is built: shards, the desk and the committer around one database.
#pragma once

#include <memory>
#include <vector>

#include <boost/asio/thread_pool.hpp>

#include "store/embedded/commit/committer.hpp"
#include "store/embedded/disk/directory.hpp"
#include "store/embedded/embedded.hpp"
#include "store/embedded/resources/resource_shard.hpp"
#include "store/embedded/shard/shard.hpp"
#include "store/embedded/store_clock.hpp"
#include "store/store.hpp"

namespace ff::embedded {

class EmbeddedStore final : public store::Store {
 public:
  static Result<std::unique_ptr<store::Store>> open(Options options);
  ~EmbeddedStore() override;  // answers what was started, then closes

  void start(std::vector<store::AnyCall> calls) override;
  void set_sinks(store::Sinks sinks) override { sinks_ = std::move(sinks); }
  std::string list_cursor(TimePoint created_at, const ExecutionId& id) const override;
  PartitionIndex partition_count() const override { return partition_count_; }
  TimePoint now() const override { return clock_.now(); }
  Result<void> health() const override;
  std::shared_ptr<const core::PausedLanes> paused_lanes() const override {
    return resources_->paused_lanes();
  }

 private:
  // Calls on their way to the threads that answer them.
  struct Mail {
    std::vector<std::vector<ShardCall>> shards;
    std::vector<ResourceCall> desk = {};
  };

  EmbeddedStore(Options options, DirectoryLock lock, std::unique_ptr<Database> database,
                PartitionIndex partition_count);
  Result<void> restore();
  Result<void> restore_live();
  Result<void> begin_time(TimePoint closed_at);
  void skip_lost_epochs(std::uint64_t crash_count);
  Result<void> restore_ended_counts();
  Result<void> restore_effects();
  Result<void> restore_flow_timers();

  PartitionIndex partition_of(const ExecutionId& id) const { return id.partition(); }
  PartitionIndex partition_of(const FlowId& id) const;
  std::size_t shard_of(PartitionIndex partition) const { return partition % shards_.size(); }
  void route(store::Call<store::TakeReady>& call, Mail& mail);
  void route(store::Call<CountExecutions>& call, Mail& mail);
  void route(store::Call<store::CountAll>& call, Mail& mail);
  void route(store::Call<store::Probe>& call, Mail& mail);
  void route(store::Call<store::TimersDue>& call, Mail& mail);
  void route(store::Call<store::Reconcile>& call, Mail& mail);
  void route(store::Call<store::SettleEffects>& call, Mail& mail);
  void route(store::Call<store::FindEffects>& call, Mail& mail);
  void route(store::Call<ListExecutions>& call, Mail& mail);
  void route(store::Call<ListFlows>& call, Mail& mail);
  void route(store::Call<ListFlowNodes>& call, Mail& mail);
  void route(store::Call<GetInputs>& call, Mail& mail);
  void route(store::Call<store::RetentionDue>& call, Mail& mail);
  void route(store::Call<Backup>& call, Mail& mail);
  void route(store::Call<ReadAudit>& call, Mail& mail);
  void route(store::Call<store::PeekReady>& call, Mail& mail);
  void route(store::Call<store::CountWaiting>& call, Mail& mail);
  void route(store::Call<store::FindBlocked>& call, Mail& mail);
  void route(store::Call<core::Unblock>& call, Mail& mail);
  void route(store::Call<store::FindOpenFlows>& call, Mail& mail);
  void route(store::Call<store::FindOwedCancels>& call, Mail& mail);
  void route(store::Call<core::CancelOwedMembers>& call, Mail& mail);
  void route(store::Call<core::CancelSiblings>& call, Mail& mail);
  void route(store::Call<store::CountBlocked>& call, Mail& mail);
  void route(store::Call<store::FindHeld>& call, Mail& mail);
  template <AtDesk Op>
  void route(store::Call<Op>& call, Mail& mail);
  template <class Op>
  void route(store::Call<Op>& call, Mail& mail);

  // Asks every shard `query` and answers `call` with what `join` makes of their replies.
  template <class Query, class Op, class Join>
  void ask_all(Query query, store::Call<Op>& call, Mail& mail, Join join);
  // Reads the database beside the shards; the answer waits until what it saw is on disk.
  template <class Op, class Read>
  void read_aside(store::Call<Op>& call, Read read);

  // In the order in which they may go: each uses those above it.
  Options options_;
  StoreClock clock_;
  DirectoryLock lock_;
  PartitionIndex partition_count_;
  std::unique_ptr<Database> database_;
  TimePoint newest_seen_{};  // of the times in what was restored
  bool in_use_ = false;
  Fault fault_;
  store::Sinks sinks_;
  store::ReadyQueue ready_;
  RetentionMark retention_mark_;
  std::vector<std::unique_ptr<Shard>> shards_;  // they and the committer use each other
  std::unique_ptr<ResourceShard> resources_;    // likewise
  Committer committer_;
  boost::asio::thread_pool reader_{1};
};

}  // namespace ff::embedded
