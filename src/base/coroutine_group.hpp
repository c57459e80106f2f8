// Coroutines that belong to one owner, who waits for all of them before it goes.
#pragma once

#include <flowfabric/async.hpp>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>

namespace ff {

// Thread-safe. An exception that leaves one of the coroutines is a bug and ends the program.
class CoroutineGroup {
 public:
  // `start()` makes the coroutine; it is kept alive as long as the coroutine runs.
  template <class Start>
  void spawn(const asio::any_io_executor& executor, Start start,
             asio::cancellation_slot cancelled_by = {}) {
    {
      const std::lock_guard lock(state_->mutex);
      ++state_->running;
    }
    auto ended = [state = state_](std::exception_ptr bug) {
      if (bug) std::rethrow_exception(bug);
      const std::lock_guard lock(state->mutex);
      if (--state->running == 0) state->all_ended.notify_all();
    };
    asio::co_spawn(executor, std::move(start),
                   asio::bind_cancellation_slot(cancelled_by, std::move(ended)));
  }

  // Blocks; not from a thread that the coroutines need.
  void wait() {
    std::unique_lock lock(state_->mutex);
    state_->all_ended.wait(lock, [this] { return state_->running == 0; });
  }

  // False if some were still running after `limit`.
  bool wait_for(std::chrono::milliseconds limit) {
    std::unique_lock lock(state_->mutex);
    return state_->all_ended.wait_for(lock, limit, [this] { return state_->running == 0; });
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable all_ended;
    std::size_t running = 0;
  };
  // Shared: the last coroutine touches it when the owner is already on its way out.
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace ff
