#include <algorithm>

#include <fmt/ranges.h>

#include "base/text/utf8.hpp"
#include "core/audit/names.hpp"
#include "core/validation/checks.hpp"
#include "core/validation/validate.hpp"
#include "core/waitpoints/key_ring.hpp"

namespace ff::core {
namespace {

// A dimension's name is part of a key and of a metric's label.
Result<void> dimension_valid(std::string_view field, std::string_view name) {
  if (auto valid =
          all_of({not_empty(field, name), short_text(field, name, limits::dimension_bytes_max)});
      !valid)
    return valid;
  const bool visible = std::ranges::all_of(name, [](char c) { return c > ' ' && c != 0x7F; });
  if (visible && name.find_first_of(",=") == std::string_view::npos) return {};
  return fail_field(Errc::invalid_input, field,
                    fmt::format("'{}' is no name of a dimension: it must not have blanks, control "
                                "characters, ',' or '='",
                                printable(name)));
}

}  // namespace

Result<void> amounts_valid(std::string_view field, const Amounts& amounts, std::uint64_t low) {
  if (amounts.size() > limits::dimensions_max)
    return fail_field(Errc::invalid_input, field,
                      fmt::format("{} has {} dimensions; at most {} are allowed", field,
                                  amounts.size(), limits::dimensions_max));
  for (const auto& [name, amount] : amounts) {
    if (auto valid = dimension_valid(field, name); !valid) return valid;
    if (amount < low || amount > limits::amount_max)
      return fail_field(Errc::invalid_input, field,
                        fmt::format("{} of {} must be from {} to {}, got {}", field, name, low,
                                    limits::amount_max, amount));
  }
  return {};
}

namespace {

Result<void> soft_below_hard(const BudgetSpec& spec) {
  for (const auto& [name, soft] : spec.soft_limits)
    if (const auto hard = spec.hard_limits.find(name);
        hard != spec.hard_limits.end() && soft > hard->second)
      return fail_field(Errc::invalid_input, "soft_limits",
                        fmt::format("the soft limit of {} is {}, above its hard limit {}; it would "
                                    "never be told",
                                    name, soft, hard->second));
  return {};
}

Result<void> has_limits(const QuotaSpec& spec) {
  if (spec.max_per_window || spec.max_concurrent) return {};
  return fail_field(Errc::invalid_input, "max_per_window",
                    "a quota needs max_per_window, max_concurrent or both");
}

Result<void> starts_valid(std::string_view field, const std::optional<std::uint64_t>& count) {
  if (!count) return {};
  return in_range(field, *count, std::uint64_t{1}, limits::quota_starts_max);
}

Result<void> page_valid(std::uint32_t limit) {
  return in_range("limit", limit, 1u, limits::list_page_max);
}

}  // namespace

Result<void> validate(const CreateBudget& operation, PartitionIndex) {
  const auto& spec = operation.spec;
  if (spec.hard_limits.empty() && spec.soft_limits.empty())
    return fail_field(Errc::invalid_input, "hard_limits",
                      "a budget needs at least one hard or soft limit, such as tokens=1000");
  return all_of({
      present("namespace", operation.ns),
      short_text("scope_type", spec.scope_type, limits::scope_bytes_max),
      short_text("scope_id", spec.scope_id, limits::scope_bytes_max),
      amounts_valid("hard_limits", spec.hard_limits, 1),
      amounts_valid("soft_limits", spec.soft_limits, 1),
      soft_below_hard(spec),
      duration_in_range("reset_interval_ms", spec.reset_interval, std::chrono::seconds{1}),
  });
}
Result<void> validate(const ListBudgets& operation, PartitionIndex) {
  return all_of({present("namespace", operation.ns), page_valid(operation.limit)});
}

Result<void> validate(const ReportUsage& operation, PartitionIndex partition_count) {
  if (operation.amounts.empty())
    return fail_field(Errc::invalid_input, "dimensions", "name at least one dimension");
  if (operation.fence && !operation.execution)
    return fail_field(Errc::invalid_input, "execution_id",
                      "a report under a lease names the execution, too");
  if (operation.execution)
    if (auto valid = validate_id(*operation.execution, partition_count); !valid) return valid;
  return all_of({amounts_valid("dimensions", operation.amounts, 0),
                 present("dedup_key", operation.dedup_key)});
}
Result<void> validate(const ReleaseUsage& operation, PartitionIndex partition_count) {
  return validate_id(operation.execution, partition_count);
}

Result<void> validate(const CreateQuota& operation, PartitionIndex) {
  const auto& spec = operation.spec;
  return all_of({
      present("namespace", operation.ns),
      has_limits(spec),
      starts_valid("max_per_window", spec.max_per_window),
      starts_valid("max_concurrent", spec.max_concurrent),
      duration_in_range("window_ms", spec.window, Millis{1}, limits::quota_window_max),
      duration_in_range("jitter_ms", spec.jitter, Millis{0}, limits::quota_window_max),
  });
}
Result<void> validate(const ListQuotas& operation, PartitionIndex) {
  return all_of({present("namespace", operation.ns), page_valid(operation.limit)});
}

Result<void> validate(const RegisterWorker& operation, PartitionIndex) {
  return all_of({
      present("worker", operation.worker),
      present("namespace", operation.ns),
      lanes_valid(operation.lanes),
      duration_in_range("ttl_ms", operation.ttl, limits::worker_ttl_min, limits::worker_ttl_max),
  });
}

Result<void> validate(const PauseLane& operation, PartitionIndex) {
  return all_of({present("lane", operation.lane), present("namespace", operation.ns),
                 short_text("reason", operation.reason, limits::pause_reason_bytes_max)});
}
Result<void> validate(const ResumeLane& operation, PartitionIndex) {
  return all_of({present("lane", operation.lane), present("namespace", operation.ns)});
}
Result<void> validate(const ListLanes& operation, PartitionIndex) {
  return all_of({present("namespace", operation.ns), page_valid(operation.limit),
                 present("after", operation.after)});
}

Result<void> validate(const ReadAudit& operation, PartitionIndex) {
  const auto& kept = audited_operations();
  if (operation.what && !kept.contains(*operation.what))
    return fail_field(Errc::invalid_input, "what",
                      fmt::format("'{}' is not an operation that the audit log keeps; it keeps {}",
                                  printable(*operation.what), fmt::join(kept, ", ")));
  if (operation.since && operation.until && *operation.since >= *operation.until)
    return fail_field(Errc::invalid_input, "until_ms", "until_ms must be after since_ms");
  constexpr auto text_max = limits::audit_text_bytes_max;
  return all_of({present("namespace", operation.ns), page_valid(operation.limit),
                 time_in_range("since_ms", operation.since),
                 time_in_range("until_ms", operation.until),
                 short_text("who", operation.who.value_or(""), text_max),
                 short_text("after", operation.after.value_or(""), text_max)});
}

Result<void> validate(const RotateWaitpointSecret& operation, PartitionIndex) {
  if (operation.new_kid.str().empty())
    return fail_field(Errc::invalid_kid, "new_kid",
                      "new_kid must be non-empty and must not contain ':'");
  if (operation.new_secret.empty())
    return fail_field(Errc::invalid_secret_hex, "new_secret_hex",
                      "new_secret_hex must be a non-empty even-length hex string");
  if (auto checked = check_length(operation.new_secret); !checked)
    return fail_field(Errc::invalid_secret_hex, "new_secret_hex",
                      "new_secret_hex " + checked.error().message);
  return {};
}

Result<void> present_namespace(const Namespace& ns) { return present("namespace", ns); }
Result<void> worker_named(const WorkerId& worker, const Namespace& ns) {
  return all_of({present("worker", worker), present("namespace", ns)});
}

Result<void> attachments_valid(const Policy& policy) {
  if (policy.budgets.size() > limits::budgets_per_execution_max)
    return fail_field(Errc::invalid_input, "budget_ids",
                      fmt::format("budget_ids has {} entries; at most {} are allowed",
                                  policy.budgets.size(), limits::budgets_per_execution_max));
  auto sorted = policy.budgets;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    return fail_field(Errc::invalid_input, "budget_ids",
                      fmt::format("budget {} is named twice", twice->str()));
  return {};
}

}  // namespace ff::core
