#include "core/validation/validate.hpp"

#include <algorithm>
#include <cmath>

#include "base/overloaded.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "core/execution/partitions.hpp"
#include "core/validation/checks.hpp"

namespace ff::core {

Result<void> lanes_valid(const std::vector<LaneId>& lanes) {
  if (lanes.empty() || lanes.size() > limits::claim_lanes_max)
    return fail_field(Errc::invalid_input, "lanes",
                      fmt::format("lanes must name from 1 to {} lanes, got {}",
                                  limits::claim_lanes_max, lanes.size()));
  for (const auto& lane : lanes)
    if (auto named = present("lanes", lane); !named) return named;
  return {};
}

namespace {

Result<void> lease_ttl_valid(Millis ttl) {
  return duration_in_range("lease_ttl_ms", ttl, limits::lease_ttl_min, limits::lease_ttl_max);
}

Result<void> kinds_valid(const std::vector<Kind>& kinds) {
  if (kinds.size() > limits::claim_kinds_max)
    return fail_field(Errc::invalid_input, "kinds",
                      fmt::format("kinds must name at most {} kinds, got {}; leave it out to take "
                                  "all kinds",
                                  limits::claim_kinds_max, kinds.size()));
  for (const auto& kind : kinds)
    if (auto named = present("kinds", kind); !named) return named;
  return {};
}

Result<void> reason_valid(std::string_view reason) {
  return short_text("reason", reason, limits::reason_bytes_max);
}

// "app.key": a lower-case name, a dot, and anything but another dot after it.
bool is_namespaced(std::string_view key) {
  const auto dot = key.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == key.size() || key[dot + 1] == '.')
    return false;
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return is_lower(key[0]) && std::ranges::all_of(key.substr(0, dot), [&](char c) {
           return is_lower(c) || is_digit(c) || c == '_';
         });
}

Result<void> tag_key_valid(std::string_view key) {
  if (is_namespaced(key)) return {};
  return fail(
      Errc::invalid_tag_key,
      fmt::format("'{}' is not a tag key; one looks like app.key: a lower-case name, a dot, "
                  "and something after it",
                  printable(key)),
      {{"key", printable(key)}});
}

Result<void> backoff_valid(const Backoff& backoff) {
  return std::visit(
      Overloaded{
          [](const FixedBackoff& fixed) {
            return duration_in_range("delay_ms", fixed.delay, Millis{0}, limits::duration_max);
          },
          [](const ExponentialBackoff& growing) {
            if (!std::isfinite(growing.multiplier) || growing.multiplier < 1 ||
                growing.multiplier > 1000)
              return Result<void>(fail_field(Errc::invalid_input, "multiplier",
                                             "multiplier must be from 1 to 1000"));
            return all_of({duration_in_range("initial_delay_ms", growing.initial_delay, Millis{0},
                                             limits::duration_max),
                           duration_in_range("max_delay_ms", growing.max_delay, Millis{0},
                                             limits::duration_max)});
          },
      },
      backoff);
}

Result<void> retry_valid(const RetryPolicy& retry) {
  if (retry.retryable_categories.size() > limits::retryable_categories_max)
    return fail_field(
        Errc::invalid_input, "retryable_categories",
        fmt::format("retryable_categories has {} entries; at most {} are allowed",
                    retry.retryable_categories.size(), limits::retryable_categories_max));
  for (const auto& category : retry.retryable_categories)
    if (auto valid = short_text("retryable_categories", category, limits::category_bytes_max);
        !valid)
      return valid;
  return all_of({in_range("max_retries", retry.max_retries, 0u, limits::retries_max),
                 backoff_valid(retry.backoff)});
}

Result<void> policy_valid(const Policy& policy) {
  if (policy.retry)
    if (auto valid = retry_valid(*policy.retry); !valid) return valid;
  return all_of({
      duration_in_range("attempt_timeout_ms", policy.attempt_timeout, Millis{1}),
      duration_in_range("execution_deadline_ms", policy.execution_deadline, Millis{1}),
      in_range("max_signals", policy.max_signals, 0u, limits::signals_max),
      in_range("max_reclaim_count", policy.max_reclaim_count, 0u, limits::reclaims_max),
      in_range("max_replay_count", policy.max_replay_count, 0u, limits::replays_max),
      duration_in_range("dedup_window_ms", policy.dedup_window, Millis{1}, limits::duration_max),
      duration_in_range("retention_ms", policy.retention, Millis{0}),
      attachments_valid(policy),
  });
}

Result<void> not_both_ids(const Submit& submit) {
  if (!submit.id || !submit.idempotency_key) return {};
  return fail_field(
      Errc::invalid_input, "idempotency_key",
      "give an id or an idempotency_key, not both: each makes a submit safe to repeat");
}

// Fields that a node of a flow must or must not have.
Result<void> node_valid(const Submit& submit) {
  const auto only_of_flow = [](std::string_view field) {
    return fail_field(Errc::invalid_input, field,
                      fmt::format("{} is for an execution in a flow: give the flow, too", field));
  };
  if (!submit.flow) {
    if (submit.node) return only_of_flow("node");
    if (!submit.after.empty()) return only_of_flow("after");
    return {};
  }
  if (submit.id)
    return fail_field(Errc::invalid_input, "id",
                      "the id of an execution in a flow follows from the flow and its node; give a node "
                      "instead, which makes the submit safe to repeat");
  if (submit.node && submit.idempotency_key)
    return fail_field(Errc::invalid_input, "idempotency_key",
                      "give a node or an idempotency_key, not both: each makes a submit into a flow safe "
                      "to repeat");
  FF_TRY(all_of({present("node", submit.node),
                 in_range("after", submit.after.size(), std::size_t{0},
                          std::size_t{limits::node_dependencies_max})}));
  for (std::size_t i = 0; i < submit.after.size(); ++i) {
    const auto path = fmt::format("after[{}]", i);
    const auto& [node, on, input] = submit.after[i];
    FF_TRY(inside(path, all_of({present("node", node), present("input", input)})));
    if (node == submit.node)
      return fail_field(Errc::self_referencing_edge, path,
                        fmt::format("{}: node {} cannot depend on itself", path, node.str()));
  }
  return {};
}

template <class Items, class Size>
Result<void> batch_valid(const Items& items, Size size_of) {
  if (items.empty() || items.size() > limits::batch_items_max)
    return fail_field(Errc::invalid_input, "executions",
                      fmt::format("executions must hold from 1 to {}, got {}",
                                  limits::batch_items_max, items.size()));
  std::size_t bytes = 0;
  for (const auto& item : items) bytes += size_of(item);
  return fits("executions", bytes, limits::batch_bytes_max);
}

}  // namespace

