#include "sdk/worker/reporting/completions.hpp"

#include "base/async/wakeup.hpp"
#include "sdk/worker/reporting/batch.hpp"

namespace ff {

struct Completions::Waiting {
  Waiting(const asio::any_io_executor& strand, Complete c)
      : completion(std::move(c)), answered(strand) {}

  std::size_t bytes() const { return completion.result ? completion.result->size() : 0; }
  void answer(Result<EndReply> with) {
    reply = std::move(with);
    answered.wake();
  }

  Complete completion;
  Result<EndReply> reply;
  Wakeup answered;
};

Async<EndReply> Completions::complete(Complete completion) {
  const auto mine = std::make_shared<Waiting>(strand_, std::move(completion));
  waiting_.push_back(mine);
  if (!std::exchange(sending_, true)) coroutines_.spawn(strand_, [this] { return send_all(); });
  co_await mine->answered.wait_until(std::chrono::steady_clock::time_point::max());
  co_return std::move(mine->reply);
}

asio::awaitable<void> Completions::send_all() {
  while (!waiting_.empty()) co_await send(take_batch());
  sending_ = false;
}

Completions::Batch Completions::take_batch() {
  const auto end =
      waiting_.begin() + static_cast<std::ptrdiff_t>(
                             batch_size(waiting_, [](const auto& each) { return each->bytes(); }));
  Batch batch(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  return batch;
}

asio::awaitable<void> Completions::send(Batch batch) {
  if (batch.size() == 1) {
    auto reply = co_await engine_.run(std::move(batch.front()->completion));
    batch.front()->answer(std::move(reply));
    co_return;
  }
  CompleteMany many;
  for (const auto& each : batch) many.executions.push_back(std::move(each->completion));
  const auto reply = co_await engine_.run(std::move(many));
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i]->answer(item_result(reply, i));
}

}  // namespace ff
