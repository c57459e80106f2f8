#include "core/validation/checks.hpp"
#include "core/validation/validate.hpp"

namespace ff::core {
namespace {

std::unexpected<Error> work_field(std::string_view field, std::string message) {
  return fail_field(Errc::invalid_input, field, std::move(message));
}

// Each action has its arguments and no others.
Result<void> arguments_valid(const BulkWork& work) {
  const auto action = to_string(work.action);
  const bool changes_tags = !work.set.empty() || !work.remove.empty();
  if (work.action == BulkAction::priority && !work.priority)
    return work_field("priority", "priority is missing: the action is 'priority'");
  if (work.action != BulkAction::priority && work.priority)
    return work_field("priority", fmt::format("priority does not go with the action '{}'", action));
  if (work.action == BulkAction::tags && !changes_tags)
    return work_field("set", "name at least one tag to set or remove");
  if (work.action != BulkAction::tags && changes_tags)
    return work_field(work.set.empty() ? "remove" : "set",
                      fmt::format("tags do not go with the action '{}'", action));
  const bool has_reason = work.action == BulkAction::cancel || work.action == BulkAction::replay ||
                          work.action == BulkAction::redrive;
  if (!has_reason && !work.reason.empty())
    return work_field("reason", fmt::format("reason does not go with the action '{}'", action));
  return {};
}

Result<void> keys_valid(const std::vector<std::string>& keys) {
  for (const auto& key : keys)
    if (auto valid = short_text("remove", key, limits::tag_key_bytes_max); !valid) return valid;
  return in_range("remove", keys.size(), std::size_t{0}, limits::tags_max);
}

}  // namespace

Result<void> validate(const StartBulk& operation, PartitionIndex) {
  const auto& work = operation.work;
  return all_of({
      present("namespace", operation.ns),
      not_empty("where", operation.where),
      short_text("where", operation.where, limits::where_bytes_max),
      arguments_valid(work),
      short_text("reason", work.reason, limits::reason_bytes_max),
      work.priority ? in_range("priority", *work.priority, 0, limits::priority_max)
                    : Result<void>{},
      tags_valid("set", work.set),
      keys_valid(work.remove),
      short_text("requested_by", operation.requested_by, limits::reason_bytes_max),
  });
}

Result<void> validate(const ListBulks& operation, PartitionIndex) {
  return all_of({present("namespace", operation.ns),
                 in_range("limit", operation.limit, 1u, limits::list_page_max)});
}

}  // namespace ff::core
