// Whether the coroutine that asks has been cancelled. An operation that is started afterwards is not
// told about it any more, so look before each wait.
#pragma once

#include <flowfabric/async.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

namespace ff {

inline boost::asio::awaitable<bool> is_cancelled() {
  const auto state = co_await boost::asio::this_coro::cancellation_state;
  co_return state.cancelled() != boost::asio::cancellation_type::none;
}

// For a call that may wait: it must not be thrown out half-way when its caller goes away, but look
// for itself (is_cancelled) before it waits.
template <class T>
Async<T> without_cancellation_exceptions(Async<T> call) {
  const bool throws = co_await boost::asio::this_coro::throw_if_cancelled();
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  auto reply = co_await std::move(call);
  co_await boost::asio::this_coro::throw_if_cancelled(throws);
  co_return reply;
}

}  // namespace ff
