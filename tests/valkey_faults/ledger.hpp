// Replies to a load: acknowledged changes must stay true, and no execution has two live leases.
#pragma once

#include <flowfabric/engine.hpp>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace ff::faults {

class Ledger {
 public:
  void submitted(const ExecutionId& id, std::string payload);
  // Times are the server's.
  void claimed(const ClaimedExecution& execution, Millis ttl);
  void renewed(const ClaimedExecution& execution, Millis ttl, TimePoint until);
  // The worker has no lease any more, by its own doing.
  void given_up(const ClaimedExecution& execution);
  void completed(const ClaimedExecution& execution, std::string result);
  // Error that a caller got instead of a reply. Only errors that allow another try, or that report a call
  // as too late, are in order.
  void refused(const Error& error);
  // The server died at `at`, by its own clock, and may have lost what it had not confirmed: claims,
  // renewals, and submits without a reply.
  void lost_unconfirmed(TimePoint at);

  std::size_t submitted_count() const;
  std::size_t completed_count() const;
  std::vector<ExecutionId> submitted_ids() const;
  std::vector<ExecutionId> unfinished() const;
  // How many calls failed because of the store.
  std::size_t troubles() const;

  // Violations, as sentences: a few of them. Asks the engine for every execution in the ledger.
  std::string problems(Engine& engine) const;

 private:
  struct Lease {
    LeaseEpoch epoch;
    TimePoint from;
    TimePoint known_at;  // last claim or renewal
    TimePoint until;
    bool given_up = false;
  };
  struct Told {
    bool submitted = false;
    std::string payload = {};
    std::map<LeaseId, Lease> leases = {};
    std::map<LeaseId, std::string> results = {};
  };
  using Problems = std::vector<std::string>;
  void check(const ExecutionId& id, const Told& told, Engine& engine, Problems& problems) const;
  void check_leases(const ExecutionId& id, const Told& told, Problems& problems) const;

  mutable std::mutex mutex_;
  std::map<ExecutionId, Told> told_;
  std::vector<TimePoint> losses_;
  Problems problems_;
  std::size_t submitted_ = 0;
  std::size_t completed_ = 0;
  std::size_t troubles_ = 0;
};

}  // namespace ff::faults
