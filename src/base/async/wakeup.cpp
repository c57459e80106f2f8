#include "base/async/wakeup.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace ff {

void Wakeup::wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  timer_.cancel();
}

bool Wakeup::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(woken_, false);
}

asio::awaitable<bool> Wakeup::wait_until(std::chrono::steady_clock::time_point deadline) {
  auto start = [this, deadline](auto handler) {
    const std::lock_guard lock(mutex_);
    // A timer that is already due completes at once, and as ever through the executor.
    timer_.expires_at(woken_ ? std::chrono::steady_clock::time_point::min() : deadline);
    timer_.async_wait(std::move(handler));
  };
  boost::system::error_code ignored;
  auto token = asio::redirect_error(asio::use_awaitable, ignored);
  co_await asio::async_initiate<decltype(token), void(boost::system::error_code)>(std::move(start),
                                                                                  token);
  co_return take();
}

}  // namespace ff
