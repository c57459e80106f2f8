#include <fmt/format.h>

#include "base/overloaded.hpp"
#include "base/text/digest.hpp"
#include "core/refusals.hpp"
#include "core/transitions/transitions.hpp"

namespace ff::core {
namespace {

std::int64_t ms(TimePoint time) { return time.time_since_epoch().count(); }

void add(Digest& digest, const std::optional<Millis>& duration) {
  digest.add(duration ? duration->count() : -1);
}

void add(Digest& digest, const RetryPolicy& retry) {
  digest.add(retry.max_retries);
  digest.add(static_cast<std::int64_t>(retry.backoff.index()));
  std::visit(Overloaded{
                 [&](const FixedBackoff& fixed) { digest.add(fixed.delay.count()); },
                 [&](const ExponentialBackoff& growing) {
                   digest.add(growing.initial_delay.count())
                       .add(growing.max_delay.count())
                       .add(fmt::format("{}", growing.multiplier))
                       .add(growing.jitter);
                 },
             },
             retry.backoff);
  digest.add(std::ssize(retry.retryable_categories));
  for (const auto& category : retry.retryable_categories) digest.add(category);
}

}  // namespace

// Optional and repeated fields add a flag, a count or -1, so that no two submits add the same bytes.
std::uint64_t request_digest(const Submit& submit) {
  Digest digest;
  digest.add(submit.ns.str()).add(submit.lane.str()).add(submit.kind.str());
  digest.add(submit.priority).add(submit.payload);
  digest.add(submit.delay_until ? ms(*submit.delay_until) : -1);
  digest.add(submit.deadline ? ms(*submit.deadline) : -1);
  digest.add(std::ssize(submit.tags));
  for (const auto& [key, value] : submit.tags) digest.add(key).add(value);
  const auto& policy = submit.policy;
  digest.add(policy.retry.has_value());
  if (policy.retry) add(digest, *policy.retry);
  add(digest, policy.attempt_timeout);
  add(digest, policy.execution_deadline);
  digest.add(policy.max_reclaim_count).add(policy.max_replay_count);
  digest.add(policy.required_capabilities.csv()).add(policy.dedup_window.count());
  add(digest, policy.retention);
  if (submit.content_type) digest.add(submit.content_type->str());
  // Only if there are any: what was submitted before there were budgets has the same digest as ever.
  for (const auto& budget : policy.budgets) digest.add(budget.str());
  if (policy.quota) digest.add(policy.quota->str());
  if (policy.max_signals != Policy{}.max_signals) digest.add(policy.max_signals);
  if (policy.fairness_key) digest.add(policy.fairness_key->str());
  if (policy.fairness_weight) digest.add(*policy.fairness_weight);
  if (policy.max_running) digest.add(*policy.max_running);
  return digest.value();
}

namespace {

// Whether an execution may have been submitted by this request. A record without a digest recognises it by where it
// went and what it asked for.
bool is_of_request(const Execution& existing, const Submit& submit) {
  if (existing.request_digest != 0) return existing.request_digest == request_digest(submit);
  return existing.ns == submit.ns && existing.lane == submit.lane && existing.kind == submit.kind;
}

Decision<Create> repeat(const Execution& existing, const Create& command) {
  if (!is_of_request(existing, command.submit))
    return refusals::duplicate_mismatch(existing.id, command.submit.idempotency_key.has_value());
  return Step<SubmitReply>{
      .reply = {.id = existing.id, .duplicate = true, .state = public_state(existing)}};
}

// The earlier of what the request and its policy say.
std::optional<TimePoint> deadline_of(const Submit& submit, TimePoint now) {
  if (!submit.policy.execution_deadline) return submit.deadline;
  const auto by_policy = now + *submit.policy.execution_deadline;
  return submit.deadline ? std::min(*submit.deadline, by_policy) : by_policy;
}

}  // namespace

Decision<Create> apply(const Execution* existing, Create command, TimePoint now) {
  if (existing) return repeat(*existing, command);

  auto& submit = command.submit;
  Execution created{.id = command.id,
                    .ns = submit.ns,
                    .lane = submit.lane,
                    .kind = submit.kind,
                    .priority = submit.priority,
                    .tags = submit.tags,
                    .policy = submit.policy,
                    .idempotency_key = submit.idempotency_key,
                    .content_type = submit.content_type,
                    .traceparent = submit.traceparent,
                    .request_digest = request_digest(submit),
                    .created_at = now,
                    .queued_at = now,
                    .deadline = deadline_of(submit, now),
                    .retention = submit.policy.retention.value_or(command.retention_default)};
  if (submit.delay_until && *submit.delay_until > now) created.state = Delayed{*submit.delay_until};
  return Step<SubmitReply>{
      .reply = {.id = command.id, .duplicate = false, .state = public_state(created)},
      .next = std::move(created),
      .event = EventType::submitted,
      .payload = std::move(submit.payload)};
}

}  // namespace ff::core
