// Load from many coroutines at once.
#pragma once

#include <future>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include "cli/bench/bench.hpp"

namespace ff::cli::bench {

// Starts `count` coroutines and waits for all; the first error counts.
template <class Make>
Result<void> run_coroutines(Engine& engine, std::uint32_t count, Make make) {
  std::vector<std::future<Result<void>>> running;
  for (std::uint32_t i = 0; i < count; ++i)
    running.push_back(
        asio::co_spawn(asio::make_strand(engine.executor()), make(i), asio::use_future));
  Result<void> all;
  for (auto& each : running)
    if (auto result = each.get(); !result && all) all = result;
  return all;
}

}  // namespace ff::cli::bench
