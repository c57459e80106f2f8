// Which workers there are. Only in memory: those that live make themselves known again.
#pragma once

#include <map>

#include "store/embedded/resources/turn.hpp"

namespace ff::embedded {

// Not thread-safe.
class Workers {
 public:
  Result<RegisterReply> execute(const RegisterWorker& command, Turn& turn);
  Result<RegisterReply> execute(const HeartbeatWorker& command, Turn& turn);
  Result<Done> execute(const DeregisterWorker& command, Turn& turn);
  Result<WorkerInfo> execute(const DrainWorker& command, Turn& turn);
  Result<std::vector<WorkerInfo>> execute(const core::LiveWorkers& query, Turn& turn);

 private:
  using ByName = std::map<WorkerId, WorkerInfo>;

  // Null if it is not known, or counts as dead.
  WorkerInfo* find(const Namespace& ns, const WorkerId& worker, TimePoint now);
  // Those of a namespace that are alive; the others are forgotten.
  ByName& alive(const Namespace& ns, TimePoint now);

  std::map<Namespace, ByName> workers_;
};

}  // namespace ff::embedded
