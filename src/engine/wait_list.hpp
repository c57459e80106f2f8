// Coroutines that wait for something to happen, by what they wait for.
#pragma once

#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/wakeup.hpp"

namespace ff {

// Thread-safe. `wake_one` is for things that only one can have (an execution that became ready): it
// reaches the one that has waited longest, and if that one gives up without looking, the next.
template <class Key>
class WaitList {
 public:
  // A place in the list, for as long as it lives. Take it before looking whether the thing is there
  // already; then nothing that happens in between is missed.
  class Place {
   public:
    Place(WaitList& list, std::vector<Key> keys, Wakeup& wakeup) : list_(list), wakeup_(wakeup) {
      const std::lock_guard lock(list_.mutex_);
      for (auto& key : keys) {
        auto& queue = list_.queues_[key];
        entries_.push_back({.key = std::move(key), .position = queue.insert(queue.end(), this)});
      }
    }
    ~Place() {
      std::optional<Key> unused;
      {
        const std::lock_guard lock(list_.mutex_);
        for (auto& entry : entries_) list_.erase(entry.key, entry.position);
        unused = std::move(woken_for_);
      }
      if (unused) list_.wake_one(*unused);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // What wake_one woke it for, if it did. From here on the holder answers for it: it takes the
    // thing, finds it gone, or wakes the next one.
    std::optional<Key> accept() {
      const std::lock_guard lock(list_.mutex_);
      return std::exchange(woken_for_, std::nullopt);
    }

   private:
    friend class WaitList;
    struct Entry {
      Key key;
      typename std::list<Place*>::iterator position;
    };

    WaitList& list_;
    Wakeup& wakeup_;
    std::vector<Entry> entries_;
    std::optional<Key> woken_for_;  // by wake_one, and not accepted yet
  };

  void wake_one(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto queue = queues_.find(key);
    if (queue == queues_.end()) return;
    for (Place* place : queue->second) {
      if (place->woken_for_) continue;
      place->woken_for_ = key;
      return place->wakeup_.wake();
    }
  }

  void wake_all(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto queue = queues_.find(key);
    if (queue == queues_.end()) return;
    for (Place* place : queue->second) place->wakeup_.wake();
  }

 private:
  void erase(const Key& key, typename std::list<Place*>::iterator position) {
    const auto queue = queues_.find(key);
    queue->second.erase(position);
    if (queue->second.empty()) queues_.erase(queue);
  }

  std::mutex mutex_;
  std::map<Key, std::list<Place*>> queues_;
};

}  // namespace ff
