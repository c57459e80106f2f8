#include "sdk/worker/registration.hpp"

#include <fmt/format.h>

#include "sdk/worker/retry_pause.hpp"

namespace ff {
namespace {

using Steady = std::chrono::steady_clock;

constexpr Millis register_pause_min{100};

}  // namespace

Registration::Registration(Engine& engine, Random& random, RegisterWorker worker,
                           const asio::any_io_executor& strand, std::function<void()> on_change)
    : engine_(engine),
      random_(random),
      worker_(std::move(worker)),
      on_change_(std::move(on_change)),
      wakeup_(strand),
      outage_(fmt::format("worker {} cannot make itself known", worker_.worker.str())) {}

asio::awaitable<void> Registration::keep() {
  co_await asio::this_coro::throw_if_cancelled(false);
  const auto interval = worker_.ttl / 3;
  RetryPause pause(random_, register_pause_min, interval);
  while (!ending_) {
    const auto reply = co_await give_sign_of_life();
    auto wait = interval;
    if (reply) {
      outage_.over();
      pause.reset();
      if (std::exchange(draining_, reply->draining) != reply->draining) on_change_();
    } else if (!ending_) {
      outage_.failed(reply.error());
      wait = pause.next();
    }
    const auto until = Steady::now() + wait;
    while (!ending_ && Steady::now() < until) co_await wakeup_.wait_until(until);
  }
  DeregisterWorker deregister{.worker = worker_.worker, .ns = worker_.ns};
  // If it cannot be told, the engine forgets the worker when its ttl is over.
  if (registered_) co_await engine_.run(std::move(deregister));
  ended_ = true;
  on_change_();
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