Result<void> tag_valid(std::string_view key, std::string_view value) {
  return all_of({not_empty("tag key", key), short_text("tag key", key, limits::tag_key_bytes_max),
                 short_text("tag value", value, limits::tag_value_bytes_max), tag_key_valid(key)});
}

Result<void> tags_valid(std::string_view field, const Tags& tags) {
  if (tags.size() > limits::tags_max)
    return fail_field(Errc::invalid_input, field,
                      fmt::format("{} has {} entries; at most {} are allowed", field, tags.size(),
                                  limits::tags_max));
  for (const auto& [key, value] : tags)
    if (auto valid = tag_valid(key, value); !valid) return valid;
  return {};
}

Result<void> validate_id(const ExecutionId& id, PartitionIndex partition_count) {
  if (id.partition() < partition_count) return {};
  return fail_field(
      Errc::invalid_input, "id",
      fmt::format("execution id {} names partition {}, but this deployment has {} (0 to {})",
                  id.str(), id.partition(), partition_count, partition_count - 1));
}

Result<void> validate(const Submit& operation, PartitionIndex partition_count) {
  const bool names_partition = operation.id && operation.id->partition() != partition_by_uuid;
  return all_of({
      names_partition ? validate_id(*operation.id, partition_count) : Result<void>{},
      not_both_ids(operation),
      present("idempotency_key", operation.idempotency_key),
      present("namespace", operation.ns),
      present("lane", operation.lane),
      present("kind", operation.kind),
      in_range("priority", operation.priority, 0, limits::priority_max),
      present("content_type", operation.content_type),
      present("traceparent", operation.traceparent),
      fits("payload", operation.payload.size(), limits::payload_bytes_max),
      time_in_range("delay_until_ms", operation.delay_until),
      time_in_range("deadline_ms", operation.deadline),
      tags_valid("tags", operation.tags),
      policy_valid(operation.policy),
      node_valid(operation),
  });
}

Result<void> validate(const SubmitMany& operation, PartitionIndex) {
  for (std::size_t i = 0; i < operation.executions.size(); ++i)
    if (operation.executions[i].flow)
      return fail_field(Errc::invalid_input, fmt::format("executions[{}].flow", i),
                        fmt::format("executions[{}].flow: a batch adds nothing to flows; submit it by "
                                    "itself, or add nodes to the flow",
                                    i));
  return batch_valid(operation.executions, [](const Submit& each) { return each.payload.size(); });
}

Result<void> validate(const GetResult& operation, PartitionIndex partition_count) {
  return all_of({
      validate_id(operation.id, partition_count),
      duration_in_range("wait_ms", operation.wait, Millis{0}, limits::wait_max),
  });
}

Result<void> tag_condition_valid(const std::optional<std::string>& tag) {
  if (!tag || tag->find('=') != std::string::npos) return {};
  return fail_field(Errc::invalid_input, "tag",
                    "tag must be key=value: which tag, and what it must be");
}

// A key that no tag can have would wait for events in vain.
Result<void> followed_tag_valid(const std::optional<std::string>& tag) {
  FF_TRY(tag_condition_valid(tag));
  return tag ? tag_key_valid(std::string_view(*tag).substr(0, tag->find('='))) : Result<void>{};
}

