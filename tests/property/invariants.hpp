// Invariants that hold after any operation: read through the engine, and compared with the model and
// with earlier observations.
#pragma once

#include <map>

#include "tests/property/driver.hpp"

namespace ff::property {

class Invariants {
 public:
  explicit Invariants(Driver& driver) : driver_(driver) {}

  // Cheap: of the executions that the latest operation was about. `replayed` if it may have begun an
  // ended one anew.
  void check_touched(bool replayed);

  // Of everything: each execution, every list, all counts.
  void check_all(bool replayed);

  // Of every lease that an execution ever had, at most the newest is accepted.
  void check_one_lease();

  // The indexes in memory are what the records call for.
  void check_indexes();

  // The data directory is sound, and an engine that opens it anew lists the same executions.
  void check_directory();

 private:
  void check_execution(const ExecutionId& id, bool replayed);
  void check_info(const ExecutionInfo& info, const Modelled& modelled);
  void check_change(const ExecutionInfo& before, const ExecutionInfo& after, bool replayed);
  void check_attempts(const Modelled& modelled);
  void check_leases(const Modelled& modelled);
  void check_result(const Modelled& modelled);
  void check_lists(const Namespace& ns);
  void check_tag(const Namespace& ns, const std::string& key, const std::string& value);
  std::vector<ExecutionInfo> list(ListExecutions query);

  Driver& driver_;
  std::map<ExecutionId, ExecutionInfo> seen_;
};

}  // namespace ff::property
