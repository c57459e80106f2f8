// Coroutines that wait for something to happen, by what they wait for.
#pragma once

#include <list>
#include <map>
#include <mutex>

#include "base/async/wakeup.hpp"

namespace ff {

// Thread-safe.
template <class Key>
class WaitList {
 public:
  // A place in the list, for as long as it lives. Take it before looking whether the thing is there
  // already; then nothing that happens in between is missed.
  class Waiter {
   public:
    Waiter(WaitList& list, Key key, Wakeup& wakeup)
        : list_(list), key_(std::move(key)), wakeup_(wakeup) {
      const std::lock_guard lock(list_.mutex_);
      auto& places = list_.places_[key_];
      position_ = places.insert(places.end(), this);
    }
    ~Waiter() {
      const std::lock_guard lock(list_.mutex_);
      const auto places = list_.places_.find(key_);
      places->second.erase(position_);
      if (places->second.empty()) list_.places_.erase(places);
    }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

   private:
    friend class WaitList;
    WaitList& list_;
    Key key_;
    Wakeup& wakeup_;
    typename std::list<Waiter*>::iterator position_;
  };

  void wake_all(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto places = places_.find(key);
    if (places == places_.end()) return;
    for (Waiter* place : places->second) place->wakeup_.wake();
  }
  // Whatever they wait for.
  void wake_all() {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, places] : places_)
      for (Waiter* place : places) place->wakeup_.wake();
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::list<Waiter*>> places_;
};

}  // namespace ff
