// Writes the batches of one thread, and sees to it that each is answered when it is safe.
#pragma once

#include "store/durability.hpp"
#include "store/embedded/commit/batch.hpp"
#include "store/embedded/commit/committer.hpp"

namespace ff::embedded {

// Must outlive the committer, which tells it what is synced.
class BatchWriter {
 public:
  struct Parts {
    Database& database;
    Committer& committer;
    Fault& fault;
    const store::Sinks& sinks;
    store::Durability durability;
  };

  explicit BatchWriter(Parts parts) : parts_(parts) {}

  Batch begin() { return {.number = ++last_}; }

  // Whether a change by the command is answered only when it is on disk. Some ends are more than that.
  template <class Command>
  bool waits(bool is_end = false) const {
    using enum store::Durability;
    return parts_.durability == strict ||
           (parts_.durability == standard && (store::waits_for_disk<Command> || is_end));
  }

  // Writes what the batch holds so far; it may go on.
  Result<void> write(Batch& batch);
  void finish(Batch batch);

  bool is_synced(BatchNumber number) const {
    return number <= synced_through_.load(std::memory_order_acquire);
  }
  BatchNumber synced_through() const { return synced_through_.load(std::memory_order_acquire); }
  BatchNumber last_durable() const { return last_durable_; }

  const Database& database() const { return parts_.database; }
  const Error* fault() const { return parts_.fault.get(); }

 private:
  Parts parts_;
  BatchNumber last_ = 0;
  BatchNumber last_durable_ = 0;         // the newest batch that had to be synced
  Committer::SyncNumber last_sync_ = 0;  // that covers it
  std::atomic<BatchNumber> synced_through_ = 0;
};

}  // namespace ff::embedded
