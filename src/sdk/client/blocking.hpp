// From blocking code into the engine's coroutines. Not from a thread of the engine: it would wait for
// itself.
#pragma once

#include <flowfabric/engine.hpp>

#include <stop_token>

namespace ff {

struct Limit {
  Millis timeout;
  std::stop_token stop = {};  // ends the call early, with whatever it answers then
};

namespace detail {

// Runs `call` on the engine's executor and returns when it has ended.
void wait_for(Engine& engine, asio::awaitable<void> call);
// False: the time was over before the call ended, so it was cancelled.
bool wait_for(const Limit& limit, Engine& engine, asio::awaitable<void> call);
std::unexpected<Error> no_answer_within(Millis timeout);

template <class T>
asio::awaitable<void> set_reply(Result<T>& reply, Async<T> call) {
  reply = co_await std::move(call);
}

}  // namespace detail

template <ListedIn<EngineOperations> Op>
Result<typename Op::Reply> run_blocking(Engine& engine, Op operation) {
  OperationCall<Op> call(std::move(operation));
  detail::wait_for(engine, engine.perform(call));
  return std::move(*call.reply);
}

template <class T>
Result<T> run_blocking(Engine& engine, Async<T> call) {
  Result<T> reply = std::unexpected(Error{});
  detail::wait_for(engine, detail::set_reply(reply, std::move(call)));
  return reply;
}

// Waits for an operation at most so long, then fails with timed_out.
template <ListedIn<EngineOperations> Op>
Result<typename Op::Reply> run_within(const Limit& limit, Engine& engine, Op operation) {
  OperationCall<Op> call(std::move(operation));
  call.timeout = limit.timeout;
  const bool in_time = detail::wait_for(limit, engine, engine.perform(call));
  if (in_time || *call.reply) return std::move(*call.reply);
  return detail::no_answer_within(limit.timeout);
}

// Runs a call on the engine's executor and waits for it. Fails with timed_out when the limit is over.
template <class T>
Result<T> run_within(const Limit& limit, Engine& engine, Async<T> call) {
  Result<T> reply = std::unexpected(Error{});
  const bool in_time = detail::wait_for(limit, engine, detail::set_reply(reply, std::move(call)));
  if (in_time || reply) return reply;
  return detail::no_answer_within(limit.timeout);
}

}  // namespace ff
