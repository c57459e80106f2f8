// A group of operations that are written together and answered together.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/execution/event.hpp"
#include "store/embedded/disk/database.hpp"
#include "store/embedded/shard/hot_records.hpp"
#include "store/store.hpp"

namespace ff::embedded {

// Replies, events, openings and frames that are told of once a batch is safe, and not before.
class Announcements {
 public:
  template <class Reply>
  void add_reply(std::move_only_function<void(Result<Reply>)> done, Result<Reply> reply) {
    replies_.push_back(
        [done = std::move(done), reply = std::move(reply)](const Error* fault) mutable {
          if (fault)
            done(std::unexpected(*fault));
          else
            done(std::move(reply));
        });
  }
  void add_event(core::ExecutionChange change) { changes_.push_back(std::move(change)); }
  void add_opening(const store::Sinks& sinks, store::Opening opening) {
    replies_.push_back([&sinks, opening = std::move(opening)](const Error* fault) {
      if (!fault) sinks.on_opening(opening);
    });
  }
  void add_frames(const ExecutionId& id) { frames_of_.push_back(id); }
  bool empty() const { return replies_.empty() && changes_.empty() && frames_of_.empty(); }

  // When they are released, `mark` is raised to `batch`.
  void mark_synced(std::atomic<BatchNumber>& mark, BatchNumber batch) {
    mark_ = &mark;
    batch_ = batch;
  }

  // With a fault: every reply is that error instead, and there are no events and no openings. Events come
  // before the mark: once it is raised, later events of the same executions no longer wait for these.
  void release(const store::Sinks& sinks, const Error* fault = nullptr) {
    if (!fault) release_events(sinks);
    if (!fault && mark_) mark_->store(batch_, std::memory_order_release);
    if (!fault)
      for (const auto& id : frames_of_) sinks.on_frames(id);
    for (auto& reply : replies_) reply(fault);
  }
  void release_events(const store::Sinks& sinks) {
    if (changes_.empty()) return;
    sinks.on_events(changes_);
    sinks.on_changes(changes_);
    changes_.clear();
  }

 private:
  std::vector<std::move_only_function<void(const Error*)>> replies_;
  std::vector<core::ExecutionChange> changes_;
  std::vector<ExecutionId> frames_of_;  // whose streams have new frames
  std::atomic<BatchNumber>* mark_ = nullptr;
  BatchNumber batch_ = 0;
};

struct Batch {
  BatchNumber number;
  Changes changes = {};
  // By key, what of the changes those who read the database must be told; none: it is erased.
  std::map<std::string, std::optional<std::string>> unwritten = {};
  bool must_sync = false;      // holds a change that is acknowledged only when it is on disk
  Announcements at_once = {};  // what is based on nothing that is not on disk yet
  Announcements after_sync = {};
  // Work that waiting claims hear of before it is on disk; the reply of a lease waits for that.
  std::vector<core::ExecutionChange> offers = {};
};

}  // namespace ff::embedded
