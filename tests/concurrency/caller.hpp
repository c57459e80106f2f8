// Callers that use one engine at the same time, and what they were told.
#pragma once

#include <map>
#include <mutex>
#include <random>
#include <vector>

#include "tests/property/world.hpp"

namespace ff::concurrency {

struct Lease {
  ExecutionId id;
  Fence fence;
};

struct End {
  ExecutionState state{};
  std::optional<std::string> result = {};
};

// Acknowledged changes: they must hold afterwards, whatever else was called at the same time.
struct Acknowledged {
  std::map<ExecutionId, std::string> payloads;
  std::vector<ExecutionId> created;  // by submits that were no duplicates
  std::vector<Lease> leases;
  std::multimap<ExecutionId, End> ends;
  std::vector<Error> faults;  // that are the engine's own, and not refusals

  void add(Acknowledged other);
};

// The executions and leases that all callers know, so that they get in each other's way. Thread-safe.
class Targets {
 public:
  void add(const ExecutionId& id);
  void add(const Lease& lease);
  // One of the newest; `random` is any number.
  std::optional<ExecutionId> execution(std::uint64_t random) const;
  std::optional<Lease> lease(std::uint64_t random) const;

 private:
  mutable std::mutex mutex_;
  std::vector<ExecutionId> executions_;
  std::vector<Lease> leases_;
};

// The callers' common state.
struct Shared {
  property::World& world;
  QuotaId quota;  // that some executions need
  Targets targets = {};
  std::mutex scanning = {};  // scanners are run by one caller at a time
};

// One caller: makes random calls, and notes the replies. Used by one thread.
class Caller {
 public:
  Caller(Shared& shared, std::uint64_t seed) : shared_(shared), random_(seed) {}

  void run(int steps);
  Acknowledged take_acknowledged() { return std::exchange(acknowledged_, {}); }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  template <class Op>
  Result<typename Op::Reply> call(Op operation);

  void step();
  void submit();
  void submit_many();
  void claim();
  void claim_by_id();
  void claim_by_grant();
  void end_attempt();
  void keep_lease();
  void operate();
  void read();
  void pass_time();

  Submit submission();
  WorkerId worker();
  Millis lease_ttl();
  void submitted(const Submit& submit, const Result<SubmitReply>& reply);
  void claimed(const ClaimedExecution& execution);
  void ended(const ExecutionId& id, End end);

  Shared& shared_;
  std::mt19937_64 random_;
  Acknowledged acknowledged_;
};

}  // namespace ff::concurrency
