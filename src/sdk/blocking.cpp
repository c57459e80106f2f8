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

template std::future<Result<Submit::Reply>> start(Engine&, Submit);
template std::future<Result<GetExecution::Reply>> start(Engine&, GetExecution);
template std::future<Result<GetResult::Reply>> start(Engine&, GetResult);
template std::future<Result<Claim::Reply>> start(Engine&, Claim);
template std::future<Result<Renew::Reply>> start(Engine&, Renew);
template std::future<Result<Complete::Reply>> start(Engine&, Complete);
template std::future<Result<Fail::Reply>> start(Engine&, Fail);
template std::future<Result<Health::Reply>> start(Engine&, Health);

}  // namespace ff
