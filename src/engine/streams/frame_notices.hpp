// Which executions of a partition have written frames, for readers that follow many of them at once.
#pragma once

#include <flowfabric/ids.hpp>

#include <list>
#include <map>
#include <mutex>
#include <set>

#include "base/async/wakeup.hpp"

namespace ff {

// Thread-safe. It must outlive its followers.
class FrameNotices {
 public:
  // Remembers the executions that wrote since they were last taken, for as long as it lives.
  class Follower {
   public:
    Follower(FrameNotices& notices, PartitionIndex partition);
    ~Follower();
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;

    struct Taken {
      std::set<ExecutionId> executions;
      bool missed = false;  // there were more, or nobody can tell
    };
    Taken take();

    // Woken by each notice; null: nobody waits.
    void wake(Wakeup* wakeup);

   private:
    friend class FrameNotices;
    static constexpr std::size_t executions_max = 1'024;
    void note(const ExecutionId& id);

    FrameNotices& notices_;
    PartitionIndex partition_;
    std::list<Follower*>::iterator position_;
    Taken noted_;
    Wakeup* wakeup_ = nullptr;
  };

  void note(const ExecutionId& id);
  void note_gap();  // any of them may have written

 private:
  std::mutex mutex_;
  std::map<PartitionIndex, std::list<Follower*>> followers_;
};

}  // namespace ff
