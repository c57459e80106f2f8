#include "sdk/worker/registration.hpp"

#include <fmt/format.h>

#include "sdk/worker/retry_pause.hpp"

namespace ff {
namespace {

using Steady = std::chrono::steady_clock;

constexpr Millis register_pause_min{100};

}  // namespace

Registration::Registration(Engine& engine, Random& random, RegisterWorker worker,
                           const asio::any_io_executor& strand, Callbacks callbacks)
    : engine_(engine),
      random_(random),
      worker_(std::move(worker)),
      callbacks_(std::move(callbacks)),
      wakeup_(strand),
      outage_(fmt::format("worker {} cannot make itself known", worker_.worker.str())) {}

asio::awaitable<void> Registration::keep(Result<RegisterReply> reply) {
  co_await asio::this_coro::throw_if_cancelled(false);
  const auto interval = worker_.ttl / 3;
  RetryPause pause(random_, register_pause_min, interval);
  registered_ = reply.has_value();
  while (!ending_) {
    auto wait = interval;
    if (reply) {
      outage_.over();
      pause.reset();
      if (std::exchange(draining_, reply->draining) != reply->draining) callbacks_.on_change();
    } else if (is_denied(reply.error())) {
      callbacks_.on_denied(reply.error());
      break;
    } else {
      outage_.failed(reply.error());
      wait = pause.next();
    }
    const auto until = Steady::now() + wait;
    while (!ending_ && Steady::now() < until) co_await wakeup_.wait_until(until);
    if (!ending_) reply = co_await give_sign_of_life();
  }
  DeregisterWorker deregister{.worker = worker_.worker, .ns = worker_.ns};
  // If it cannot be told, the engine forgets the worker when its ttl is over.
  if (registered_) co_await engine_.run(std::move(deregister));
  ended_ = true;
  callbacks_.on_change();
}

void Registration::end() {
  ending_ = true;
  wakeup_.wake();
}

Async<RegisterReply> Registration::give_sign_of_life() {
  if (registered_) {
    HeartbeatWorker heartbeat{.worker = worker_.worker, .ns = worker_.ns};
    auto alive = co_await engine_.run(std::move(heartbeat));
    const bool forgotten = !alive && alive.error().code == Errc::worker_not_found;
    if (!forgotten) co_return alive;
  }
  RegisterWorker worker = worker_;
  auto reply = co_await engine_.run(std::move(worker));
  registered_ = registered_ || reply.has_value();
  co_return reply;
}

}  // namespace ff
