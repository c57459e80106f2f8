// This process's copy of the paused lanes. A message tells of each change; a look at the version, twice a second, finds
// what was not heard of. While their node is down, the copy stays as it is.
#pragma once

#include <functional>

#include "base/async/wakeup.hpp"
#include "store/paused_lanes_copy.hpp"
#include "store/valkey/background.hpp"
#include "store/valkey/calls/functions.hpp"

namespace ff::valkey_store {

class PausedLanesMirror {
 public:
  struct Parts {
    Background& background;
    Client& client;
    Functions& functions;
  };
  explicit PausedLanesMirror(Parts parts) : parts_(parts) {}

  void set_sink(std::function<void()> on_change);

  // From any thread.
  store::PausedLanesCopy::Set paused() const { return paused_.get(); }

  // Reads all of them. Returns how many there are.
  Async<std::size_t> refresh();
  // Looks again until the store is closed.
  asio::awaitable<void> keep_up();
  // Something may have changed.
  void look();

 private:
  Async<std::string> read_version();

  Parts parts_;
  store::PausedLanesCopy paused_;
  std::mutex sink_mutex_;
  std::function<void()> on_change_ = [] {};
  std::string version_;  // of what was read last; only on the background's thread
  Wakeup wakeup_{parts_.background.executor()};
};

}  // namespace ff::valkey_store
