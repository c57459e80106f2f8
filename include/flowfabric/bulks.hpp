// Bulk jobs: one action on every execution that a filter matches.
#pragma once

#include <flowfabric/executions.hpp>
#include <flowfabric/ids.hpp>
#include <flowfabric/operation_row.hpp>
#include <flowfabric/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ff {

enum class BulkAction : std::uint8_t { cancel, replay, redrive, priority, tags, remove };
FF_NAMES(BulkAction, "cancel", "replay", "redrive", "priority", "tags", "delete");

enum class BulkState : std::uint8_t {
  running,
  completed,  // every execution that matched was looked at
  stopped,    // by an operator; some may be left as they were
  failed,     // its filter cannot be read any more; `error` tells why
};
FF_NAMES(BulkState, "running", "completed", "stopped", "failed");

constexpr bool is_terminal(BulkState state) { return state != BulkState::running; }

// What is done to each execution.
struct BulkWork {
  BulkAction action{};
  std::string reason = {};                    // of cancel, replay and redrive
  std::optional<std::int32_t> priority = {};  // of priority
  Tags set = {};                              // of tags
  std::vector<std::string> remove = {};       // of tags: keys
  bool operator==(const BulkWork&) const = default;
};

// An execution on which the action failed.
struct BulkFailure {
  ExecutionId id;
  std::string error;  // its name
  std::string message;
  bool operator==(const BulkFailure&) const = default;
};

struct BulkCounts {
  std::uint64_t matched = 0;  // done, failed and skipped together
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t skipped =
      0;  // the action does not apply: to cancel what has ended, to replay what has not
  bool operator==(const BulkCounts&) const = default;
};

struct BulkInfo {
  BulkId id;
  Namespace ns;
  std::string where;  // times are absolute
  BulkWork work;
  BulkState state{};
  BulkCounts counts = {};
  std::vector<BulkFailure> failures = {};  // the first ones, at most limits::bulk_failures_max
  std::string requested_by = {};
  std::optional<std::string> error = {};  // of a job that failed
  TimePoint created_at;
  std::optional<TimePoint> ended_at = {};
  bool operator==(const BulkInfo&) const = default;
};

struct StartBulkReply {
  std::optional<BulkId> id = {};              // none: a dry run
  bool duplicate = false;                     // the job was started before
  std::string where;                          // as it is carried out: times are absolute
  std::optional<std::uint64_t> matches = {};  // of a dry run
  bool at_least = false;                      // there may be more: the look was cut
  bool operator==(const StartBulkReply&) const = default;
};

// Starts a job that carries out the work on each execution that the filter matches and that was submitted
// before the start. With an id of the caller's, the call is safe to repeat.
struct StartBulk {
  using Reply = StartBulkReply;
  static constexpr OperationRow row{.owner = Owner::bulk,
                                    .writes = Writes::durable,
                                    .is_audited = true,
                                    .http = {HttpMethod::post,
                                             "/v1/bulks",
                                             Role::admin,
                                             "Act on all executions that a filter matches",
                                             {"started", "duplicate"}}};
  std::optional<BulkId> id = {};
  Namespace ns = default_namespace();
  std::string where;  // at least one term
  BulkWork work;
  std::string requested_by = {};
  bool dry_run = false;  // only counts what matches
};

struct GetBulk {
  using Reply = BulkInfo;
  static constexpr OperationRow row{
      .owner = Owner::bulk,
      .http = {HttpMethod::get, "/v1/bulks/{id}", Role::read, "Show a bulk job"}};
  BulkId id;
};

struct BulkList {
  std::vector<BulkInfo> bulks;
  std::optional<BulkId> next = {};
};

// The bulk jobs of a namespace, those that run and those that ended within limits::bulk_retention.
struct ListBulks {
  using Reply = BulkList;
  static constexpr OperationRow row{
      .owner = Owner::bulk,
      .http = {HttpMethod::get, "/v1/bulks", Role::read, "List the bulk jobs of a namespace"}};
  Namespace ns = default_namespace();
  std::uint32_t limit = 100;
  std::optional<BulkId> after = {};
};

// Ends a job that runs; what it has done stays done.
struct StopBulk {
  using Reply = BulkInfo;
  static constexpr OperationRow row{
      .owner = Owner::bulk,
      .writes = Writes::durable,
      .is_audited = true,
      .http = {
          HttpMethod::post, "/v1/bulks/{id}/stop", Role::admin, "Stop a bulk job", {"stopped"}}};
  BulkId id;
};

}  // namespace ff
