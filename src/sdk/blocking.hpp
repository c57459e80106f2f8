// From blocking code into the engine's coroutines.
#pragma once

#include <flowfabric/engine.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

namespace ff {

// Not from a thread of the engine: it would wait for itself.
template <class Op>
Result<typename Op::Reply> run_blocking(Engine& engine, Op operation) {
  return asio::co_spawn(asio::make_strand(engine.executor()), engine.run(std::move(operation)),
                        asio::use_future)
      .get();
}

}  // namespace ff
