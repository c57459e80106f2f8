#include "base/try.hpp"
#include "core/schedules/schedule.hpp"
#include "core/validation/checks.hpp"
#include "core/validation/validate.hpp"

namespace ff::core {
namespace {

Result<void> names_schedule(const ScheduleName& name, const Namespace& ns) {
  return all_of({present("name", name), present("namespace", ns)});
}

Result<void> count_valid(std::uint32_t count) {
  return in_range("count", count, 1U, limits::schedule_times_max);
}

}  // namespace

Result<void> validate(const PutSchedule& operation, PartitionIndex partition_count) {
  FF_TRY(names_schedule(operation.name, operation.ns));
  return validate_spec(operation.spec, operation.ns, partition_count);
}
Result<void> validate(const GetSchedule& operation, PartitionIndex) {
  return names_schedule(operation.name, operation.ns);
}
Result<void> validate(const ListSchedules& operation, PartitionIndex) {
  return all_of({present("namespace", operation.ns),
                 in_range("limit", operation.limit, 1U, limits::list_page_max)});
}
Result<void> validate(const DeleteSchedule& operation, PartitionIndex) {
  return names_schedule(operation.name, operation.ns);
}
Result<void> validate(const PauseSchedule& operation, PartitionIndex) {
  return all_of({names_schedule(operation.name, operation.ns),
                 short_text("reason", operation.reason, limits::reason_bytes_max),
                 short_text("requested_by", operation.requested_by, limits::reason_bytes_max)});
}
Result<void> validate(const ResumeSchedule& operation, PartitionIndex) {
  return names_schedule(operation.name, operation.ns);
}
Result<void> validate(const RunSchedule& operation, PartitionIndex) {
  return names_schedule(operation.name, operation.ns);
}
Result<void> validate(const GetScheduleTimes& operation, PartitionIndex) {
  return all_of({names_schedule(operation.name, operation.ns), count_valid(operation.count)});
}
Result<void> validate(const PreviewSchedule& operation, PartitionIndex) {
  return all_of({count_valid(operation.count), time_in_range("after_ms", operation.after)});
}

}  // namespace ff::core