Result<void> validate(const ListExecutions& operation, PartitionIndex) {
  return all_of({
      tag_condition_valid(operation.tag),
      present("namespace", operation.ns),
      present("lane", operation.lane),
      present("kind", operation.kind),
      in_range("limit", operation.limit, 1u, limits::list_page_max),
      time_in_range("created_from_ms", operation.created_from),
      time_in_range("created_before_ms", operation.created_before),
      short_text("where", operation.where.value_or(""), limits::where_bytes_max),
  });
}

Result<void> validate(const CountExecutions& operation, PartitionIndex) {
  return all_of({present("namespace", operation.ns), present("lane", operation.lane)});
}

Result<void> validate(const ReadEvents& operation, PartitionIndex partition_count) {
  return all_of({
      operation.id ? validate_id(*operation.id, partition_count) : Result<void>{},
      present("namespace", operation.ns),
      present("lane", operation.lane),
      present("kind", operation.kind),
      followed_tag_valid(operation.tag),
      in_range("limit", operation.limit, 1u, limits::events_page_max),
      duration_in_range("wait_ms", operation.wait, Millis{0}, limits::wait_max),
  });
}

Result<void> validate(const Claim& operation, PartitionIndex) {
  return all_of({
      present("worker", operation.worker),
      present("namespace", operation.ns),
      lanes_valid(operation.lanes),
      kinds_valid(operation.kinds),
      in_range("max", operation.max, 1u, limits::claim_batch_max),
      lease_ttl_valid(operation.lease_ttl),
      duration_in_range("wait_ms", operation.wait, Millis{0}, limits::wait_max),
  });
}

Result<void> validate(const Grant& operation, PartitionIndex) {
  return all_of({
      present("worker", operation.worker),
      present("namespace", operation.ns),
      lanes_valid(operation.lanes),
      kinds_valid(operation.kinds),
      duration_in_range("grant_ttl_ms", operation.grant_ttl, Millis{1}, limits::grant_ttl_max),
  });
}

Result<void> validate(const ClaimGranted& operation, PartitionIndex partition_count) {
  return all_of({validate_id(operation.id, partition_count), present("worker", operation.worker),
                 lease_ttl_valid(operation.lease_ttl)});
}

Result<void> validate(const ClaimExecution& operation, PartitionIndex partition_count) {
  return all_of({validate_id(operation.id, partition_count), present("worker", operation.worker),
                 lease_ttl_valid(operation.lease_ttl)});
}

Result<void> validate(const Renew& operation, PartitionIndex partition_count) {
  return all_of({validate_id(operation.id, partition_count), lease_ttl_valid(operation.lease_ttl)});
}

Result<void> validate(const UpdateProgress& operation, PartitionIndex partition_count) {
  return all_of({
      validate_id(operation.id, partition_count),
      in_range("percent", operation.percent.value_or(0), 0u, 100u),
      short_text("message", operation.message, limits::reason_bytes_max),
  });
}

Result<void> validate(const CompleteMany& operation, PartitionIndex) {
  return batch_valid(operation.executions,
                     [](const Complete& each) { return each.result ? each.result->size() : 0; });
}

Result<void> validate(const Fail& operation, PartitionIndex partition_count) {
  return all_of({
      validate_id(operation.id, partition_count),
      not_empty("reason", operation.reason),
      reason_valid(operation.reason),
      short_text("category", operation.category, limits::category_bytes_max),
  });
}

Result<void> validate(const Delay& operation, PartitionIndex partition_count) {
  return all_of(
      {validate_id(operation.id, partition_count), time_in_range("until_ms", operation.until)});
}

Result<void> validate(const HandBack& operation, PartitionIndex partition_count) {
  return all_of({validate_id(operation.id, partition_count), reason_valid(operation.reason)});
}

Result<void> validate(const Cancel& operation, PartitionIndex partition_count) {
  return all_of({validate_id(operation.id, partition_count), reason_valid(operation.reason)});
}

Result<void> validate(const RevokeLease& operation, PartitionIndex partition_count) {
  return all_of({validate_id(operation.id, partition_count), reason_valid(operation.reason)});
}

Result<void> validate(const ChangePriority& operation, PartitionIndex partition_count) {
  return all_of({validate_id(operation.id, partition_count),
                 in_range("priority", operation.priority, 0, limits::priority_max)});
}

Result<void> validate(const SetTags& operation, PartitionIndex partition_count) {
  if (operation.set.empty() && operation.remove.empty())
    return fail_field(Errc::invalid_input, "set", "name at least one tag to set or remove");
  return all_of({validate_id(operation.id, partition_count), tags_valid("set", operation.set),
                 in_range("remove", operation.remove.size(), std::size_t{0}, limits::tags_max)});
}

Result<void> validate(const Replay& operation, PartitionIndex partition_count) {
  return all_of({validate_id(operation.id, partition_count), reason_valid(operation.reason),
                 short_text("requested_by", operation.requested_by, limits::reason_bytes_max)});
}

Result<void> validate(const Backup& operation, PartitionIndex) {
  if (operation.name.str().starts_with('.'))
    return fail_field(Errc::invalid_input, "name", "name must not begin with a dot");
  return present("name", operation.name);
}

}  // namespace ff::core
