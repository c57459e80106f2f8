// Coroutines from a test's own thread.
#pragma once

#include <flowfabric/async.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

namespace ff::test {

template <class T>
std::future<T> start(const asio::any_io_executor& executor, asio::awaitable<T> coroutine) {
  return asio::co_spawn(asio::make_strand(executor), std::move(coroutine), asio::use_future);
}

template <class T>
T run_blocking(const asio::any_io_executor& executor, asio::awaitable<T> coroutine) {
  return start(executor, std::move(coroutine)).get();
}

}  // namespace ff::test
