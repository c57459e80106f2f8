// JSON fields of the parts that several messages share.
#include "base/try.hpp"
#include "http/wire/json_codec.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {

void describe(Fields& fields, FixedBackoff& fixed) {
  fields.constant("type", to_string(BackoffType::fixed));
  fields.required("delay_ms", fixed.delay);
}

void describe(Fields& fields, ExponentialBackoff& growing) {
  fields.constant("type", to_string(BackoffType::exponential));
  fields.defaulted("initial_delay_ms", growing.initial_delay);
  fields.defaulted("max_delay_ms", growing.max_delay);
  fields.defaulted("multiplier", growing.multiplier);
  fields.defaulted("jitter", growing.jitter);
}

// `type` says which it is.
template <>
struct Codec<Backoff> {
  static json::value write(const Backoff& backoff) {
    return std::visit([](const auto& each) -> json::value { return to_fields(each); }, backoff);
  }
  static Result<Backoff> read(const json::value& value, Source source) {
    const auto* object = value.if_object();
    const auto* type = object ? object->if_contains("type") : nullptr;
    if (!type)
      return fail(Errc::invalid_input, "must be an object with a type, exponential or fixed");
    const auto named = Codec<BackoffType>::read(*type, source);
    if (!named) return fail_field(named.error().code, "type", "type " + named.error().message);
    switch (*named) {
      case BackoffType::exponential: return read_as<ExponentialBackoff>(value, source);
      case BackoffType::fixed: return read_as<FixedBackoff>(value, source);
    }
    return fail(Errc::internal, "");
  }
  static json::object schema(NamedSchemas& named) {
    return {{"oneOf",
             json::array{schema_of<ExponentialBackoff>(named), schema_of<FixedBackoff>(named)}}};
  }

 private:
  template <class T>
  static Result<Backoff> read_as(const json::value& value, Source source) {
    auto read = Codec<T>::read(value, source);
    FF_TRY(read);
    return Backoff{*read};
  }
};

void describe(Fields& fields, RetryPolicy& retry) {
  fields.defaulted("max_retries", retry.max_retries);
  fields.defaulted("backoff", retry.backoff);
  fields.defaulted("retryable_categories", retry.retryable_categories);
}

// The policy's JSON has the contract's groups; the struct is flat.
void describe(Fields& fields, Policy& policy) {
  fields.optional("retry_policy", policy.retry);
  fields.group("timeout_policy", [&](auto& timeouts) {
    timeouts.optional("attempt_timeout_ms", policy.attempt_timeout);
    timeouts.optional("execution_deadline_ms", policy.execution_deadline);
  });
  fields.defaulted("max_reclaim_count", policy.max_reclaim_count);
  fields.defaulted("max_replay_count", policy.max_replay_count);
  fields.unless_usual("max_signals_per_execution", policy.max_signals, Policy{}.max_signals);
  fields.group("routing_requirements", [&](auto& routing) {
    routing.defaulted("required_capabilities", policy.required_capabilities);
  });
  fields.defaulted("budget_ids", policy.budgets);
  fields.optional("quota_policy_id", policy.quota);
  fields.defaulted("dedup_window_ms", policy.dedup_window);
  fields.optional("retention_ms", policy.retention);
}

void describe(Fields& fields, StateVector& vector) {
  fields.required("lifecycle_phase", vector.lifecycle_phase);
  fields.required("ownership_state", vector.ownership_state);
  fields.required("eligibility_state", vector.eligibility_state);
  fields.required("blocking_reason", vector.blocking_reason);
  fields.required("terminal_outcome", vector.terminal_outcome);
  fields.required("attempt_state", vector.attempt_state);
}

void describe(Fields& fields, Progress& progress) {
  fields.optional("percent", progress.percent);
  fields.required("message", progress.message);
  fields.required("at_ms", progress.at);
}

void describe_id(Fields& fields, ExecutionId& id) { fields.required("id", id); }
void describe_id(Fields& fields, BudgetId& id) { fields.required("id", id); }
void describe_id(Fields& fields, QuotaId& id) { fields.required("id", id); }
void describe_id(Fields& fields, BulkId& id) { fields.required("id", id); }
void describe_id(Fields& fields, FlowId& id) { fields.required("id", id); }

}  // namespace ff::http
