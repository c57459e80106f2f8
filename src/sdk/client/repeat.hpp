// Repeating an operation whose reply was lost, where that is safe.
#pragma once

#include <flowfabric/engine.hpp>

#include "base/async/cancellation.hpp"
#include "base/async/wakeup.hpp"
#include "base/random.hpp"
#include "sdk/worker/reporting/retry_pause.hpp"

namespace ff {

struct Repeat {
  Millis limit;                        // no try starts later than that from now
  std::optional<Millis> timeout = {};  // of each try, as EngineCall has it
};

// Runs an operation that is safe to repeat until there is a reply that a further try would not change.
template <class Op>
Async<typename Op::Reply> run_repeatedly(Engine& engine, Op operation, Repeat repeat) {
  using Steady = std::chrono::steady_clock;
  const auto last = Steady::now() + repeat.limit;
  SystemRandom random;
  RetryPause pause(random, Millis{50}, Millis{2000});
  Wakeup sleep(co_await asio::this_coro::executor);
  while (true) {
    OperationCall<Op> call(operation);
    call.timeout = repeat.timeout;
    co_await engine.perform(call);
    auto& reply = *call.reply;
    if (reply || !reply.error().retryable() || co_await is_cancelled()) co_return std::move(reply);
    const auto next = Steady::now() + pause.next();
    if (next > last) co_return std::move(reply);
    co_await sleep.wait_until(next);
  }
}

// Submits that are safe to repeat. One without an id and an idempotency key gets an id here, so that a
// repetition finds the first; for the caller, that is not a duplicate.
Async<SubmitReply> submit_repeatedly(Engine& engine, Submit submit, Repeat repeat);
Async<SubmitManyReply> submit_repeatedly(Engine& engine, SubmitMany submits, Repeat repeat);

// The same for a signal, which gets an idempotency key.
Async<SignalReply> signal_repeatedly(Engine& engine, SendSignal signal, Repeat repeat);

}  // namespace ff
