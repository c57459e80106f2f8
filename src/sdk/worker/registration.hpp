// Keeping a worker known to the engine.
#pragma once

#include <flowfabric/engine.hpp>

#include <functional>

#include "base/async/wakeup.hpp"
#include "base/random.hpp"
#include "sdk/worker/outage.hpp"

namespace ff {

// Runs on the worker's strand.
class Registration {
 public:
  struct Callbacks {
    std::function<void()> on_change;              // draining() or ended() have changed
    std::function<void(const Error&)> on_denied;  // the engine refuses the worker for good
  };
  Registration(Engine& engine, Random& random, RegisterWorker worker,
               const asio::any_io_executor& strand, Callbacks callbacks);

  // `first` is the reply to a registration that was made before. Registers whenever the engine does not
  // know the worker; sends a heartbeat three times in its ttl. After end() it deregisters and returns.
  // Cancelled, it returns as soon as it can.
  asio::awaitable<void> keep(Result<RegisterReply> first);

  void end();
  bool ended() const { return ended_; }

  // An operator wants the worker to claim nothing more.
  bool draining() const { return draining_; }

 private:
  Async<RegisterReply> give_sign_of_life();

  Engine& engine_;
  Random& random_;
  const RegisterWorker worker_;
  const Callbacks callbacks_;
  Wakeup wakeup_;  // wakes keep(): it is time to end
  Outage outage_;
  bool registered_ = false;
  bool draining_ = false;
  bool ending_ = false;
  bool ended_ = false;
};

}  // namespace ff
