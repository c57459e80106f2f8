#include "sdk/worker/reporting/renewals.hpp"

#include <fmt/format.h>

#include "sdk/worker/reporting/lease_loss.hpp"
#include "sdk/worker/reporting/retry_pause.hpp"

namespace ff {
namespace {

using Steady = std::chrono::steady_clock;

constexpr Millis renew_pause_min{50};

// When the handler must be told that its time is over.
Steady::time_point due_at(const Held& held) {
  if (!held.due) return Steady::time_point::max();
  return Steady::now() + (*held.due - held.engine_time());
}

}  // namespace

Renewals::Renewals(Engine& engine, Random& random, const WorkerId& worker, Millis lease_ttl)
    : engine_(engine),
      random_(random),
      lease_ttl_(lease_ttl),
      interval_(std::max(lease_ttl / 3, Millis{1})),
      outage_(fmt::format("worker {} cannot renew its leases", worker.str())) {}

asio::awaitable<void> Renewals::keep(std::shared_ptr<Held> held, Millis first_in) {
  // Fast enough for many tries before the lease ends.
  RetryPause pause(random_, std::min(renew_pause_min, interval_),
                   std::max(interval_ / 4, Millis{1}));
  auto held_until = Steady::now() + lease_ttl_;
  auto renew_at = Steady::now() + first_in;
  while (!held->done) {
    const bool woken = co_await held->renewal.wait_until(std::min(renew_at, due_at(*held)));
    if (held->done) break;
    if (due_at(*held) <= Steady::now()) {
      held->due.reset();
      held->context->cancel(CancelReason::timed_out);
    }
    if (!woken && Steady::now() < renew_at) continue;

    const auto asked_at = Steady::now();
    Renew renew{.id = held->id, .fence = held->fence, .lease_ttl = lease_ttl_};
    const auto renewed = co_await engine_.run(std::move(renew));
    if (renewed) {
      outage_.over();
      pause.reset();
      held_until = asked_at + lease_ttl_;
      renew_at = asked_at + interval_;
      held->leased(renewed->lease_expires_at - lease_ttl_);
      held->context->renewed(renewed->lease_expires_at);
      continue;
    }
    const auto loss = lease_loss(renewed.error());
    if (loss || Steady::now() >= held_until) {
      held->lose(loss.value_or(CancelReason::lease_lost));
      break;
    }
    outage_.failed(renewed.error());
    renew_at = std::min(Steady::now() + pause.next(), held_until);
  }
}

}  // namespace ff
