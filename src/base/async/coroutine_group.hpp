// Coroutines that belong to one owner, who waits for all of them before it goes.
#pragma once

#include <flowfabric/async.hpp>

#include <chrono>
#include <functional>
#include <memory>

#include <boost/asio/cancellation_signal.hpp>

namespace ff {

// Thread-safe. An exception that leaves one of the coroutines is a bug and ends the program.
class CoroutineGroup {
 public:
  CoroutineGroup();

  // `start()` makes the coroutine; it is kept alive as long as the coroutine runs.
  using Start = std::function<asio::awaitable<void>()>;
  void spawn(const asio::any_io_executor& executor, Start start,
             asio::cancellation_slot cancelled_by = {});

  // Blocks; not from a thread that the coroutines need.
  void wait();

  // False if some were still running after `limit`.
  bool wait_for(std::chrono::milliseconds limit);

 private:
  struct State;
  // Shared: the last coroutine touches it when the owner is already on its way out.
  std::shared_ptr<State> state_;
};

}  // namespace ff
