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
  // `on_change` is called when draining() or ended() have changed.
  Registration(Engine& engine, Random& random, RegisterWorker worker,
               const asio::any_io_executor& strand, std::function<void()> on_change);

  // Registers, and again whenever the engine has forgotten the worker; gives a sign of life three times
  // in its ttl. After end() it deregisters and returns. Cancelled, it returns as soon as it can.
  asio::awaitable<void> keep();

  void end();
  bool ended() const { return ended_; }

  // An operator wants the worker to claim nothing more.
  bool draining() const { return draining_; }

 private:
  Async<RegisterReply> give_sign_of_life();

  Engine& engine_;
  Random& random_;
  const RegisterWorker worker_;
  const std::function<void()> on_change_;
  Wakeup wakeup_;  // wakes keep(): it is time to end
  Outage outage_;
  bool registered_ = false;
  bool draining_ = false;
  bool ending_ = false;
  bool ended_ = false;
};

}  // namespace ff
