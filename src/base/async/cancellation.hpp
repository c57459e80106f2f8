// Whether the coroutine that asks has been cancelled. An operation that is started afterwards is not
// told about it any more, so look before each wait.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

namespace ff {

inline boost::asio::awaitable<bool> is_cancelled() {
  const auto state = co_await boost::asio::this_coro::cancellation_state;
  co_return state.cancelled() != boost::asio::cancellation_type::none;
}

}  // namespace ff
