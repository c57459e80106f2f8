// Workers that programs of the published contract registered on the same store.
#pragma once

#include <flowfabric/async.hpp>
#include <flowfabric/workers.hpp>

#include <optional>
#include <vector>

#include "store/valkey/client_names.hpp"

namespace ff::valkey_store {

// Stored record of one worker instance.
struct ContractWorkerRecord {
  std::string instance;
  std::string capabilities;  // CSV
  std::string lanes;         // CSV; programs of the older form store none
  // Absent: it was advertised once, and has no heartbeat that could fail to come.
  std::optional<Millis> ttl = {};
  std::optional<TimePoint> registered_at = {};
  std::optional<TimePoint> last_seen_at = {};
  std::optional<Millis> alive_for = {};  // absent: its sign of life is gone
};

// None if it is dead, or not one that a worker of ours could be compared with.
std::optional<WorkerInfo> worker_of(const ContractWorkerRecord& record, const Namespace& ns,
                                    TimePoint now);

// The keys of one worker are in different slots, so they are read with plain commands, many at once.
class ContractWorkers {
 public:
  explicit ContractWorkers(Client& client) : client_(client) {}

  // Those of a namespace that are alive, at most limits::workers_max. Workers of the older form have no
  // namespace; they count as of the default one.
  Async<std::vector<WorkerInfo>> live(Namespace ns, TimePoint now);

 private:
  // With or without the namespace in the names.
  enum class Form : std::uint8_t { registered, advertised };
  using Records = std::vector<ContractWorkerRecord>;

  Async<std::vector<std::string>> instances(std::string key);
  Async<Records> records(Form form, const Namespace& ns, std::vector<std::string> instances);
  asio::awaitable<std::vector<Result<Reply>>> send_all(std::vector<Request> requests);

  Client& client_;
};

}  // namespace ff::valkey_store
