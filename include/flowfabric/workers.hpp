// Workers: which are alive, and what they can run.
#pragma once

#include <flowfabric/capabilities.hpp>
#include <flowfabric/ids.hpp>
#include <flowfabric/operation_row.hpp>
#include <flowfabric/time.hpp>

#include <optional>
#include <vector>

namespace ff {

struct WorkerInfo {
  WorkerId worker;
  Namespace ns;
  std::vector<LaneId> lanes;
  CapabilitySet capabilities = {};
  bool draining = false;  // it gets no more work
  TimePoint registered_at;
  TimePoint last_seen_at;
  TimePoint expires_at;  // it counts as dead from then on
  bool operator==(const WorkerInfo&) const = default;
};

struct RegisterReply {
  bool known = false;  // it was registered already
  bool draining = false;
  TimePoint expires_at;
  bool operator==(const RegisterReply&) const = default;
};

// Makes a worker known, or anew with other lanes and capabilities. A claim does so by itself; a worker
// that is too busy to claim sends heartbeats. A registration with an incarnation holds the worker's id until
// its ttl is over: another incarnation is refused with worker_id_in_use. One without holds nothing and is
// not refused.
struct RegisterWorker {
  using Reply = RegisterReply;
  static constexpr OperationRow row{.owner = Owner::worker,
                                    .writes = Writes::logged,
                                    .is_stored = true,
                                    .http = {HttpMethod::post,
                                             "/v1/workers/{worker}/register",
                                             Role::work,
                                             "Make a worker known, with its lanes and capabilities",
                                             {"registered"}}};
  WorkerId worker;
  Namespace ns = default_namespace();
  std::vector<LaneId> lanes = {default_lane()};
  CapabilitySet capabilities = {};
  Millis ttl = std::chrono::seconds{30};
  std::optional<IncarnationId> incarnation = {};
};

// Fails with worker_not_found if it is not known, or not any more: then register. Fails with
// worker_id_in_use if another incarnation holds its id.
struct HeartbeatWorker {
  using Reply = RegisterReply;
  static constexpr OperationRow row{.owner = Owner::worker,
                                    .writes = Writes::logged,
                                    .is_stored = true,
                                    .http = {HttpMethod::post,
                                             "/v1/workers/{worker}/heartbeat",
                                             Role::work,
                                             "Tell that a worker is alive",
                                             {"alive"}}};
  WorkerId worker;
  Namespace ns = default_namespace();
  std::optional<IncarnationId> incarnation = {};
};

// Forgets it, if it is known; what it holds it keeps until its leases run out. Fails with worker_id_in_use, and
// changes nothing, if another incarnation holds its id.
struct DeregisterWorker {
  using Reply = Done;
  static constexpr OperationRow row{.owner = Owner::worker,
                                    .writes = Writes::logged,
                                    .is_stored = true,
                                    .http = {HttpMethod::post,
                                             "/v1/workers/{worker}/deregister",
                                             Role::work,
                                             "Forget a worker that stops",
                                             {"deregistered"}}};
  WorkerId worker;
  Namespace ns = default_namespace();
  std::optional<IncarnationId> incarnation = {};
};

// Gives it no more work, or work again. Heartbeats tell it.
struct DrainWorker {
  using Reply = WorkerInfo;
  static constexpr OperationRow row{.owner = Owner::worker,
                                    .writes = Writes::logged,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/workers/{worker}/drain",
                                             Role::admin,
                                             "Give a worker no more work, or work again",
                                             {"changed"}}};
  WorkerId worker;
  Namespace ns = default_namespace();
  bool draining = true;
};

struct WorkerStatus {
  WorkerInfo info;
  std::vector<ExecutionId> running = {};  // executions that the worker holds
  bool operator==(const WorkerStatus&) const = default;
};
struct WorkerList {
  std::vector<WorkerStatus> workers;  // by name; those that are alive
};
struct ListWorkers {
  using Reply = WorkerList;
  static constexpr OperationRow row{
      .owner = Owner::worker,
      .http = {HttpMethod::get, "/v1/workers", Role::read, "List the workers that are alive"}};
  Namespace ns = default_namespace();
};
struct GetWorker {
  using Reply = WorkerStatus;
  static constexpr OperationRow row{.owner = Owner::worker,
                                    .http = {HttpMethod::get, "/v1/workers/{worker}", Role::read,
                                             "Show a worker and what it runs"}};
  WorkerId worker;
  Namespace ns = default_namespace();
};

}  // namespace ff
