#include "tests/property/agreement.hpp"

#include <stdexcept>

namespace ff::property {
namespace {

template <class T>
std::string show_optional(std::string_view name, const std::optional<T>& value) {
  if (!value) return "";
  if constexpr (std::same_as<T, TimePoint>)
    return fmt::format(" {}={}", name, show(*value));
  else if constexpr (requires { value->str(); })
    return fmt::format(" {}={}", name, value->str());
  else
    return fmt::format(" {}={}", name, *value);
}

std::string show_tags(const Tags& tags) {
  std::string text;
  for (const auto& [key, value] : tags) text += fmt::format(" {}={}", key, value);
  return text;
}

std::string show_vector(const StateVector& vector) {
  return fmt::format("{}/{}/{}/{}/{}/{}", to_string(vector.lifecycle_phase),
                     to_string(vector.ownership_state), to_string(vector.eligibility_state),
                     to_string(vector.blocking_reason), to_string(vector.terminal_outcome),
                     to_string(vector.attempt_state));
}

}  // namespace

void disagree(const std::string& text) { throw std::runtime_error(text); }

// From the moment at which the simulated clock starts.
std::string show(TimePoint time) {
  return fmt::format("{:+}ms", time.time_since_epoch().count() - 1'800'000'000'000);
}
std::string show(const Fence& fence) {
  return fmt::format("#{} lease={} attempt={}", std::to_underlying(fence.lease_epoch),
                     fence.lease_id.str(), fence.attempt_id.str());
}
std::string show(const SubmitReply& reply) {
  return fmt::format("{} {}{}", reply.id.str(), to_string(reply.state),
                     reply.duplicate ? " (duplicate)" : "");
}
std::string show(const RenewReply& reply) { return "until " + show(reply.lease_expires_at); }
std::string show(const Done&) { return "done"; }
std::string show(const EndReply& reply) { return std::string(to_string(reply.state)); }
std::string show(const FailReply& reply) {
  return std::string(to_string(reply.state)) + show_optional("retry_at", reply.retry_at);
}
std::string show(const RevokeReply& reply) {
  return fmt::format("{} #{}", to_string(reply.status), std::to_underlying(reply.lease_epoch));
}
std::string show(const PriorityReply& reply) {
  return fmt::format("{} -> {}", reply.before, reply.after);
}
std::string show(const TagsReply& reply) { return "tags" + show_tags(reply.tags); }
std::string show(const GrantedExecution& reply) {
  return fmt::format("{} until {}", reply.id.str(), show(reply.grant_expires_at));
}
std::string show(const ClaimedExecution& c) {
  return fmt::format("{} {}/{} kind={} payload={} attempt={} {}{} {} until {}{}{}{}", c.id.str(),
                     c.ns.str(), c.lane.str(), c.kind.str(), c.payload, c.attempt_index,
                     to_string(c.attempt_type), c.resumed ? " resumed" : "", show(c.fence),
                     show(c.lease_expires_at),
                     show_optional("attempt_deadline", c.attempt_deadline),
                     show_optional("deadline", c.deadline), show_tags(c.tags));
}
std::string show(const ExecutionInfo& i) {
  std::string text = fmt::format(
      "{} {}/{} {} [{}] priority={} created={} attempts={} retries={} reclaims={} replays={} #{}",
      i.id.str(), i.ns.str(), i.lane.str(), to_string(i.state), show_vector(i.state_vector),
      i.priority, show(i.created_at), i.attempts, i.retries, i.reclaims, i.replays,
      std::to_underlying(i.lease_epoch));
  text += show_optional("delay_until", i.delay_until) + show_optional("deadline", i.deadline) +
          show_optional("started", i.started_at) + show_optional("ended", i.completed_at) +
          show_optional("worker", i.worker) + show_optional("lease_until", i.lease_expires_at) +
          show_optional("granted_to", i.granted_to) +
          show_optional("key", i.idempotency_key) + show_optional("failure", i.failure_reason) +
          show_optional("category", i.failure_category) +
          show_optional("cancelled_for", i.cancel_reason);
  if (i.progress)
    text += fmt::format(" progress={}% '{}' at {}", i.progress->percent.value_or(0),
                        i.progress->message, show(i.progress->at));
  return text + show_tags(i.tags);
}

}  // namespace ff::property
