// This process's copy of what it needs to know at once: executions that wait for a worker, and timers that
// come due soon. Valkey is the truth; the copy follows replies and channels, and looks from time to time for
// what it was not told.
#pragma once

#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <chrono>
#include <map>
#include <set>

#include "base/async/wakeup.hpp"
#include "store/store.hpp"
#include "store/valkey/background.hpp"
#include "store/valkey/caches/own_event_filter.hpp"
#include "store/valkey/caches/ready_cache.hpp"
#include "store/valkey/caches/timer_mirror.hpp"
#include "store/valkey/calls/event_message.hpp"
#include "store/valkey/calls/functions.hpp"
#include "store/valkey/fleet/membership.hpp"

namespace ff::valkey_store {

class LocalCopy {
 public:
  struct Parts {
    Background& background;
    Functions& functions;
    OwnEventFilter& own_events;
    const ServerClock& clock;
    Membership& membership;
    bool sweep;  // look from time to time whether something was missed
  };
  explicit LocalCopy(Parts parts) : parts_(parts) {}

  void set_sinks(store::Sinks sinks);

  // ---- Notices

  // A message on a channel.
  void hear(std::string_view message);
  // A change that a reply tells of.
  void learn(const EventMessage& message);
  // Messages may have been missed.
  void note_gap();
  // The node of this partition did not answer: nothing of its partitions is offered or due until it does.
  void note_unreachable(PartitionIndex partition);
  // The next timer of an execution, as a reply tells it.
  void note_timer(const ExecutionId& id, const std::optional<core::Timer>& timer,
                  std::optional<Version> version = {});
  // Others live on the store, or do other things. On the background's thread.
  void note_division();

  ReadyCache& ready() { return ready_; }

  // ---- Searches

  Async<void> look_for_ready(std::vector<PartitionIndex> partitions);
  // Looks again at intervals, and after a gap, until the store is closed.
  asio::awaitable<void> keep_up();
  // Offers what other processes were to take first, and did not; until the store is closed.
  asio::awaitable<void> release_held();
  void wake() {
    wakeup_.wake();
    held_wakeup_.wake();
  }

  // Counts what waits in a partition. Returns how many counts were wrong.
  Async<std::size_t> recount(PartitionIndex partition);

  // ---- Questions

  void start(store::Call<store::TakeReady>& call);
  void start(store::Call<store::PeekReady>& call);
  void start(store::Call<store::TimersDue>& call);

 private:
  // `oldest`: an index that is asked for its oldest first.
  Async<std::vector<store::Candidate>> take_ready(store::TakeReady query,
                                                  std::optional<IndexName> oldest);
  asio::awaitable<void> look_for_oldest(IndexName index);
  Async<void> look_further(const std::vector<ReadyCache::Gap>& gaps,
                           const std::vector<Kind>& kinds);
  // Puts a claimable execution into the cache. True if another process is to take it first.
  bool hold(const EventMessage& message);
  asio::awaitable<void> take_over(std::vector<PartitionIndex> partitions);
  void take_in(ReadyCache::Look& look, const std::vector<IndexLook>& looks);
  Async<store::DueReply> timers_due(store::TimersDue query);
  // Timers up to `until`, and no more than `timers_per_look_` of each kind and partition.
  Async<void> look_for_timers(std::vector<PartitionIndex> partitions, TimePoint until);
  // The partitions in which timers of this kind may be due before then that are not known.
  std::vector<PartitionIndex> cut_short(core::TimerKind kind, TimePoint before) const;
  Async<void> look_for_all_timers();
  void note_missing(const std::vector<keys::Partition>& places);
  asio::awaitable<void> look_for_absent();

  Parts parts_;
  ReadyCache ready_;
  TimerMirror timers_;
  std::atomic<std::size_t> timers_per_look_ = 1'000;  // of each kind and partition

  // A store is used, and told of changes, before it has sinks.
  std::mutex sinks_mutex_;
  store::Sinks sinks_;

  // Work that other processes are to take first, by when it is offered here.
  std::mutex held_mutex_;
  std::multimap<std::chrono::steady_clock::time_point, core::ExecutionChange> held_;
  Wakeup held_wakeup_{parts_.background.executor()};

  std::atomic<bool> missed_something_ = false;
  Wakeup wakeup_{parts_.background.executor()};
  // Only in coroutines of the background, which has one thread.
  std::set<PartitionIndex> own_;     // that scanners of this process look after
  std::set<PartitionIndex> absent_;  // partitions to look at again soon
  using TimersPlace = std::pair<core::TimerKind, PartitionIndex>;
  std::map<TimersPlace, TimePoint> cut_short_;  // where a look ended early: up to when timers are known
  bool looking_ = false;
  asio::steady_timer look_ended_{parts_.background.executor(),
                                 std::chrono::steady_clock::time_point::max()};
};

}  // namespace ff::valkey_store
