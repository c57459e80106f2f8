// Coroutines from a test's own thread.
#pragma once

#include <flowfabric/engine.hpp>

#include <future>

#include <boost/asio/strand.hpp>

namespace ff::test {

// Starts a coroutine; what it throws is in the future. Compiled once, in blocking.cpp.
std::future<void> start(const asio::any_io_executor& executor, asio::awaitable<void> coroutine);

namespace detail {

template <class T>
asio::awaitable<void> fulfil(std::shared_ptr<std::promise<T>> promise,
                             asio::awaitable<T> coroutine) {
  try {
    promise->set_value(co_await std::move(coroutine));
  } catch (...) {
    promise->set_exception(std::current_exception());
  }
}

}  // namespace detail

template <class T>
std::future<T> start(const asio::any_io_executor& executor, asio::awaitable<T> coroutine) {
  auto promise = std::make_shared<std::promise<T>>();
  auto future = promise->get_future();
  start(executor, detail::fulfil(std::move(promise), std::move(coroutine)));
  return future;
}

// Starts an operation of an engine.
template <class Op>
std::future<Result<typename Op::Reply>> start(Engine& engine, Op operation) {
  return start(asio::make_strand(engine.executor()), engine.run(std::move(operation)));
}

template <class T>
T run_blocking(const asio::any_io_executor& executor, asio::awaitable<T> coroutine) {
  return start(executor, std::move(coroutine)).get();
}

}  // namespace ff::test
