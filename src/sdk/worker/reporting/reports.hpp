// Telling the engine what came of attempts.
#pragma once

#include <flowfabric/engine.hpp>

#include "base/async/coroutine_group.hpp"
#include "base/random.hpp"
#include "sdk/worker/reporting/completions.hpp"
#include "sdk/worker/reporting/held.hpp"
#include "sdk/worker/reporting/outage.hpp"

namespace ff {

// Runs on the worker's strand, as do the coroutines that it spawns.
class Reports {
 public:
  Reports(Engine& engine, Random& random, const WorkerId& worker, asio::any_io_executor strand,
          CoroutineGroup& coroutines);

  // Again and again until the engine has heard it, the lease is lost, or `held` is done. What the engine
  // cannot take as a result, such as one that is too large, becomes a failure that says so.
  //
  // Returns a wake if the attempt goes on under its lease: it was to be suspended, and signals that had arrived
  // before satisfy its condition.
  asio::awaitable<std::optional<Wake>> report(std::shared_ptr<Held> held, Outcome outcome);

 private:
  using Sent = Async<std::optional<Wake>>;
  Sent send(Complete completion);
  Sent send(Suspend suspend);
  template <class Op>
  Sent send(Op operation);

  Engine& engine_;
  Random& random_;
  const std::string worker_;
  const asio::any_io_executor strand_;
  Completions completions_;
  Outage outage_;
};

}  // namespace ff
