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
  void renewed(const ClaimedExecution& execution, TimePoint until);
  // The worker has no lease any more, by its own doing.
  void given_up(const ClaimedExecution& execution);
  void completed(const ClaimedExecution& execution, std::string result);
  // Error that a caller got instead of a reply. Only errors that allow another try, or that report a call
  // as too late, are in order.
  void refused(const Error& error);

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
    LeaseId id;
    TimePoint from;
    TimePoint until;
    bool given_up = false;
  };
  struct Told {
    bool submitted = false;
    std::string payload = {};
    std::map<LeaseEpoch, Lease> leases = {};
    std::map<LeaseEpoch, std::string> results = {};
  };
  void problem(const ExecutionId& id, std::string text);
  static void check(const ExecutionId& id, const Told& told, Engine& engine,
                    std::vector<std::string>& problems);

  mutable std::mutex mutex_;
  std::map<ExecutionId, Told> told_;
  std::vector<std::string> problems_;
  std::size_t submitted_ = 0;
  std::size_t completed_ = 0;
  std::size_t troubles_ = 0;
};

}  // namespace ff::faults
