#include "tests/support/blocking.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>

#include "tests/support/await.hpp"

namespace ff::test {
namespace {

// The call is shared: a test may forget it while it is under way.
asio::awaitable<void> perform(Engine& engine, std::shared_ptr<EngineCall> call) {
  co_await engine.perform(*call);
}

}  // namespace

std::future<void> start(const asio::any_io_executor& executor, asio::awaitable<void> coroutine) {
  return asio::co_spawn(asio::make_strand(executor), std::move(coroutine), asio::use_future);
}

std::future<void> start(Engine& engine, std::shared_ptr<EngineCall> call) {
  return start(engine.executor(), perform(engine, std::move(call)));
}

void await_waiting_claims(Engine& engine, std::size_t count) {
  const auto line = fmt::format("\nff_claims_waiting {}\n", count);
  await(fmt::format("{} claims sleep", count), [&] {
    const auto metrics = start(engine, GetMetrics{}).get();
    return metrics && metrics->bytes.find(line) != std::string::npos;
  });
}

}  // namespace ff::test
