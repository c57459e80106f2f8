// An engine's operations of workers that ask for work: claims that wait, grants, renewals.
#include <algorithm>

#include <boost/asio/this_coro.hpp>

#include "base/async/cancellation.hpp"
#include "base/try.hpp"
#include "engine/local_engine.hpp"

namespace ff {
namespace {

using SteadyClock = std::chrono::steady_clock;

// In order, each once, as the store and the waiting claims want them.
void sort_kinds(std::vector<Kind>& kinds) {
  std::ranges::sort(kinds);
  const auto repeated = std::ranges::unique(kinds);
  kinds.erase(repeated.begin(), repeated.end());
}

// The reply of this claim has no reader.
asio::awaitable<bool> is_given_up(const ClaimTurns::Turn& turn) {
  co_return turn.is_repeated() || co_await is_cancelled();
}

// It found other work instead.
bool left_behind(const Offer& offer, const ClaimReply& reply) {
  return !reply.executions.empty() &&
         std::ranges::none_of(reply.executions, [&](const ClaimedExecution& claimed) {
           return claimed.id == offer.id;
         });
}

}  // namespace

Async<ClaimReply> LocalEngine::handle(Claim operation) {
  sort_kinds(operation.kinds);
  co_return co_await without_cancellation_exceptions(claim_or_wait(std::move(operation)));
}

// A worker that asks for work is alive, whether it registered or not, and gets none if it is to stop.
template <class Op>
Async<bool> LocalEngine::may_work(const Op& operation, Millis wait) {
  constexpr Millis at_least = std::chrono::seconds{30};
  constexpr Millis to_come_back = std::chrono::seconds{10};
  RegisterWorker worker{.worker = operation.worker,
                        .ns = operation.ns,
                        .lanes = operation.lanes,
                        .capabilities = operation.capabilities,
                        .ttl = std::max(at_least, wait + to_come_back)};
  workers_.claims(operation.ns, operation.worker, operation.kinds);
  const auto standing = co_await workers_.seen(worker);
  // A registration that cannot be written keeps no worker from its work.
  if (!standing && standing.error().retryable()) co_return true;
  FF_CO_TRY(standing);
  if (standing->news) look_at_blocked();
  co_return !standing->draining;
}

// Of a worker that gets no work: until it may work again, or `deadline`. True if it may.
Async<bool> LocalEngine::wait_for_undrain(const Claim& operation, Wakeup& wakeup,
                                          const ClaimTurns::Turn& turn,
                                          SteadyClock::time_point deadline) {
  const WaitList<WorkerName>::Waiter place(drained_claims_, {operation.ns, operation.worker},
                                           wakeup);
  while (true) {
    const auto may = co_await may_work(operation, operation.wait);
    FF_CO_TRY(may);
    if (*may || SteadyClock::now() >= deadline || co_await is_given_up(turn)) co_return *may;
    co_await wakeup.wait_until(deadline);
  }
}

Async<ClaimReply> LocalEngine::claim_or_wait(Claim operation) {
  const auto deadline = SteadyClock::now() + operation.wait;
  Wakeup wakeup(co_await asio::this_coro::executor);
  const ClaimTurns::Turn turn(claim_turns_, operation, wakeup);
  while (!turn.has_come()) {
    if (co_await is_given_up(turn)) co_return ClaimReply{};
    co_await wakeup.wait_until(SteadyClock::time_point::max());
  }
  const auto before = co_await scheduler_.repeat(operation);
  FF_CO_TRY(before);
  if (*before) co_return **before;
  auto may = co_await may_work(operation, operation.wait);
  FF_CO_TRY(may);
  if (!*may) may = co_await wait_for_undrain(operation, wakeup, turn, deadline);
  FF_CO_TRY(may);
  if (!*may) co_return ClaimReply{};
  std::optional<Offer> offer;
  while (true) {
    WorkWaiters::Waiter place(waiting_for_work_, operation, wakeup);
    const auto began = SteadyClock::now();
    auto reply = co_await scheduler_.claim(operation);
    metrics_.looked_for_work(operation.lanes, SteadyClock::now() - began,
                             reply ? reply->executions.size() : 0);
    const bool nothing = reply && reply->executions.empty();
    if (offer && (!reply || left_behind(*offer, *reply))) waiting_for_work_.offer(*offer);
    if (!nothing || SteadyClock::now() >= deadline || co_await is_given_up(turn)) co_return reply;
    co_await place.sleep_until(deadline);
    // If the caller has gone, the destructor of `place` passes its offer on to the next waiter.
    if (co_await is_given_up(turn)) co_return reply;
    const auto may_still = co_await may_work(operation, operation.wait);
    if (may_still && !*may_still) co_return reply;
    offer = place.accept();
  }
}

// Ready executions that these take are leased or put back, even if the caller goes away.
Async<GrantReply> LocalEngine::handle(Grant operation) {
  sort_kinds(operation.kinds);
  co_return co_await without_cancellation_exceptions(grant(std::move(operation)));
}
Async<GrantReply> LocalEngine::grant(Grant operation) {
  const auto may = co_await may_work(operation, Millis{0});
  FF_CO_TRY(may);
  if (!*may) co_return GrantReply{};
  const auto began = SteadyClock::now();
  auto reply = co_await scheduler_.grant(operation);
  metrics_.looked_for_work(operation.lanes, SteadyClock::now() - began, 0);
  co_return reply;
}
Async<ClaimedExecution> LocalEngine::handle(ClaimGranted operation) {
  co_return co_await without_cancellation_exceptions(scheduler_.claim(std::move(operation)));
}
Async<ClaimedExecution> LocalEngine::handle(ClaimExecution operation) {
  co_return co_await without_cancellation_exceptions(scheduler_.claim(std::move(operation)));
}
Async<RenewReply> LocalEngine::handle(Renew operation) {
  auto reply = co_await store_->run(std::move(operation));
  metrics_.renewed(reply.has_value());
  co_return reply;
}

}  // namespace ff
