#include "base/async/coroutine_group.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>

namespace ff {

struct CoroutineGroup::State {
  std::mutex mutex;
  std::condition_variable all_ended;
  std::size_t running = 0;
};

CoroutineGroup::CoroutineGroup() : state_(std::make_shared<State>()) {}

void CoroutineGroup::spawn(const asio::any_io_executor& executor, Start start,
                           asio::cancellation_slot cancelled_by) {
  {
    const std::lock_guard lock(state_->mutex);
    ++state_->running;
  }
  auto kept = std::make_shared<Start>(std::move(start));
  auto ended = [state = state_, kept](std::exception_ptr bug) {
    if (bug) std::rethrow_exception(bug);
    *kept = nullptr;  // destroy the captures first: after wait() the owner may be destroyed
    const std::lock_guard lock(state->mutex);
    if (--state->running == 0) state->all_ended.notify_all();
  };
  asio::co_spawn(
      executor, [kept] { return (*kept)(); },
      asio::bind_cancellation_slot(cancelled_by, std::move(ended)));
}

void CoroutineGroup::wait() {
  std::unique_lock lock(state_->mutex);
  state_->all_ended.wait(lock, [this] { return state_->running == 0; });
}

bool CoroutineGroup::wait_for(std::chrono::milliseconds limit) {
  std::unique_lock lock(state_->mutex);
  return state_->all_ended.wait_for(lock, limit, [this] { return state_->running == 0; });
}

}  // namespace ff
