#include "tests/support/blocking.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

namespace ff::test {

std::future<void> start(const asio::any_io_executor& executor, asio::awaitable<void> coroutine) {
  return asio::co_spawn(asio::make_strand(executor), std::move(coroutine), asio::use_future);
}

}  // namespace ff::test
