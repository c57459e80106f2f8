#include "sdk/blocking.hpp"

#include <fmt/format.h>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
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

// A call that is cancelled answers; it does not throw.
template <class T>
Async<T> without_cancellation_exceptions(Async<T> call) {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_return co_await std::move(call);
}

}  // namespace

template <class T>
Result<T> run_within(Limit limit, Engine& engine, Async<T> call) {
  const auto strand = asio::make_strand(engine.executor());
  const auto cancel = std::make_shared<asio::cancellation_signal>();
  auto reply = asio::co_spawn(strand, without_cancellation_exceptions(std::move(call)),
                              asio::bind_cancellation_slot(cancel->slot(), asio::use_future));
  const auto give_up = [&strand, &cancel] {
    asio::post(strand, [cancel] { cancel->emit(asio::cancellation_type::terminal); });
  };
  const std::stop_callback on_stop(limit.stop, give_up);
  if (reply.wait_for(limit.timeout) == std::future_status::ready) return reply.get();
  // The engine may not go while a call is under way, so its end is waited for.
  give_up();
  auto last = reply.get();
  if (last) return last;
  return fail(
      Errc::timed_out,
      fmt::format("the engine did not answer within {} ms; what was asked may have been done "
                  "nevertheless",
                  limit.timeout.count()));
}

namespace {

// Compiles them for each of the operations.
template <class... Ops>
constexpr auto calls(OperationList<Ops...>) {
  return std::tuple{std::pair{&start<Ops>, &run_within<typename Ops::Reply>}...};
}
[[gnu::used]] const auto compiled = std::pair{calls(EngineOperations{}), &run_within<std::string>};

}  // namespace

}  // namespace ff
