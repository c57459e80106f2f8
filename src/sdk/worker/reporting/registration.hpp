// Keeping a worker known to the engine.
#pragma once

#include <flowfabric/engine.hpp>

#include <functional>

#include "base/async/wakeup.hpp"
#include "base/random.hpp"
#include "sdk/worker/reporting/outage.hpp"

namespace ff {

// Runs on the worker's strand.
class Registration {
 public:
  struct Callbacks {
    std::function<void()> on_change;              // may_claim() or ended() have changed
    std::function<void(const Error&)> on_denied;  // the engine refuses the worker for good
  };
  Registration(Engine& engine, Random& random, RegisterWorker worker,
               const asio::any_io_executor& strand, Callbacks callbacks);

  // `first` is the reply to a registration that was made before. Registers whenever the engine does not
  // know the worker; sends a heartbeat three times in its ttl. After end() it deregisters and returns.
  // Cancelled, it returns as soon as it can. While another incarnation holds the worker's id it tries again:
  // that one may have crashed. When it gives a sign of life, or takes the id of a registered worker, the
  // refusal is final.
  asio::awaitable<void> keep(Result<RegisterReply> first);

  void end();
  bool ended() const { return ended_; }

  // False while an operator drains the worker, or another incarnation holds its id.
  bool may_claim() const { return !draining_ && !held_until_; }

 private:
  void heard(const RegisterReply& reply);
  // How long the other incarnation holds the id unless it is heard of; none if it was.
  std::optional<Millis> wait_for_id(const Error& in_use);
  Async<RegisterReply> give_sign_of_life();
  void do_without_incarnation();  // older servers do not know it

  Engine& engine_;
  Random& random_;
  RegisterWorker worker_;
  const Callbacks callbacks_;
  Wakeup wakeup_;  // wakes keep(): it is time to end
  Outage outage_;
  bool registered_ = false;
  bool draining_ = false;
  std::optional<std::int64_t> held_until_;  // by another incarnation, in the engine's time
  bool ending_ = false;
  bool ended_ = false;
};

}  // namespace ff
