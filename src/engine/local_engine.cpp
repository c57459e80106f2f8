#include "engine/local_engine.hpp"

#include <boost/asio/this_coro.hpp>

#include "base/cancellation.hpp"
#include "base/version.hpp"
#include "core/partitions.hpp"
#include "core/validate.hpp"
#include "engine/scanners/lease_reaper.hpp"

namespace ff {
namespace {

using SteadyClock = std::chrono::steady_clock;

// For a call that may wait: it must not be thrown out half-way when its caller goes away, but look
// for itself (is_cancelled) before it waits.
template <class T>
Async<T> without_cancellation_exceptions(Async<T> call) {
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  auto reply = co_await std::move(call);
  co_await asio::this_coro::throw_if_cancelled(throws);
  co_return reply;
}

bool took_from(const std::pair<Namespace, LaneId>& queue, const Result<ClaimReply>& reply) {
  return reply && std::ranges::any_of(reply->executions, [&](const ClaimedExecution& claimed) {
           return claimed.lane == queue.second;
         });
}

}  // namespace

LocalEngine::LocalEngine(std::unique_ptr<store::Store> store, LocalEngineOptions options)
    : options_(std::move(options)),
      runtime_(options_.threads),
      store_(std::move(store)),
      scheduler_(*store_, random_),
      scanners_(runtime_.executor()) {
  store_->set_event_sink([this](std::span<const core::Event> events) { on_events(events); });
  scanners_.add(std::make_unique<LeaseReaper>(*store_), options_.lease_reaper_interval);
  if (options_.scan) scanners_.start();
}

Async<SubmitReply> LocalEngine::run(Submit operation) {
  if (auto valid = check(operation); !valid) co_return std::unexpected(valid.error());
  if (!operation.id) {
    const Uuid uuid = make_uuid(store_->now(), random_);
    operation.id = ExecutionId{core::partition_of(uuid, store_->partition_count()), uuid};
  }
  core::Create create{.id = *operation.id, .submit = std::move(operation)};
  co_return co_await store_->run(std::move(create));
}

Async<ExecutionInfo> LocalEngine::run(GetExecution operation) { return pass_on(operation); }
Async<RenewReply> LocalEngine::run(Renew operation) { return pass_on(std::move(operation)); }
Async<EndReply> LocalEngine::run(Complete operation) { return pass_on(std::move(operation)); }
Async<EndReply> LocalEngine::run(Fail operation) { return pass_on(std::move(operation)); }

Async<ResultBytes> LocalEngine::run(GetResult operation) {
  if (auto valid = check(operation); !valid) co_return std::unexpected(valid.error());
  co_return co_await without_cancellation_exceptions(read_result_or_wait(std::move(operation)));
}

Async<ResultBytes> LocalEngine::read_result_or_wait(GetResult operation) {
  const auto deadline = SteadyClock::now() + operation.wait;
  Wakeup wakeup(co_await asio::this_coro::executor);
  const WaitList<ExecutionId>::Place place(waiting_for_end_, {operation.id}, wakeup);
  while (true) {
    auto result = co_await store_->run(store::ReadResult{operation.id});
    const bool not_ended = !result && result.error().code == Errc::execution_not_terminal;
    if (!not_ended || SteadyClock::now() >= deadline || co_await is_cancelled()) co_return result;
    co_await wakeup.wait_until(deadline);
  }
}

Async<ClaimReply> LocalEngine::run(Claim operation) {
  if (auto valid = check(operation); !valid) co_return std::unexpected(valid.error());
  co_return co_await without_cancellation_exceptions(claim_or_wait(std::move(operation)));
}

Async<ClaimReply> LocalEngine::claim_or_wait(Claim operation) {
  const auto deadline = SteadyClock::now() + operation.wait;
  std::vector<Queue> queues;
  for (const auto& lane : operation.lanes) queues.emplace_back(operation.ns, lane);

  Wakeup wakeup(co_await asio::this_coro::executor);
  std::optional<Queue> woken_for;
  while (true) {
    WaitList<Queue>::Place place(waiting_for_work_, queues, wakeup);
    auto reply = co_await scheduler_.claim(operation);
    const bool nothing = reply && reply->executions.empty();
    // It may have found something better in another lane; then what it was woken for is still there.
    if (!nothing && woken_for && !took_from(*woken_for, reply))
      waiting_for_work_.wake_one(*woken_for);
    if (!nothing || SteadyClock::now() >= deadline || co_await is_cancelled()) co_return reply;
    co_await wakeup.wait_until(deadline);
    // What a caller that has gone was woken for is passed on to the next when its place goes.
    if (co_await is_cancelled()) co_return reply;
    woken_for = place.accept();
  }
}

Async<HealthReply> LocalEngine::run(Health) {
  if (auto healthy = store_->health(); !healthy) co_return std::unexpected(healthy.error());
  co_return HealthReply{.version = version};
}

template <class Op>
Result<void> LocalEngine::check(const Op& operation) const {
  return core::validate(operation, store_->partition_count());
}

template <class Op>
Async<typename Op::Reply> LocalEngine::pass_on(Op operation) {
  if (auto valid = check(operation); !valid) co_return std::unexpected(valid.error());
  co_return co_await store_->run(std::move(operation));
}

void LocalEngine::on_events(std::span<const core::Event> events) {
  for (const auto& event : events) {
    if (event.claimable) waiting_for_work_.wake_one({event.ns, event.lane});
    if (event.terminal) waiting_for_end_.wake_all(event.id);
    if (options_.on_event) options_.on_event(event);
  }
}

}  // namespace ff
