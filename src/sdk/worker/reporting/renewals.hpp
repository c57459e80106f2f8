// Keeping leases alive.
#pragma once

#include <flowfabric/engine.hpp>

#include "base/random.hpp"
#include "sdk/worker/reporting/held.hpp"
#include "sdk/worker/reporting/outage.hpp"

namespace ff {

// Runs on the worker's strand.
class Renewals {
 public:
  Renewals(Engine& engine, Random& random, const WorkerId& worker, Millis lease_ttl);

  // How often a lease is renewed: two renewals may fail before it ends.
  Millis interval() const { return interval_; }

  // Renews the lease until it is done, and sooner when woken; the first time `first_in` from now. Once
  // no renewal has succeeded for all of a lease's life, it is lost, whether the engine can be asked or
  // not. Tells the handler when the lease is lost or the time is over.
  asio::awaitable<void> keep(std::shared_ptr<Held> held, Millis first_in);

 private:
  Engine& engine_;
  Random& random_;
  const Millis lease_ttl_;
  const Millis interval_;
  Outage outage_;
};

}  // namespace ff
