// The live streams of a shard's executions: frames that are in memory only.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <vector>

#include "core/streams/stream.hpp"

namespace ff::embedded {

// Bounded by bytes: the streams of the execution that was written to longest ago go first, and those of ended
// executions after a time. Not thread-safe.
class LiveStreams {
 public:
  explicit LiveStreams(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // The part of a live stream that is not on disk; null if there is none.
  const core::Stream* find(const ExecutionId& id, std::uint32_t stream) const;

  // The frames of a stream, oldest first.
  const std::deque<core::Append>& appends(const ExecutionId& id, std::uint32_t stream) const;

  void put(const ExecutionId& id, std::uint32_t stream, const core::Stream& state);
  void add(const ExecutionId& id, core::Append append);
  void erase_oldest(const ExecutionId& id, std::uint32_t stream);

  void end(const ExecutionId& id, TimePoint at);
  void erase(const ExecutionId& id);

  // Lets go of what is over the limit or ended long ago; returns whose streams these were.
  std::vector<ExecutionId> shrink(TimePoint now);

  std::uint64_t bytes() const { return bytes_; }
  bool empty() const { return entries_.empty(); }

 private:
  struct Ring {
    core::Stream state;
    std::deque<core::Append> appends;
  };
  struct Entry {
    std::map<std::uint32_t, Ring> rings;
    std::uint64_t bytes = 0;
    std::optional<TimePoint> ended_at = {};
    std::list<ExecutionId>::iterator use;
  };
  Entry& entry(const ExecutionId& id);
  void count(Entry& entry, std::int64_t bytes);

  std::uint64_t bytes_max_;
  std::uint64_t bytes_ = 0;
  std::map<ExecutionId, Entry> entries_;
  std::list<ExecutionId> uses_;   // the latest first
  std::list<ExecutionId> ended_;  // in the order of their ends; perhaps no longer here, or running again
};

}  // namespace ff::embedded
