#include "core/bulks/bulk.hpp"

#include "base/try.hpp"
#include "core/refusals.hpp"

namespace ff::core {

Result<Filter> bulk_filter(const StartBulk& start, TimePoint now) {
  auto filter = parse_filter(start.where, now);
  FF_TRY(filter);
  if (filter->is_empty())
    return fail_field(
        Errc::invalid_input, "where",
        "where must have at least one term, such as state:failed: a bulk job does not act "
        "on everything by mistake");
  // Times are in milliseconds: what was submitted before the start may have the same.
  const auto until = now + Millis{1};
  auto& before = filter->created.before;
  before = before ? std::min(*before, until) : until;
  return filter;
}

Bulk make_bulk(const StartBulk& start, const BulkId& id, const Filter& filter, TimePoint now) {
  Bulk bulk;
  bulk.id = id;
  bulk.ns = start.ns;
  bulk.where = to_text(filter);
  bulk.work = start.work;
  bulk.state = BulkState::running;
  bulk.requested_by = start.requested_by;
  bulk.created_at = now;
  bulk.given_where = start.where;
  bulk.version = 1;
  return bulk;
}

bool is_same(const Bulk& bulk, const StartBulk& start) {
  return bulk.ns == start.ns && bulk.given_where == start.where && bulk.work == start.work;
}

bool may_run(const Bulk& bulk, const std::string& runner, TimePoint now) {
  return bulk.state == BulkState::running &&
         (!bulk.lease || bulk.lease->runner == runner || bulk.lease->until <= now);
}

void end(Bulk& bulk, BulkState state, TimePoint now) {
  bulk.state = state;
  bulk.ended_at = now;
  bulk.cursor = std::nullopt;
  bulk.lease = std::nullopt;
}

Result<Bulk> stopped(Bulk bulk, TimePoint now) {
  if (is_terminal(bulk.state)) return refusals::bulk_not_running(bulk.id, bulk.state);
  end(bulk, BulkState::stopped, now);
  return bulk;
}

bool applies(const Bulk& bulk, const ExecutionInfo& execution) {
  const bool has_ended = is_terminal(execution.state);
  const bool ended_before = execution.completed_at && *execution.completed_at <= bulk.created_at;
  switch (bulk.work.action) {
    case BulkAction::cancel:
    case BulkAction::priority: return !has_ended;
    case BulkAction::replay: return has_ended && ended_before;
    case BulkAction::redrive: return execution.flow.has_value();
    case BulkAction::tags: return true;
    case BulkAction::remove: return has_ended && !execution.flow;  // a node goes with its flow
  }
  return false;
}

bool means_skipped(const Error& error) {
  switch (error.code) {
    case Errc::execution_not_found:
    case Errc::execution_not_active:
    case Errc::execution_not_terminal:
    case Errc::execution_not_eligible:
    case Errc::flow_not_found:
    case Errc::flow_being_removed: return true;
    default: return false;
  }
}

void note_failure(Bulk& bulk, const ExecutionId& id, const Error& error) {
  ++bulk.counts.failed;
  if (bulk.failures.size() < limits::bulk_failures_max)
    bulk.failures.push_back(
        {.id = id, .error = std::string(error.name()), .message = error.message});
}

}  // namespace ff::core
