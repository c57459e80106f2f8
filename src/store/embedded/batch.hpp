// A group of operations that are written together and answered together.
#pragma once

#include <functional>
#include <vector>

#include "core/event.hpp"
#include "store/embedded/database.hpp"
#include "store/store.hpp"

namespace ff::embedded {

// What may be told to the world once a batch is safe, and not before.
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
  void add_event(core::Event event) { events_.push_back(std::move(event)); }

  // With a fault: every reply is that error instead, and there are no events.
  void release(const store::EventSink& sink, const Error* fault = nullptr) {
    if (!fault && sink && !events_.empty()) sink(events_);
    for (auto& reply : replies_) reply(fault);
  }

 private:
  std::vector<std::move_only_function<void(const Error*)>> replies_;
  std::vector<core::Event> events_;
};

struct Batch {
  explicit Batch(Database& database) : changes(database) {}

  Transaction changes;
  Announcements announcements;
  bool must_sync = false;  // holds a change that is acknowledged only when it is on disk
};

}  // namespace ff::embedded
