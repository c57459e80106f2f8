// A bulk job and the rules of its life. The process that runs it does a slice at a time and saves the record
// after each; a record that was changed meanwhile is not overwritten.
#pragma once

#include <flowfabric/operations.hpp>

#include "core/filters/filter.hpp"

namespace ff::core {

// A process that runs the job until then, and may run it longer.
struct BulkLease {
  std::string runner;
  TimePoint until;
  bool operator==(const BulkLease&) const = default;
};

struct Bulk : BulkInfo {
  std::string given_where = {};            // as it was sent: a repeated start must name the same
  std::optional<std::string> cursor = {};  // of the list of matches: where the next slice begins
  std::optional<BulkLease> lease = {};
  std::uint64_t version = 0;  // counts changes of this record
  bool operator==(const Bulk&) const = default;
};

inline constexpr Millis bulk_lease_ttl = std::chrono::seconds{10};

// The filter that a job walks by: what was submitted until now, as the request says.
Result<Filter> bulk_filter(const StartBulk& start, TimePoint now);

// With the id, which the request may lack.
Bulk make_bulk(const StartBulk& start, const BulkId& id, const Filter& filter, TimePoint now);

// Whether a job is the one that this request started.
bool is_same(const Bulk& bulk, const StartBulk& start);

// Whether the runner may take the job, or goes on with it.
bool may_run(const Bulk& bulk, const std::string& runner, TimePoint now);

void end(Bulk& bulk, BulkState state, TimePoint now);

// Fails with bulk_not_running.
Result<Bulk> stopped(Bulk bulk, TimePoint now);

// Whether the action applies to an execution. What was started anew after the start of the job is left alone, so a
// slice that is repeated after a crash changes nothing twice.
bool applies(const Bulk& bulk, const ExecutionInfo& execution);

// Whether an error says that the action does not apply, which an execution may have come to meanwhile.
bool means_skipped(const Error& error);

void note_failure(Bulk& bulk, const ExecutionId& id, const Error& error);

}  // namespace ff::core
