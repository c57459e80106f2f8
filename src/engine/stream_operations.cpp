// An engine's operations on streams: reads that wait, tickets, and the streams of a flow as one.
#include <boost/asio/this_coro.hpp>

#include "base/async/cancellation.hpp"
#include "base/try.hpp"
#include "core/execution/partitions.hpp"
#include "engine/local_engine.hpp"

namespace ff {
namespace {

using SteadyClock = std::chrono::steady_clock;

}  // namespace

// Reads again whenever there may be more, until there is news or the time is over.
template <class Read, class HasNews>
Async<typename Read::Reply> LocalEngine::read_frames_or_wait(Read read, Millis wait,
                                                             HasNews has_news) {
  if (wait == Millis{0}) co_return co_await store_->run(read);
  const auto deadline = SteadyClock::now() + wait;
  Wakeup wakeup(co_await asio::this_coro::executor);
  const WaitList<ExecutionId>::Waiter place(waiting_for_frames_, read.id, wakeup);
  while (true) {
    auto page = co_await store_->run(read);
    const bool is_over = !page || has_news(*page) || SteadyClock::now() >= deadline;
    if (is_over || co_await is_cancelled()) co_return page;
    co_await wakeup.wait_until(deadline);
  }
}

// A wait ends with the ticket.
Async<StreamPage> LocalEngine::handle(ReadStream operation) {
  if (operation.ticket) {
    const auto claims =
        co_await waitpoint_keys_.verify_ticket(std::move(*operation.ticket), operation.id);
    FF_CO_TRY(claims);
    operation.wait =
        std::min(operation.wait, std::max(claims->expires_at - store_->now(), Millis{1}));
  }
  store::ReadFrames read{.id = operation.id,
                         .stream = std::move(operation.stream),
                         .from = operation.from,
                         .limit = operation.limit,
                         .bytes_max = operation.bytes_max};
  const auto has_news = [](const StreamPage& page) {
    return !page.frames.empty() || page.snapshot || page.lost_from || page.trimmed_to || page.end;
  };
  co_return co_await without_cancellation_exceptions(
      read_frames_or_wait(std::move(read), operation.wait, has_news));
}

Async<StreamTicket> LocalEngine::handle(CreateStreamTicket operation) {
  const auto execution = co_await store_->run(GetExecution{operation.id});
  FF_CO_TRY(execution);
  const core::StreamTicketClaims claims{.execution = operation.id,
                                        .expires_at = store_->now() + operation.ttl};
  auto ticket = co_await waitpoint_keys_.mint(claims);
  FF_CO_TRY(ticket);
  co_return StreamTicket{.ticket = std::move(*ticket), .expires_at = claims.expires_at};
}

Async<AttemptFrames> LocalEngine::handle(ReadAttemptStream operation) {
  co_return co_await store_->run(store::ReadAttemptFrames{.id = operation.id,
                                                          .attempt = operation.attempt,
                                                          .first = operation.from.first(),
                                                          .last = operation.to.last(),
                                                          .limit = operation.limit});
}

Async<AttemptFrames> LocalEngine::handle(TailAttemptStream operation) {
  auto behind = operation.after.first();
  const auto last = FrameCursor::end().last();
  if (behind < last && ++behind.seq == 0) ++behind.ms;
  store::ReadAttemptFrames read{.id = operation.id,
                                .attempt = operation.attempt,
                                .first = behind,
                                .last = last,
                                .limit = operation.limit};
  const auto has_news = [](const AttemptFrames& page) {
    return !page.frames.empty() || page.closed_at;
  };
  co_return co_await without_cancellation_exceptions(
      read_frames_or_wait(std::move(read), operation.wait, has_news));
}

Async<FlowStreamPage> LocalEngine::handle(ReadFlowStream operation) {
  co_return co_await without_cancellation_exceptions(
      read_flow_stream_or_wait(std::move(operation)));
}

namespace {

// Wakes the call by notices of frames while it waits.
struct WokenByFrames {
  WokenByFrames(FlowTail& followed, Wakeup& wakeup) : tail(followed) {
    tail.follower().wake(&wakeup);
  }
  ~WokenByFrames() { tail.follower().wake(nullptr); }
  FlowTail& tail;
};

}  // namespace

Async<FlowStreamPage> LocalEngine::read_flow_stream_or_wait(ReadFlowStream operation) {
  const auto deadline = SteadyClock::now() + operation.wait;
  auto tail = flow_tails_.take(*store_, operation.id, operation.after);
  FF_CO_TRY(tail);
  Wakeup wakeup(co_await asio::this_coro::executor);
  const ExecutionId subject{core::partition_of(operation.id.uuid(), store_->partition_count()),
                            operation.id.uuid()};
  const WaitList<ExecutionId>::Waiter place(waiting_for_end_, subject, wakeup);
  std::optional<WokenByFrames> woken(std::in_place, **tail, wakeup);
  while (true) {
    auto page = co_await (*tail)->read({operation.limit, operation.bytes_max});
    const bool has_news = !page || !page->frames.empty() || page->end || (*tail)->is_passing();
    const bool is_given_up = co_await is_cancelled();
    if (!has_news && SteadyClock::now() < deadline && !is_given_up) {
      co_await wakeup.wait_until(deadline);
      continue;
    }
    woken.reset();  // the next caller may take the tail at once
    if (page) flow_tails_.put(operation.id, page->next, *tail);
    co_return page;
  }
}

}  // namespace ff
