// The latest lifecycle events, and those who wait for the next ones.
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <mutex>
#include <optional>

#include "base/async/coroutine_group.hpp"
#include "base/async/wakeup.hpp"
#include "engine/events/event_log.hpp"

namespace ff {

// append() is on the path of every commit: it stores the events and wakes one coroutine, which then wakes
// those followers whose filter matches. Thread-safe.
class EventFeed {
 public:
  EventFeed(asio::any_io_executor executor, std::string name, std::size_t events_max);
  ~EventFeed();  // waits for the coroutine

  void append(std::span<const core::ExecutionChange> changes);

  // Events may be missing here: followers are told at once.
  void note_gap();

  // The events that match after the query's place; waits for the first until `deadline`.
  Async<EventPage> read(ReadEvents query, std::chrono::steady_clock::time_point deadline);

 private:
  // A reader that waits. `from` is the number of the first event that it has not seen.
  struct Follower {
    const ReadEvents& query;
    Wakeup& wakeup;
    std::uint64_t from;
    std::optional<std::uint64_t> match = {};  // the first event for it
  };
  using Followers = std::list<Follower*>;
  class Place;

  asio::awaitable<void> dispatch();
  void wake_followers(std::uint64_t from, const EventLog::Slice& slice);
  // Without an event: whatever they follow.
  static void wake(const Followers& followers, const Event* event, std::uint64_t number);

  EventLog log_;
  std::atomic<std::size_t> follower_count_ = 0;
  std::atomic<bool> stopping_ = false;

  std::mutex mutex_;                               // guards the three below
  std::uint64_t dispatched_ = 0;                   // events before this one woke their followers
  std::map<ExecutionId, Followers> by_execution_;  // that follow one execution
  Followers others_;

  asio::any_io_executor executor_;
  Wakeup appended_;
  CoroutineGroup coroutines_;  // last: its coroutine uses all of the above
};

}  // namespace ff
