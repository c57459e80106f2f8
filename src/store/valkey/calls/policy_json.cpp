#include "store/valkey/calls/policy_json.hpp"

#include <boost/json.hpp>

#include "base/overloaded.hpp"

namespace ff::valkey_store {
namespace {

namespace json = boost::json;

json::object to_json(const Backoff& backoff) {
  return std::visit(Overloaded{
                        [](const FixedBackoff& fixed) {
                          return json::object{{"type", "fixed"}, {"delay_ms", fixed.delay.count()}};
                        },
                        [](const ExponentialBackoff& growing) {
                          return json::object{{"type", "exponential"},
                                              {"initial_delay_ms", growing.initial_delay.count()},
                                              {"max_delay_ms", growing.max_delay.count()},
                                              {"multiplier", growing.multiplier},
                                              {"jitter", growing.jitter}};
                        },
                    },
                    backoff);
}

json::object to_json(const RetryPolicy& retry) {
  json::object object{{"max_retries", retry.max_retries}, {"backoff", to_json(retry.backoff)}};
  if (!retry.retryable_categories.empty())
    object["retryable_categories"] = json::value_from(retry.retryable_categories);
  return object;
}

// ---- Reading: whatever is not as it should be counts as absent ------------------------------------

const json::object* member(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value ? value->if_object() : nullptr;
}

template <class Number>
std::optional<Number> number(const json::object* object, std::string_view name) {
  const auto* value = object ? object->if_contains(name) : nullptr;
  if (!value || !value->is_number()) return std::nullopt;
  boost::system::error_code error;
  const auto parsed = value->to_number<Number>(error);
  return error ? std::nullopt : std::optional(parsed);
}

std::optional<Millis> millis(const json::object* object, std::string_view name) {
  const auto count = number<std::int64_t>(object, name);
  return count ? std::optional(Millis{*count}) : std::nullopt;
}

std::vector<std::string> texts(const json::object* object, std::string_view name) {
  std::vector<std::string> all;
  const auto* value = object ? object->if_contains(name) : nullptr;
  const auto* list = value ? value->if_array() : nullptr;
  if (!list) return all;
  for (const auto& each : *list)
    if (const auto* text = each.if_string()) all.emplace_back(*text);
  return all;
}

Backoff backoff_of(const json::object* object) {
  const auto* type = object ? object->if_contains("type") : nullptr;
  const auto* name = type ? type->if_string() : nullptr;
  if (!name || *name != "exponential")
    return FixedBackoff{millis(object, "delay_ms").value_or(Millis{1000})};
  ExponentialBackoff growing;
  growing.initial_delay = millis(object, "initial_delay_ms").value_or(growing.initial_delay);
  growing.max_delay = millis(object, "max_delay_ms").value_or(growing.max_delay);
  growing.multiplier = number<double>(object, "multiplier").value_or(growing.multiplier);
  const auto* jitter = object->if_contains("jitter");
  growing.jitter = jitter && jitter->is_bool() && jitter->get_bool();
  return growing;
}

RetryPolicy retry_of(const json::object& object) {
  return {.max_retries = number<std::uint32_t>(&object, "max_retries").value_or(0),
          .backoff = backoff_of(member(object, "backoff")),
          .retryable_categories = texts(&object, "retryable_categories")};
}

}  // namespace

std::string to_policy_json(const Policy& policy) {
  const Policy usual;
  json::object object;
  if (policy.retry) object["retry_policy"] = to_json(*policy.retry);
  json::object timeouts;
  if (policy.attempt_timeout) timeouts["attempt_timeout_ms"] = policy.attempt_timeout->count();
  if (policy.execution_deadline)
    timeouts["execution_deadline_ms"] = policy.execution_deadline->count();
  if (!timeouts.empty()) object["timeout_policy"] = std::move(timeouts);
  if (policy.max_reclaim_count != usual.max_reclaim_count)
    object["max_reclaim_count"] = policy.max_reclaim_count;
  if (policy.max_replay_count != usual.max_replay_count)
    object["max_replay_count"] = policy.max_replay_count;
  if (policy.max_signals != usual.max_signals)
    object["max_signals_per_execution"] = policy.max_signals;
  if (!policy.required_capabilities.empty())
    object["routing_requirements"] = json::object{
        {"required_capabilities", json::value_from(policy.required_capabilities.tokens())}};
  if (!policy.budgets.empty()) {
    json::array budgets;
    for (const auto& id : policy.budgets) budgets.emplace_back(id.str());
    object["budget_ids"] = std::move(budgets);
  }
  if (policy.quota) object["quota_policy_id"] = policy.quota->str();
  if (policy.fairness_key) object["fairness_key"] = policy.fairness_key->str();
  if (policy.fairness_weight) object["fairness_weight"] = *policy.fairness_weight;
  if (policy.max_running) object["max_running"] = *policy.max_running;
  if (policy.dedup_window != usual.dedup_window)
    object["dedup_window_ms"] = policy.dedup_window.count();
  if (policy.retention)
    object["stream_policy"] = json::object{{"retention_ttl_ms", policy.retention->count()}};
  return object.empty() ? std::string{} : json::serialize(object);
}

Policy from_policy_json(std::string_view text) {
  Policy policy;
  boost::system::error_code error;
  const auto value = json::parse(text, error);
  const auto* object = error ? nullptr : value.if_object();
  if (!object) return policy;

  if (const auto* retry = member(*object, "retry_policy")) policy.retry = retry_of(*retry);
  const auto* timeouts = member(*object, "timeout_policy");
  policy.attempt_timeout = millis(timeouts, "attempt_timeout_ms");
  policy.execution_deadline = millis(timeouts, "execution_deadline_ms");
  const auto nested = number<std::uint32_t>(timeouts, "max_reclaim_count");
  policy.max_reclaim_count = number<std::uint32_t>(object, "max_reclaim_count")
                                 .value_or(nested.value_or(policy.max_reclaim_count));
  policy.max_replay_count =
      number<std::uint32_t>(object, "max_replay_count").value_or(policy.max_replay_count);
  policy.max_signals =
      number<std::uint32_t>(object, "max_signals_per_execution").value_or(policy.max_signals);
  auto required =
      CapabilitySet::parse(texts(member(*object, "routing_requirements"), "required_capabilities"));
  if (required) policy.required_capabilities = std::move(*required);
  for (const auto& each : texts(object, "budget_ids"))
    if (auto id = BudgetId::parse(each)) policy.budgets.push_back(*id);
  if (const auto* quota = object->if_contains("quota_policy_id"); quota && quota->is_string())
    if (auto id = QuotaId::parse(std::string_view(quota->get_string()))) policy.quota = *id;
  if (const auto* key = object->if_contains("fairness_key"); key && key->is_string())
    if (auto parsed = FairnessKey::parse(std::string(key->get_string()))) policy.fairness_key = *parsed;
  policy.fairness_weight = number<std::uint32_t>(object, "fairness_weight");
  policy.max_running = number<std::uint64_t>(object, "max_running");
  policy.dedup_window = millis(object, "dedup_window_ms").value_or(policy.dedup_window);
  policy.retention = millis(member(*object, "stream_policy"), "retention_ttl_ms");
  return policy;
}

}  // namespace ff::valkey_store
