// Operations on the engine as a whole.
#pragma once

#include <flowfabric/executions.hpp>

#include <string>
#include <vector>

namespace ff {

struct BackupReply {
  std::string directory;  // a data directory of its own, on the engine's machine
  bool operator==(const BackupReply&) const = default;
};

// Saves everything that is acknowledged, while the engine goes on.
struct Backup {
  using Reply = BackupReply;
  static constexpr OperationRow row{.writes = Writes::durable,
                                    .is_stored = true,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/backups",
                                             Role::admin,
                                             "Save everything while the server goes on",
                                             {"saved"}}};
  BackupName name;
};

struct HealthReply {
  std::string version;
  bool operator==(const HealthReply&) const = default;
};

struct ReadyReply {
  std::string version;
  std::vector<std::string> scanners;  // that run
  std::uint64_t paused_lanes = 0;     // of all namespaces together
  bool operator==(const ReadyReply&) const = default;
};

// Answers while everything that the engine needs works: the store takes writes, and every scanner
// runs. Otherwise fails with not_ready or the store's error.
struct CheckReady {
  using Reply = ReadyReply;
  static constexpr OperationRow row{.http = {HttpMethod::get, "/readyz", Role::nobody,
                                             "Whether everything that the server needs works"}};
};

// The engine's metrics, in the Prometheus text format.
struct GetMetrics {
  using Reply = Bytes;
  static constexpr OperationRow row{
      .http = {HttpMethod::get, "/metrics", Role::read, "Metrics for Prometheus"}};
};

// Answers while the engine can save what it is given.
struct Health {
  using Reply = HealthReply;
  static constexpr OperationRow row{.http = {HttpMethod::get, "/healthz", Role::nobody,
                                             "Whether the server can save what it is given"}};
};

}  // namespace ff
