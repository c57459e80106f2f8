#include "store/bulk_record.hpp"

#include "records.pb.h"
#include "store/embedded/disk/record_reader.hpp"

namespace ff::store {
namespace {

std::int64_t bulk_ms(TimePoint time) { return time.time_since_epoch().count(); }
TimePoint bulk_time(std::int64_t ms) { return TimePoint{Millis{ms}}; }

void write_work(const BulkWork& work, proto::Bulk& out) {
  out.set_action(std::to_underlying(work.action));
  out.set_reason(work.reason);
  if (work.priority) out.set_priority(*work.priority);
  for (const auto& [key, value] : work.set) {
    auto& tag = *out.add_set();
    tag.set_key(key);
    tag.set_value(value);
  }
  for (const auto& key : work.remove) out.add_remove(key);
}

BulkWork read_work(embedded::RecordReader& read, const proto::Bulk& stored) {
  BulkWork work{.action = read.named<BulkAction>(stored.action()), .reason = stored.reason()};
  if (stored.has_priority()) work.priority = stored.priority();
  for (const auto& tag : stored.set()) work.set.emplace(tag.key(), tag.value());
  work.remove.assign(stored.remove().begin(), stored.remove().end());
  return work;
}

}  // namespace

std::string encode(const core::Bulk& bulk) {
  proto::Bulk out;
  const auto& id = bulk.id.uuid().bytes();
  out.mutable_id()->assign(id.begin(), id.end());
  out.set_namespace_(bulk.ns.str());
  out.set_where(bulk.where);
  out.set_given_where(bulk.given_where);
  write_work(bulk.work, out);
  out.set_state(std::to_underlying(bulk.state));
  out.set_matched(bulk.counts.matched);
  out.set_done(bulk.counts.done);
  out.set_failed(bulk.counts.failed);
  out.set_skipped(bulk.counts.skipped);
  for (const auto& failure : bulk.failures) {
    auto& each = *out.add_failures();
    const auto& uuid = failure.id.uuid().bytes();
    each.set_partition(failure.id.partition());
    each.mutable_uuid()->assign(uuid.begin(), uuid.end());
    each.set_error(failure.error);
    each.set_message(failure.message);
  }
  out.set_requested_by(bulk.requested_by);
  if (bulk.error) out.set_error(*bulk.error);
  out.set_created_at_ms(bulk_ms(bulk.created_at));
  if (bulk.ended_at) out.set_ended_at_ms(bulk_ms(*bulk.ended_at));
  if (bulk.cursor) out.set_cursor(*bulk.cursor);
  if (bulk.lease) {
    out.set_runner(bulk.lease->runner);
    out.set_runner_until_ms(bulk_ms(bulk.lease->until));
  }
  out.set_version(bulk.version);
  return out.SerializeAsString();
}

Result<core::Bulk> decode_bulk(std::string_view bytes) {
  proto::Bulk stored;
  embedded::RecordReader read;
  const bool is_parsed = embedded::parse(stored, bytes);
  core::Bulk bulk;
  bulk.id = BulkId{read.uuid(stored.id())};
  bulk.ns = read.text<Namespace>(stored.namespace_());
  bulk.where = stored.where();
  bulk.given_where = stored.given_where();
  bulk.work = read_work(read, stored);
  bulk.state = read.named<BulkState>(stored.state());
  bulk.counts = {.matched = stored.matched(),
                 .done = stored.done(),
                 .failed = stored.failed(),
                 .skipped = stored.skipped()};
  for (const auto& each : stored.failures())
    bulk.failures.push_back({.id = read.execution_id(each.partition(), each.uuid()),
                             .error = each.error(),
                             .message = each.message()});
  bulk.requested_by = stored.requested_by();
  if (stored.has_error()) bulk.error = stored.error();
  bulk.created_at = bulk_time(stored.created_at_ms());
  if (stored.has_ended_at_ms()) bulk.ended_at = bulk_time(stored.ended_at_ms());
  if (stored.has_cursor()) bulk.cursor = stored.cursor();
  if (stored.has_runner_until_ms())
    bulk.lease =
        core::BulkLease{.runner = stored.runner(), .until = bulk_time(stored.runner_until_ms())};
  bulk.version = stored.version();
  if (!is_parsed || !read.ok())
    return fail(Errc::store_damaged,
                "the record of a bulk job is damaged; restore the data from a backup");
  return bulk;
}

}  // namespace ff::store
