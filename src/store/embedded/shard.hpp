// A shard: one thread that owns some partitions, so that the state machine needs no locks.
#pragma once

#include <flowfabric/time.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "core/transitions.hpp"
#include "store/embedded/batch.hpp"
#include "store/embedded/committer.hpp"
#include "store/embedded/indexes.hpp"
#include "store/store.hpp"

namespace ff::embedded {

// Drains its mailbox, applies the calls, writes them as one batch, and lets the committer answer them
// (group commit). start() may be called from any thread.
class Shard {
 public:
  struct Parts {
    Database& database;
    Committer& committer;
    Fault& fault;
    const Clock& clock;
    const store::EventSink& sink;
  };

  explicit Shard(Parts parts) : parts_(parts) {}
  ~Shard();  // finishes what is in the mailbox

  // Before run(): fills the indexes with what is on disk.
  void restore(const core::Execution& execution) { indexes_.add(execution); }
  void run() {
    thread_ = std::thread([this] { loop(); });
  }

  void start(store::AnyCall call);

 private:
  void loop();
  void process(std::vector<store::AnyCall> calls);

  // What a command does is core's decision, carried out in `batch`. These need more than that:
  template <class Command>
  Result<typename Command::Reply> execute(Command command, Batch& batch) {
    return change(std::move(command), batch);
  }
  Result<SubmitReply> execute(core::Create command, Batch& batch);
  Result<ClaimedExecution> execute(core::LeaseGrant command, Batch& batch);
  Result<ExecutionInfo> execute(const GetExecution& query, Batch& batch);
  Result<ResultBytes> execute(const store::ReadResult& query, Batch& batch);
  Result<std::vector<store::Candidate>> execute(const store::ReadyHeads& query, Batch& batch);
  Result<std::vector<store::LeaseDue>> execute(const store::LeasesDue& query, Batch& batch);

  template <class Command>
  Result<typename Command::Reply> change(Command command, Batch& batch);
  template <class Command>
  void carry_out(const core::Execution* before, const core::Decision<Command>& step, Batch& batch);

  Result<std::optional<core::Execution>> find(const ExecutionId& id, Batch& batch);
  Result<core::Execution> load(const ExecutionId& id, Batch& batch);
  TimePoint now();

  Parts parts_;
  Indexes indexes_;
  TimePoint last_now_{};                       // time never runs backwards in here
  Committer::Ticket last_durable_ticket_ = 0;  // of our newest batch that had to be synced

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<store::AnyCall> mailbox_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace ff::embedded
