// Results on their way to the engine.
#pragma once

#include <flowfabric/engine.hpp>

#include <deque>
#include <memory>
#include <vector>

#include "base/async/coroutine_group.hpp"

namespace ff {

// A result goes at once if none is on its way; those that come meanwhile go together after it. Used
// from one strand only, on which its coroutines run.
class Completions {
 public:
  Completions(Engine& engine, asio::any_io_executor strand, CoroutineGroup& coroutines)
      : engine_(engine), strand_(std::move(strand)), coroutines_(coroutines) {}

  Async<EndReply> complete(Complete completion);

 private:
  struct Waiting;
  using Batch = std::vector<std::shared_ptr<Waiting>>;
  asio::awaitable<void> send_all();
  asio::awaitable<void> send(Batch batch);
  Batch take_batch();

  Engine& engine_;
  asio::any_io_executor strand_;
  CoroutineGroup& coroutines_;
  std::deque<std::shared_ptr<Waiting>> waiting_;
  bool sending_ = false;
};

}  // namespace ff
