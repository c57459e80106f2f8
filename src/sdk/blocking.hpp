// From blocking code into the engine's coroutines.
#pragma once

#include <flowfabric/engine.hpp>

#include <future>

namespace ff {

// Starts an operation on the engine's executor. Compiled in blocking.cpp, for every operation.
template <class Op>
std::future<Result<typename Op::Reply>> start(Engine& engine, Op operation);

// Not from a thread of the engine: it would wait for itself.
template <class Op>
Result<typename Op::Reply> run_blocking(Engine& engine, Op operation) {
  return start(engine, std::move(operation)).get();
}

}  // namespace ff
