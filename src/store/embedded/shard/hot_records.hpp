// The executions that a shard has in memory: those that changed or were asked for lately.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/execution/execution.hpp"
#include "core/streams/stream.hpp"
#include "core/suspensions/suspension.hpp"

namespace ff::embedded {

using BatchNumber = std::uint64_t;  // numbers a shard's batches, from 1

struct HotRecord {
  core::Execution execution;
  std::optional<std::string> payload = {};  // from its submit until its first claim
  std::unique_ptr<core::Waits> waits = {};  // once they were read or changed
  std::unique_ptr<core::Streams> streams = {};  // likewise
  BatchNumber created_in = 0;
  BatchNumber changed_in = 0;  // not in the database before that batch is written
  BatchNumber durable_in = 0;  // a reply about it waits until that batch is synced
};

// Bounded by bytes; the least used go first, but never what only memory knows. Not thread-safe.
class HotRecords {
 public:
  explicit HotRecords(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Null if it is not here. The pointer holds until the next put, erase or shrink.
  HotRecord* find(const ExecutionId& id);
  HotRecord& put(HotRecord record);
  void erase(const ExecutionId& id);

  // Call it when a record's payload, waits or streams were taken or set.
  void resized(const ExecutionId& id);

  // Lets go of what is over the limit and safe: written, and synced as far as it must be.
  void shrink(BatchNumber written, BatchNumber synced);

  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    HotRecord record;
    std::size_t bytes = 0;
    std::list<ExecutionId>::iterator use;
  };

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::unordered_map<ExecutionId, Entry> entries_;
  std::list<ExecutionId> uses_;  // the latest first
};

}  // namespace ff::embedded
