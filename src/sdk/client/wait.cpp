#include <flowfabric/wait.hpp>

#include <flowfabric/limits.hpp>

#include <algorithm>

#include "base/async/cancellation.hpp"
#include "base/async/wakeup.hpp"
#include "base/try.hpp"
#include "sdk/worker/reporting/retry_pause.hpp"

namespace ff {
namespace {

using Steady = std::chrono::steady_clock;

constexpr Millis timeout_max = std::chrono::years{1};

}  // namespace

Async<Bytes> wait_for_result_bytes(Engine& engine, ExecutionId id, Millis timeout) {
  const auto deadline = Steady::now() + std::min(timeout, timeout_max);
  SystemRandom random;
  RetryPause pause(random, Millis{100}, Millis{2000});
  Wakeup sleep(co_await asio::this_coro::executor);
  while (true) {
    const auto left = std::chrono::ceil<Millis>(deadline - Steady::now());
    GetResult get{.id = id, .wait = std::clamp(left, Millis{0}, limits::wait_max)};
    auto result = co_await engine.run(std::move(get));
    if (result) co_return result;
    const bool not_ended = result.error().code == Errc::execution_not_terminal;
    const bool again = not_ended || result.error().retryable();
    if (!again || Steady::now() >= deadline || co_await is_cancelled()) co_return result;
    if (not_ended)
      pause.reset();
    else
      co_await sleep.wait_until(std::min(deadline, Steady::now() + pause.next()));
  }
}

Async<std::string> wait_for_result(Engine& engine, ExecutionId id, Millis timeout) {
  auto result = co_await wait_for_result_bytes(engine, id, timeout);
  FF_CO_TRY(result);
  co_return std::move(result->bytes);
}

Async<ExecutionInfo> wait_for_end(Engine& engine, ExecutionId id, Millis timeout) {
  auto result = co_await wait_for_result_bytes(engine, id, timeout);
  if (!result && result.error().code != Errc::execution_failed)
    co_return std::unexpected(std::move(result.error()));
  GetExecution get{id};
  co_return co_await engine.run(std::move(get));
}

Async<FlowInfo> wait_for_flow(Engine& engine, FlowId id, Millis timeout) {
  const auto deadline = Steady::now() + std::min(timeout, timeout_max);
  SystemRandom random;
  RetryPause pause(random, Millis{100}, Millis{2000});
  Wakeup sleep(co_await asio::this_coro::executor);
  while (true) {
    const auto left = std::chrono::ceil<Millis>(deadline - Steady::now());
    GetFlow get{.id = id, .wait = std::clamp(left, Millis{0}, limits::wait_max)};
    auto flow = co_await engine.run(std::move(get));
    const bool has_ended = flow && flow->ended_at;
    const bool again = flow || flow.error().retryable();
    if (has_ended || !again || Steady::now() >= deadline || co_await is_cancelled()) co_return flow;
    // A cancelled flow may still have nodes that end.
    if (flow && !is_terminal(flow->state))
      pause.reset();
    else
      co_await sleep.wait_until(std::min(deadline, Steady::now() + pause.next()));
  }
}

}  // namespace ff
