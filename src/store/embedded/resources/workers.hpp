// Which workers there are. Only in memory: those that live make themselves known again.
#pragma once

#include <map>

#include "core/refusals.hpp"
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
  // The incarnation that has a worker's id to itself for a time.
  struct Hold {
    IncarnationId by;
    TimePoint until;
  };
  struct Worker {
    WorkerInfo info;
    Millis ttl;
    std::optional<Hold> hold = {};
  };
  using ByName = std::map<WorkerId, Worker>;

  // Null if it is not known, or counts as dead.
  Worker* find(const Namespace& ns, const WorkerId& worker, TimePoint now);
  // Whether another incarnation than this one has the id of the worker.
  static bool is_taken(const Worker& worker, const std::optional<IncarnationId>& incarnation,
                       TimePoint now);
  static core::refusals::Refusal id_in_use(const Worker& worker, TimePoint now);
  // Those of a namespace that are alive; the others are forgotten.
  ByName& alive(const Namespace& ns, TimePoint now);

  std::map<Namespace, ByName> workers_;
};

}  // namespace ff::embedded
