#include "sdk/blocking.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

namespace ff {

template <class Op>
std::future<Result<typename Op::Reply>> start(Engine& engine, Op operation) {
  return asio::co_spawn(asio::make_strand(engine.executor()), engine.run(std::move(operation)),
                        asio::use_future);
}

namespace {

// Compiles start() for each of the operations.
template <class... Ops>
constexpr auto starts(OperationList<Ops...>) {
  return std::tuple{&start<Ops>...};
}
[[gnu::used]] const auto compiled = starts(EngineOperations{});

}  // namespace

}  // namespace ff
