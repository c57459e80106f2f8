// A wake-up call between threads and coroutines.
#pragma once

#include <flowfabric/async.hpp>

#include <chrono>
#include <memory>
#include <mutex>

#include <boost/asio/steady_timer.hpp>

namespace ff {

// One coroutine waits, anyone may wake it, from any thread, before or during the wait. A wake-up is
// kept until it is taken, so none is lost between deciding to wait and waiting.
class Wakeup {
 public:
  explicit Wakeup(const asio::any_io_executor& executor) : timer_(executor) {}

  void wake();

  // Waits for a wake-up until `deadline` and takes it: true if there was one. Ends early, with
  // whatever there is, when the waiting coroutine is cancelled.
  asio::awaitable<bool> wait_until(std::chrono::steady_clock::time_point deadline);

 private:
  bool take();

  std::mutex mutex_;  // guards the rest: a timer must not be touched by two threads at once
  bool woken_ = false;
  asio::steady_timer timer_;
};

}  // namespace ff
