// Coroutines from a test's own thread.
#pragma once

#include <flowfabric/engine.hpp>

#include <future>
#include <memory>

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

// Starts an operation of any kind on an engine. Compiled once, in blocking.cpp.
std::future<void> start(Engine& engine, std::shared_ptr<EngineCall> call);

// An operation that was started.
template <class Op>
class Started {
 public:
  Started() = default;
  Started(Engine& engine, Op operation)
      : call_(std::unique_ptr<EngineCall>(new OperationCall<Op>(std::move(operation)))),
        ended_(start(engine, call_)) {}

  // Waits for the reply, which can be had once.
  Result<typename Op::Reply> get() {
    ended_.get();
    return std::move(*call_->get_if<Op>()->reply);
  }
  std::future_status wait_for(Millis limit) const { return ended_.wait_for(limit); }

 private:
  std::shared_ptr<EngineCall> call_;  // of any kind: a pointer to each kind takes long to compile
  std::future<void> ended_;
};

template <ListedIn<EngineOperations> Op>
Started<Op> start(Engine& engine, Op operation) {
  return {engine, std::move(operation)};
}

// Runs an operation and waits for its reply. No coroutine is compiled for it, as one would be for
// run_blocking(executor, engine.run(operation)).
template <ListedIn<EngineOperations> Op>
Result<typename Op::Reply> run(Engine& engine, Op operation) {
  OperationCall<Op> call(std::move(operation));
  start(engine.executor(), engine.perform(call)).get();
  return std::move(*call.reply);
}

// Until so many claims sleep until there is work.
void await_waiting_claims(Engine& engine, std::size_t count);

template <class T>
T run_blocking(const asio::any_io_executor& executor, asio::awaitable<T> coroutine) {
  return start(executor, std::move(coroutine)).get();
}

}  // namespace ff::test
