// Worker operations of the engine, beside those that users have (RegisterWorker, …).
#pragma once

#include <flowfabric/operations.hpp>

namespace ff::core {

// The workers of a namespace that are alive, by name.
struct LiveWorkers {
  using Reply = std::vector<WorkerInfo>;
  static constexpr OperationRow row{.owner = Owner::worker};
  Namespace ns;
};

}  // namespace ff::core
