// The thread of a store on Valkey, and the coroutines that run on it.
#pragma once

#include <atomic>
#include <memory>

#include "base/async/coroutine_group.hpp"
#include "base/async/runtime.hpp"
#include "store/call.hpp"

namespace ff::valkey_store {

class Background {
 public:
  asio::any_io_executor executor() { return runtime_.executor(); }

  void spawn(CoroutineGroup::Start start) {
    coroutines_.spawn(runtime_.executor(), std::move(start));
  }

  // Answers the call with what `run` makes of its operation.
  template <class Op, class Run>
  void answer(store::Call<Op>& call, Run run) {
    auto shared = std::make_shared<store::Call<Op>>(std::move(call));
    spawn([shared, run]() -> asio::awaitable<void> {
      auto reply = co_await run(std::move(shared->operation));
      shared->done(std::move(reply));
    });
  }

  // Asks the coroutines to end. False if that was done before.
  bool stop() { return !stopping_.exchange(true); }
  bool is_stopping() const { return stopping_; }
  void wait() { coroutines_.wait(); }

 private:
  std::atomic<bool> stopping_ = false;
  Runtime runtime_{1};
  CoroutineGroup coroutines_;
};

}  // namespace ff::valkey_store
