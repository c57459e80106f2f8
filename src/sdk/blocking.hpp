// From blocking code into the engine's coroutines. Not from a thread of the engine: it would wait for
// itself.
#pragma once

#include <flowfabric/engine.hpp>

#include <future>
#include <stop_token>

namespace ff {

// Starts an operation on the engine's executor. Compiled in blocking.cpp, for every operation.
template <class Op>
std::future<Result<typename Op::Reply>> start(Engine& engine, Op operation);

template <class Op>
Result<typename Op::Reply> run_blocking(Engine& engine, Op operation) {
  return start(engine, std::move(operation)).get();
}

struct Limit {
  Millis timeout;
  std::stop_token stop = {};  // ends the call early, with whatever it answers then
};

// Runs a call on the engine's executor and waits for it. Fails with timed_out when the limit is over.
// Compiled in blocking.cpp, for the replies of all operations.
template <class T>
Result<T> run_within(Limit limit, Engine& engine, Async<T> call);

}  // namespace ff
