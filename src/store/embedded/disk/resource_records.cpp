#include "store/embedded/disk/resource_records.hpp"

#include <fmt/format.h>

#include "records.pb.h"
#include "store/embedded/disk/record_reader.hpp"

namespace ff::embedded {
namespace {

using StoredAmounts = google::protobuf::RepeatedPtrField<proto::Amount>;

std::int64_t ms_of(TimePoint time) { return time.time_since_epoch().count(); }
TimePoint time_of(std::int64_t ms) { return TimePoint{Millis{ms}}; }

void write(const Amounts& amounts, StoredAmounts& out) {
  for (const auto& [dimension, amount] : amounts) {
    auto& stored = *out.Add();
    stored.set_dimension(dimension);
    stored.set_amount(amount);
  }
}

Amounts amounts_of(const StoredAmounts& stored) {
  Amounts amounts;
  for (const auto& each : stored) amounts.emplace(each.dimension(), each.amount());
  return amounts;
}

void write(const BudgetSpec& spec, proto::Budget& out) {
  out.set_scope_type(spec.scope_type);
  out.set_scope_id(spec.scope_id);
  out.set_enforcement(std::to_underlying(spec.enforcement));
  out.set_on_hard_limit(std::to_underlying(spec.on_hard_limit));
  out.set_on_soft_limit(std::to_underlying(spec.on_soft_limit));
  write(spec.hard_limits, *out.mutable_hard_limits());
  write(spec.soft_limits, *out.mutable_soft_limits());
  if (spec.reset_interval) out.set_reset_interval_ms(spec.reset_interval->count());
}

BudgetSpec spec_of(const proto::Budget& stored, RecordReader& read) {
  BudgetSpec spec{.scope_type = stored.scope_type(),
                  .scope_id = stored.scope_id(),
                  .enforcement = read.named<Enforcement>(stored.enforcement()),
                  .on_hard_limit = read.named<OnHardLimit>(stored.on_hard_limit()),
                  .on_soft_limit = read.named<OnSoftLimit>(stored.on_soft_limit()),
                  .hard_limits = amounts_of(stored.hard_limits()),
                  .soft_limits = amounts_of(stored.soft_limits())};
  if (stored.has_reset_interval_ms()) spec.reset_interval = Millis{stored.reset_interval_ms()};
  return spec;
}

// A schedule goes on by whole periods, so there must be one that is longer than nothing.
bool is_schedule(const core::Budget& budget) {
  const auto& interval = budget.spec.reset_interval;
  return interval.has_value() == budget.next_reset_at.has_value() &&
         (!interval || *interval > Millis{0});
}

std::unexpected<Error> damaged(std::string_view what) {
  return fail(Errc::store_damaged,
              fmt::format("{} is damaged; restore the data directory from a backup", what));
}

}  // namespace

std::string encode(const core::Budget& budget) {
  proto::Budget out;
  out.set_namespace_(budget.ns.str());
  out.set_created_at_ms(ms_of(budget.created_at));
  write(budget.spec, out);
  write(budget.usage, *out.mutable_usage());
  out.set_breach_count(budget.breach_count);
  out.set_soft_breach_count(budget.soft_breach_count);
  if (budget.last_breach_at) out.set_last_breach_at_ms(ms_of(*budget.last_breach_at));
  if (budget.last_breach_dimension) out.set_last_breach_dimension(*budget.last_breach_dimension);
  out.set_reset_count(budget.reset_count);
  if (budget.last_reset_at) out.set_last_reset_at_ms(ms_of(*budget.last_reset_at));
  if (budget.next_reset_at) out.set_next_reset_at_ms(ms_of(*budget.next_reset_at));
  return out.SerializeAsString();
}

Result<core::Budget> decode_budget(const BudgetId& id, std::string_view bytes) {
  const auto what = [&] { return fmt::format("the record of budget {}", id.str()); };
  proto::Budget stored;
  RecordReader read;
  if (!parse(stored, bytes)) return damaged(what());
  core::Budget budget{.id = id,
                      .ns = read.text<Namespace>(stored.namespace_()),
                      .spec = spec_of(stored, read),
                      .usage = amounts_of(stored.usage()),
                      .breach_count = stored.breach_count(),
                      .soft_breach_count = stored.soft_breach_count(),
                      .reset_count = stored.reset_count(),
                      .created_at = time_of(stored.created_at_ms())};
  if (stored.has_last_breach_at_ms()) budget.last_breach_at = time_of(stored.last_breach_at_ms());
  if (stored.has_last_breach_dimension())
    budget.last_breach_dimension = stored.last_breach_dimension();
  if (stored.has_last_reset_at_ms()) budget.last_reset_at = time_of(stored.last_reset_at_ms());
  if (stored.has_next_reset_at_ms()) budget.next_reset_at = time_of(stored.next_reset_at_ms());
  if (!read.ok() || !is_schedule(budget)) return damaged(what());
  return budget;
}

std::string encode(const core::Quota& quota) {
  proto::Quota out;
  out.set_namespace_(quota.ns.str());
  out.set_created_at_ms(ms_of(quota.created_at));
  out.set_window_ms(quota.spec.window.count());
  if (quota.spec.max_per_window) out.set_max_per_window(*quota.spec.max_per_window);
  if (quota.spec.max_concurrent) out.set_max_concurrent(*quota.spec.max_concurrent);
  out.set_jitter_ms(quota.spec.jitter.count());
  return out.SerializeAsString();
}

Result<core::Quota> decode_quota(const QuotaId& id, std::string_view bytes) {
  const auto what = [&] { return fmt::format("the record of quota {}", id.str()); };
  proto::Quota stored;
  RecordReader read;
  if (!parse(stored, bytes)) return damaged(what());
  core::Quota quota{
      .id = id,
      .ns = read.text<Namespace>(stored.namespace_()),
      .spec = {.window = Millis{stored.window_ms()}, .jitter = Millis{stored.jitter_ms()}},
      .created_at = time_of(stored.created_at_ms())};
  if (stored.has_max_per_window()) quota.spec.max_per_window = stored.max_per_window();
  if (stored.has_max_concurrent()) quota.spec.max_concurrent = stored.max_concurrent();
  if (!read.ok()) return damaged(what());
  return quota;
}

std::string encode(const core::KeyRing& ring) {
  proto::KeyRing out;
  if (ring.current) out.set_current_kid(ring.current->str());
  for (const auto& [kid, key] : ring.keys) {
    auto& stored = *out.add_keys();
    stored.set_kid(kid.str());
    stored.set_secret(key.secret.bytes());
    if (key.expires_at) stored.set_expires_at_ms(ms_of(*key.expires_at));
  }
  return out.SerializeAsString();
}

Result<core::KeyRing> decode_key_ring(std::string_view bytes) {
  constexpr std::string_view what = "the record of the waitpoint secrets";
  proto::KeyRing stored;
  RecordReader read;
  if (!parse(stored, bytes)) return damaged(what);
  core::KeyRing ring{.current = read.text<KeyId>(stored.current_kid())};
  for (const auto& each : stored.keys()) {
    auto& key = ring.keys[read.text<KeyId>(each.kid())];
    key.secret = WaitpointSecret::of_bytes(each.secret());
    if (each.has_expires_at_ms()) key.expires_at = time_of(each.expires_at_ms());
  }
  const auto* signing = ring.signing();
  if (!read.ok() || !signing || signing->empty()) return damaged(what);
  return ring;
}

std::string encode(const StoredScheduleRecord& stored) {
  proto::StoredSchedule out;
  const auto& version = stored.schedule.version.bytes();
  out.mutable_version()->assign(version.begin(), version.end());
  if (stored.due) out.set_due_ms(ms_of(*stored.due));
  out.set_record(stored.schedule.record);
  return out.SerializeAsString();
}

Result<StoredScheduleRecord> decode_stored_schedule(std::string_view bytes) {
  proto::StoredSchedule stored;
  RecordReader read;
  if (!parse(stored, bytes)) return damaged("the record of a schedule");
  StoredScheduleRecord record{
      .schedule = {.record = stored.record(), .version = read.uuid(stored.version())}};
  if (stored.has_due_ms()) record.due = time_of(stored.due_ms());
  if (!read.ok()) return damaged("the record of a schedule");
  return record;
}

std::string encode(const LanePause& pause) {
  proto::LanePause out;
  out.set_by(pause.by);
  out.set_since_ms(ms_of(pause.since));
  out.set_reason(pause.reason);
  return out.SerializeAsString();
}

Result<LanePause> decode_lane_pause(std::string_view bytes) {
  proto::LanePause stored;
  if (!parse(stored, bytes)) return damaged("the record of a paused lane");
  return LanePause{
      .by = stored.by(), .since = time_of(stored.since_ms()), .reason = stored.reason()};
}

std::string encode(const AuditEntry& entry) {
  proto::AuditEntry out;
  out.set_at_ms(ms_of(entry.at));
  out.set_who(entry.who);
  out.set_from(entry.from);
  if (entry.ns) out.set_namespace_(entry.ns->str());
  out.set_what(entry.what);
  out.set_subject(entry.subject);
  for (const auto& [name, value] : entry.details) {
    auto& detail = *out.add_details();
    detail.set_key(name);
    detail.set_value(value);
  }
  out.set_outcome(entry.outcome);
  return out.SerializeAsString();
}

Result<AuditEntry> decode_audit_entry(std::string_view bytes) {
  proto::AuditEntry stored;
  RecordReader read;
  if (!parse(stored, bytes)) return damaged("an entry of the audit log");
  AuditEntry entry{.at = time_of(stored.at_ms()),
                   .who = stored.who(),
                   .from = stored.from(),
                   .what = stored.what(),
                   .subject = stored.subject(),
                   .outcome = stored.outcome()};
  for (const auto& detail : stored.details()) entry.details.emplace(detail.key(), detail.value());
  if (stored.has_namespace_()) entry.ns = read.text<Namespace>(stored.namespace_());
  if (!read.ok()) return damaged("an entry of the audit log");
  return entry;
}

std::string encode(const Spending& spending) {
  proto::Spending out;
  write(spending.amounts, *out.mutable_amounts());
  out.set_reset_count(spending.reset_count);
  return out.SerializeAsString();
}

Result<Spending> decode_spending(std::string_view bytes) {
  proto::Spending stored;
  if (!parse(stored, bytes)) return damaged("a record of what an execution spent");
  return Spending{.amounts = amounts_of(stored.amounts()), .reset_count = stored.reset_count()};
}

std::string encode(const KnownReport& report) {
  proto::KnownReport out;
  write(report.amounts, *out.mutable_amounts());
  if (report.execution) {
    const auto& uuid = report.execution->uuid().bytes();
    out.mutable_execution()->set_partition(report.execution->partition());
    out.mutable_execution()->mutable_uuid()->assign(uuid.begin(), uuid.end());
  }
  out.set_until_ms(ms_of(report.until));
  return out.SerializeAsString();
}

Result<KnownReport> decode_report(std::string_view bytes) {
  proto::KnownReport stored;
  RecordReader read;
  if (!parse(stored, bytes)) return damaged("a record of a usage report");
  KnownReport report{.amounts = amounts_of(stored.amounts()), .until = time_of(stored.until_ms())};
  if (stored.has_execution())
    report.execution = read.execution_id(stored.execution().partition(), stored.execution().uuid());
  if (!read.ok()) return damaged("a record of a usage report");
  return report;
}

}  // namespace ff::embedded
