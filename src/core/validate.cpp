#include "core/validate.hpp"

#include <flowfabric/limits.hpp>

#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "base/utf8.hpp"

namespace ff::core {
namespace {

Result<void> all_of(std::initializer_list<Result<void>> checks) {
  for (const auto& check : checks)
    if (!check) return check;
  return {};
}

Result<void> partition_exists(const ExecutionId& id, PartitionIndex partition_count) {
  if (id.partition() < partition_count) return {};
  return fail_field(
      Errc::invalid_input, "id",
      fmt::format("execution id {} names partition {}, but this deployment has {} (0 to "
                  "{})",
                  id.str(), id.partition(), partition_count, partition_count - 1));
}

Result<void> not_empty(std::string_view field, std::string_view text) {
  if (!text.empty()) return {};
  return fail_field(Errc::invalid_input, field, fmt::format("{} must not be empty", field));
}

template <class Id>
Result<void> present(std::string_view field, const Id& id) {
  return not_empty(field, id.str());
}

template <class T>
Result<void> in_range(std::string_view field, T value, T low, T high) {
  if (value >= low && value <= high) return {};
  return fail_field(Errc::invalid_input, field,
                    fmt::format("{} must be from {} to {}, got {}", field, low, high, value));
}

Result<void> duration_in_range(std::string_view field, Millis value, Millis low, Millis high) {
  return in_range(field, value.count(), low.count(), high.count());
}

Result<void> lane_count_in_range(std::size_t count) {
  if (count >= 1 && count <= limits::claim_lanes_max) return {};
  return fail_field(
      Errc::invalid_input, "lanes",
      fmt::format("lanes must name from 1 to {} lanes, got {}", limits::claim_lanes_max, count));
}

Result<void> fits(std::string_view field, std::string_view bytes, std::size_t bytes_max) {
  if (bytes.size() <= bytes_max) return {};
  return fail_field(Errc::payload_too_large, field,
                    fmt::format("{} is {} bytes; at most {} are allowed, so store large data "
                                "elsewhere and pass a reference",
                                field, bytes.size(), bytes_max));
}

Result<void> short_text(std::string_view field, std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max)
    return fail_field(
        Errc::invalid_input, field,
        fmt::format("{} is {} bytes; at most {} are allowed", field, text.size(), bytes_max));
  if (!is_valid_utf8(text))
    return fail_field(Errc::invalid_input, field, fmt::format("{} must be valid UTF-8", field));
  return {};
}

}  // namespace

Result<void> validate(const Submit& operation, PartitionIndex partition_count) {
  return all_of({
      operation.id ? partition_exists(*operation.id, partition_count) : Result<void>{},
      present("namespace", operation.ns),
      present("lane", operation.lane),
      present("kind", operation.kind),
      in_range("priority", operation.priority, 0, limits::priority_max),
      fits("payload", operation.payload, limits::payload_bytes_max),
  });
}

Result<void> validate(const GetExecution& operation, PartitionIndex partition_count) {
  return partition_exists(operation.id, partition_count);
}

Result<void> validate(const GetResult& operation, PartitionIndex partition_count) {
  return all_of({
      partition_exists(operation.id, partition_count),
      duration_in_range("wait_ms", operation.wait, Millis{0}, limits::wait_max),
  });
}

Result<void> validate(const Claim& operation, PartitionIndex) {
  const bool unnamed_lane =
      std::ranges::any_of(operation.lanes, [](const LaneId& lane) { return lane.str().empty(); });
  return all_of({
      present("worker", operation.worker),
      present("namespace", operation.ns),
      lane_count_in_range(operation.lanes.size()),
      unnamed_lane ? present("lanes", LaneId{}) : Result<void>{},
      in_range("max", operation.max, std::uint32_t{1}, limits::claim_batch_max),
      duration_in_range("lease_ttl_ms", operation.lease_ttl, limits::lease_ttl_min,
                        limits::lease_ttl_max),
      duration_in_range("wait_ms", operation.wait, Millis{0}, limits::wait_max),
  });
}

Result<void> validate(const Renew& operation, PartitionIndex partition_count) {
  return all_of({
      partition_exists(operation.id, partition_count),
      duration_in_range("lease_ttl_ms", operation.lease_ttl, limits::lease_ttl_min,
                        limits::lease_ttl_max),
  });
}

Result<void> validate(const Complete& operation, PartitionIndex partition_count) {
  return all_of({
      partition_exists(operation.id, partition_count),
      fits("result", operation.result, limits::result_bytes_max),
  });
}

Result<void> validate(const Fail& operation, PartitionIndex partition_count) {
  return all_of({
      partition_exists(operation.id, partition_count),
      not_empty("reason", operation.reason),
      short_text("reason", operation.reason, limits::reason_bytes_max),
      short_text("category", operation.category, limits::category_bytes_max),
  });
}

}  // namespace ff::core
