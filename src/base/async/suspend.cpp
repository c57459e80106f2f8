#include "base/async/suspend.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace ff {

asio::awaitable<void> suspend_until(std::move_only_function<void(Continuation)> begin) {
  auto initiate = [&begin](auto handler) {
    // Resuming destroys this coroutine and what it holds, perhaps while `begin` still runs.
    auto on_stack = std::move(begin);
    on_stack([handler = std::move(handler)]() mutable { asio::post(std::move(handler)); });
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(initiate,
                                                                        asio::use_awaitable);
}

}  // namespace ff
