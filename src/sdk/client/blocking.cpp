#include "sdk/client/blocking.hpp"

#include <fmt/format.h>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

namespace ff::detail {
namespace {

// A call that is cancelled answers; it does not throw.
asio::awaitable<void> without_cancellation_exceptions(asio::awaitable<void> call) {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await std::move(call);
}

}  // namespace

void wait_for(Engine& engine, asio::awaitable<void> call) {
  asio::co_spawn(asio::make_strand(engine.executor()), std::move(call), asio::use_future).get();
}

bool wait_for(const Limit& limit, Engine& engine, asio::awaitable<void> call) {
  const auto strand = asio::make_strand(engine.executor());
  const auto cancel = std::make_shared<asio::cancellation_signal>();
  auto ended = asio::co_spawn(strand, without_cancellation_exceptions(std::move(call)),
                              asio::bind_cancellation_slot(cancel->slot(), asio::use_future));
  const auto give_up = [&strand, &cancel] {
    asio::post(strand, [cancel] { cancel->emit(asio::cancellation_type::terminal); });
  };
  const std::stop_callback on_stop(limit.stop, give_up);
  const bool in_time = ended.wait_for(limit.timeout) == std::future_status::ready;
  // The engine may not go while a call is under way, so its end is waited for.
  if (!in_time) give_up();
  ended.get();
  return in_time;
}

std::unexpected<Error> no_answer_within(Millis timeout) {
  return fail(
      Errc::timed_out,
      fmt::format("the engine did not answer within {} ms; what was asked may have been done "
                  "nevertheless",
                  timeout.count()));
}

}  // namespace ff::detail
