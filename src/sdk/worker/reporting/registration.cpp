#include "sdk/worker/reporting/registration.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/log.hpp"
#include "sdk/worker/reporting/retry_pause.hpp"

namespace ff {
namespace {

using Steady = std::chrono::steady_clock;

constexpr Millis register_pause_min{100};

std::int64_t number_in(const Error& error, std::string_view detail) {
  const auto found = std::ranges::find(error.details, detail, &Error::Detail::name);
  std::int64_t number = 0;
  if (found != error.details.end())
    std::from_chars(found->value.data(), found->value.data() + found->value.size(), number);
  return number;
}

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
    if (!reply && worker_.incarnation && knows_no_field(reply.error(), "incarnation")) {
      do_without_incarnation();
      reply = co_await give_sign_of_life();
      continue;
    }
    auto wait = interval;
    bool is_final = false;
    if (reply) {
      outage_.over();
      pause.reset();
      heard(*reply);
    } else {
      wait = pause.next();
      is_final = is_denied(reply.error());
      if (reply.error().code == Errc::worker_id_in_use) {
        const auto for_id = wait_for_id(reply.error());
        is_final = !for_id;
        wait = std::min(wait, for_id.value_or(wait));
      }
      if (!is_final) outage_.failed(reply.error());
    }
    if (is_final) {
      callbacks_.on_denied(reply.error());
      break;
    }
    const auto until = Steady::now() + wait;
    while (!ending_ && Steady::now() < until) co_await wakeup_.wait_until(until);
    if (!ending_) reply = co_await give_sign_of_life();
  }
  DeregisterWorker deregister{
      .worker = worker_.worker, .ns = worker_.ns, .incarnation = worker_.incarnation};
  // If it cannot be told, the engine forgets the worker when its ttl is over.
  if (registered_) co_await engine_.run(std::move(deregister));
  ended_ = true;
  callbacks_.on_change();
}

void Registration::do_without_incarnation() {
  log::warn(
      "worker {} does not hold its id: the server cannot tell two workers with the same id apart; "
      "upgrade it",
      worker_.worker.str());
  worker_.incarnation.reset();
}

void Registration::heard(const RegisterReply& reply) {
  const bool could = may_claim();
  draining_ = reply.draining;
  held_until_.reset();
  if (may_claim() != could) callbacks_.on_change();
}

std::optional<Millis> Registration::wait_for_id(const Error& in_use) {
  const auto held_until = number_in(in_use, "held_until_ms");
  if (registered_ || (held_until_ && held_until > *held_until_)) return std::nullopt;
  const bool could = may_claim();
  held_until_ = held_until;
  if (may_claim() != could) callbacks_.on_change();
  return Millis{number_in(in_use, "wait_ms")};
}

void Registration::end() {
  ending_ = true;
  wakeup_.wake();
}

Async<RegisterReply> Registration::give_sign_of_life() {
  if (registered_) {
    HeartbeatWorker heartbeat{
        .worker = worker_.worker, .ns = worker_.ns, .incarnation = worker_.incarnation};
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
