#include "store/valkey/calls/record.hpp"

#include <array>

#include <boost/json.hpp>

#include "store/valkey/calls/fields.hpp"
#include "store/valkey/calls/policy_json.hpp"

namespace ff::valkey_store {
namespace {

std::vector<Reply> list_in(Reply& reply) {
  auto* list = reply.as_array();
  return list ? std::move(*list) : std::vector<Reply>{};
}

core::LeaseEnd lease_end_of(std::string_view word) {
  using enum core::LeaseEnd;
  if (word == "worker_delay") return worker_delay;
  if (word == "waiting_children") return waiting_children;
  if (word == "handed_back") return handed_back;
  if (word == "timed_out") return timed_out;
  if (word == "expired") return expired;
  if (word == "revoked") return revoked;
  return suspended;  // the id of the suspension
}

// How the newest lease ended, of an attempt that has ended under it.
core::LeaseEnd lease_end_of(const core::AttemptEnd& end, const std::string& told) {
  using enum core::LeaseEnd;
  if (!told.empty()) return lease_end_of(told);
  switch (end.outcome) {
    case AttemptOutcome::success: return completed;
    case AttemptOutcome::cancelled: return cancelled;
    case AttemptOutcome::interrupted: return expired;
    default: return end.retry_at ? failed_retry_scheduled : failed_terminal;
  }
}

std::string lease_reason(core::LeaseEnd how, const core::AttemptEnd& end) {
  constexpr std::string_view revoked = "lease revoked: ";
  if (how == core::LeaseEnd::timed_out) return end.reason;
  // Its flow cancelled it: an operator's reason has another form, and is not the lease's.
  if (how == core::LeaseEnd::cancelled && !end.reason.starts_with("cancelled: ")) return end.reason;
  if (how == core::LeaseEnd::revoked && end.reason.starts_with(revoked))
    return end.reason.substr(revoked.size());
  return {};
}

std::optional<AttemptOutcome> outcome_of(const std::string& state) {
  if (state == "ended_success") return AttemptOutcome::success;
  if (state == "ended_failure") return AttemptOutcome::failure;
  if (state == "ended_cancelled") return AttemptOutcome::cancelled;
  if (state == "interrupted_reclaimed") return AttemptOutcome::interrupted;
  return std::nullopt;
}

// [lease_id, epoch, worker, acquired_at, ended_at, how, reason]
std::optional<core::PastLease> past_lease(const boost::json::value& value) {
  const auto* parts = value.if_array();
  if (!parts || parts->size() != 7) return std::nullopt;
  const auto text = [&](std::size_t i) {
    const auto* part = (*parts)[i].if_string();
    return part ? std::string(*part) : std::string{};
  };
  const auto lease = LeaseId::parse(text(0));
  const auto epoch = parse_number<std::uint64_t>(text(1));
  const auto worker = WorkerId::parse(text(2));
  const auto acquired = parse_number<std::int64_t>(text(3));
  const auto ended = parse_number<std::int64_t>(text(4));
  if (!lease || !epoch || !worker || !acquired || !ended) return std::nullopt;
  return core::PastLease{.lease_id = *lease,
                         .epoch = LeaseEpoch{*epoch},
                         .worker = *worker,
                         .acquired_at = TimePoint{Millis{*acquired}},
                         .ended_at = TimePoint{Millis{*ended}},
                         .end = lease_end_of(text(5)),
                         .reason = text(6)};
}

std::vector<core::PastLease> past_leases(Fields& fields) {
  std::vector<core::PastLease> past;
  if (!fields.has("past_leases")) return past;
  boost::system::error_code error;
  const auto value = boost::json::parse(fields.text("past_leases"), error);
  const auto* list = error ? nullptr : value.if_array();
  if (!list) {
    fields.wrong("past_leases", fields.text("past_leases"));
    return past;
  }
  for (const auto& each : *list) {
    auto lease = past_lease(each);
    if (lease)
      past.push_back(std::move(*lease));
    else
      fields.wrong("past_leases", fields.text("past_leases"));
  }
  return past;
}

void add_newest_lease(core::Attempt& attempt, Fields& fields) {
  core::PastLease lease{
      .lease_id = attempt.fence.lease_id,
      .epoch = attempt.fence.lease_epoch,
      .worker = attempt.worker,
      .acquired_at = fields.optional_time("acquired_at").value_or(attempt.started_at),
      .ended_at = {}};
  if (const auto paused_at = fields.optional_time("suspended_at")) {
    lease.ended_at = *paused_at;
    lease.end = lease_end_of(fields.text("suspension_id"));
    lease.reason = fields.text("suspension_reason");
  } else if (attempt.end) {
    lease.ended_at = attempt.end->at;
    lease.end = lease_end_of(*attempt.end, fields.text("lease_end"));
    lease.reason = lease_reason(lease.end, *attempt.end);
  } else {
    return;  // it is held
  }
  if (attempt.past_leases.size() >= limits::leases_per_attempt_max)
    attempt.past_leases.erase(attempt.past_leases.begin());
  attempt.past_leases.push_back(std::move(lease));
}

core::Attempt read_attempt(Fields& fields) {
  core::Attempt attempt{
      .index = fields.number<std::uint32_t>("attempt_index"),
      .type = fields.name_of<AttemptType>("attempt_type"),
      .fence = {.lease_id = fields.id<LeaseId>("lease_id"),
                .lease_epoch = LeaseEpoch{fields.number<std::uint64_t>("lease_epoch")},
                .attempt_id = fields.id<AttemptId>("attempt_id")},
      .worker = fields.id<WorkerId>("worker_id"),
      .started_at = fields.time("started_at"),
      .past_leases = past_leases(fields)};
  for (const auto* cause : {"retry_reason", "reclaim_reason", "replay_reason"})
    if (fields.has(cause)) attempt.cause = fields.text(cause);
  if (attempt.type == AttemptType::replay)
    attempt.requested_by = fields.text("replay_requested_by");
  attempt.requested_at = fields.optional_time("replay_requested_at");
  if (const auto outcome = outcome_of(fields.text("attempt_state")))
    attempt.end = core::AttemptEnd{.at = fields.time("ended_at"),
                                   .outcome = *outcome,
                                   .reason = fields.text("failure_reason"),
                                   .category = fields.text("failure_category"),
                                   .retry_at = fields.optional_time("retry_at")};
  add_newest_lease(attempt, fields);
  return attempt;
}

core::Outcome outcome_of(Fields& fields, TerminalOutcome outcome) {
  switch (outcome) {
    case TerminalOutcome::success:
      return core::Completed{fields.optional_id<ContentType>("result_content_type")};
    case TerminalOutcome::cancelled:
      return core::Cancelled{.reason = fields.text("cancellation_reason")};
    case TerminalOutcome::expired: return core::Expired{fields.text("failure_reason")};
    case TerminalOutcome::skipped: return core::Skipped{fields.text("failure_reason")};
    default:
      return core::Failed{.reason = fields.text("failure_reason"),
                          .category = fields.text("failure_category")};
  }
}

core::State waiting_or_granted(Fields& fields) {
  if (const auto until = fields.optional_time("grant_expires_at"))
    return core::Granted{.worker = fields.id<WorkerId>("granted_to"),
                         .expires_at = *until,
                         .token = fields.optional_id<QuotaTokenId>("admission")};
  return core::Waiting{};
}

// Only what is shown of it: the record of the suspension has the rest.
SuspendReason suspend_reason_of(BlockingReason reason) {
  switch (reason) {
    case BlockingReason::waiting_for_approval: return SuspendReason::waiting_for_approval;
    case BlockingReason::waiting_for_callback: return SuspendReason::waiting_for_callback;
    case BlockingReason::waiting_for_tool_result: return SuspendReason::waiting_for_tool_result;
    case BlockingReason::paused_by_operator: return SuspendReason::waiting_for_operator_review;
    case BlockingReason::paused_by_policy: return SuspendReason::paused_by_policy;
    case BlockingReason::waiting_for_budget: return SuspendReason::paused_by_budget;
    default: return SuspendReason::waiting_for_signal;
  }
}

core::Suspended suspended_of(Fields& fields) {
  return {.id = SuspensionId::parse(fields.text("current_suspension_id")).value_or(SuspensionId{}),
          .reason = suspend_reason_of(fields.name_of<BlockingReason>("blocking_reason")),
          .since = fields.time("last_transition_at"),
          .timeout_at = fields.optional_time("suspension_timeout_at")};
}

core::State state_of(Fields& fields, const core::Execution& execution) {
  const auto phase = fields.name_of<LifecyclePhase>("lifecycle_phase");
  if (phase == LifecyclePhase::terminal)
    return core::Ended{
        .at = fields.time("completed_at"),
        .outcome = outcome_of(fields, fields.name_of<TerminalOutcome>("terminal_outcome"))};
  if (phase == LifecyclePhase::active) {
    if (fields.text("ownership_state") != to_string(OwnershipState::leased) || !execution.attempt)
      return waiting_or_granted(fields);
    return core::Active{.lease = {.fence = execution.attempt->fence,
                                  .worker = fields.id<WorkerId>("current_worker_id"),
                                  .acquired_at = fields.optional_time("lease_acquired_at")
                                                     .value_or(execution.attempt->started_at),
                                  .expires_at = fields.time("lease_expires_at")},
                        .attempt_deadline = fields.optional_time("attempt_deadline_at"),
                        .token = fields.optional_id<QuotaTokenId>("admission")};
  }
  if (phase == LifecyclePhase::suspended) return suspended_of(fields);
  const auto eligibility = fields.text("eligibility_state");
  if (eligibility == to_string(EligibilityState::not_eligible_until_time))
    return core::Delayed{fields.time("delay_until")};
  if (eligibility == to_string(EligibilityState::blocked_by_dependencies))
    return core::WaitingChildren{fields.optional_time("delay_until")};
  if (eligibility.starts_with("blocked_by_"))
    return core::Blocked{.reason = fields.name_of<BlockingReason>("blocking_reason"),
                         .detail = fields.text("blocking_detail"),
                         .since = fields.time("last_transition_at")};
  return waiting_or_granted(fields);
}

std::optional<Progress> progress_of(Fields& fields) {
  const auto at = fields.optional_time("progress_updated_at");
  if (!at) return std::nullopt;
  return Progress{.percent = fields.optional_number<std::uint32_t>("progress_pct"),
                  .message = fields.text("progress_message"),
                  .at = *at};
}

std::optional<core::ReplayRequest> pending_replay(Fields& fields) {
  const auto at = fields.optional_time("pending_replay_at");
  if (!at) return std::nullopt;
  return core::ReplayRequest{.reason = fields.text("pending_replay_reason"),
                             .requested_by = fields.text("pending_replay_requested_by"),
                             .at = *at};
}

// Records of edges (lua/lib/flow_edges.lua) stand in the core, if they are few.
constexpr std::size_t edge_in_bytes = 22;
constexpr std::size_t edge_out_bytes = 20;

std::optional<core::Membership> membership_of(Fields& fields) {
  const auto flow = fields.optional_id<FlowId>("flow_id");
  if (!flow) return std::nullopt;
  const auto count = [&](std::string_view name, std::string_view records, std::size_t bytes) {
    return fields.optional_number<std::uint32_t>(name).value_or(
        static_cast<std::uint32_t>(fields.text(records).size() / bytes));
  };
  std::optional<core::MapState> map;
  if (auto input = fields.optional_id<NodeName>("map_over")) {
    const auto phase = fields.text("map_phase");
    map = {.over = {.input = std::move(*input),
                    .max_parallel = fields.optional_number<std::uint32_t>("map_parallel"),
                    .tolerated_failures = fields.number<std::uint32_t>("map_tolerated")},
           .phase = phase == "a"   ? core::MapPhase::adds_items
                    : phase == "r" ? core::MapPhase::runs_items
                    : phase == "c" ? core::MapPhase::collects
                                   : core::MapPhase::waits,
           .items = fields.number<std::uint32_t>("map_items")};
  }
  return core::Membership{.flow = *flow,
                          .node = fields.optional_id<NodeName>("node").value_or(NodeName{}),
                          .index = fields.number<std::uint32_t>("node_index"),
                          .is_optional = fields.has("is_optional"),
                          .is_finalizer = fields.has("is_finalizer"),
                          .cancel_rest = fields.has("cancel_rest"),
                          .is_cancelled_as_rest = fields.has("as_rest"),
                          .needed = fields.optional_number<std::uint32_t>("needed"),
                          .edges_in = count("edges_in", "from", edge_in_bytes),
                          .satisfied = fields.number<std::uint32_t>("satisfied"),
                          .impossible = fields.number<std::uint32_t>("impossible"),
                          .edges_out = count("edges_out", "to", edge_out_bytes),
                          .children = fields.number<std::uint32_t>("children"),
                          .open_children = fields.number<std::uint32_t>("open_children"),
                          .spawned_in = fields.optional_number<std::uint32_t>("spawned_in"),
                          .map = std::move(map),
                          .subflow_turn = fields.optional_number<std::uint32_t>("subflow_turn")};
}

core::Execution read_execution(const ExecutionId& id, Fields& fields) {
  const auto created_at = fields.time("created_at");
  core::Execution execution{
      .id = id,
      .ns = fields.id<Namespace>("namespace"),
      .lane = fields.id<LaneId>("lane_id"),
      .kind = fields.id<Kind>("execution_kind"),
      // Other programs may write a fraction; the whole part is what we tell.
      .priority = static_cast<std::int32_t>(std::strtod(fields.text("priority").c_str(), nullptr)),
      .idempotency_key = fields.optional_id<IdempotencyKey>("idempotency_key"),
      .content_type = fields.optional_id<ContentType>("content_type"),
      .traceparent = fields.optional_id<TraceParent>("traceparent"),
      .created_at = created_at,
      .queued_at = fields.optional_time("queued_at").value_or(created_at),
      .deadline = fields.optional_time("deadline"),
      .retention = fields.optional_millis("retention_ms").value_or(limits::retention_default),
      .started_at = fields.optional_time("started_at"),
      .last_epoch = LeaseEpoch{fields.number<std::uint64_t>("current_lease_epoch")},
      .attempt_count = fields.number<std::uint32_t>("total_attempt_count"),
      .retry_count = fields.number<std::uint32_t>("retry_count"),
      .reclaim_count = fields.number<std::uint32_t>("lease_reclaim_count"),
      .replay_count = fields.number<std::uint32_t>("replay_count"),
      .pending_replay = pending_replay(fields),
      .progress = progress_of(fields),
      .signal_count = fields.number<std::uint32_t>("signal_count"),
      .step_count = fields.number<std::uint32_t>("step_count"),
      .step_bytes = fields.number<std::uint64_t>("step_bytes"),
      .has_streams = fields.has("has_streams"),
      .has_waits = fields.has("has_waits"),
      .waitpoint_expiry = fields.optional_time("waitpoint_expiry"),
      .flow = membership_of(fields)};
  if (fields.has("wake")) execution.wake = wake_in(fields.text("wake"));
  return execution;
}

}  // namespace

std::optional<Wake> wake_in(std::string_view text) {
  constexpr char separator = '\x1f';
  std::array<std::string_view, 3> parts;
  for (auto& part : parts) {
    const auto end = text.find(separator);
    if (end == std::string_view::npos) return std::nullopt;
    part = text.substr(0, end);
    text.remove_prefix(end + 1);
  }
  const auto cause = from_name<WakeCause>(parts[0]);
  const auto at = parse_number<std::int64_t>(parts[1]);
  if (!cause || !at) return std::nullopt;
  return Wake{.suspension_id = SuspensionId::parse(parts[2]).value_or(SuspensionId{}),
              .cause = *cause,
              .at = TimePoint{Millis{*at}},
              .reason = std::string(text)};
}

Result<Record> read_record(const ExecutionId& id, std::vector<Reply> parts) {
  if (parts.size() != 4)
    return fail(Errc::malformed_response, "the answer of ff_get has not the parts it should have");
  Record record;
  for (auto& each : list_in(parts[3])) {
    Fields fields(list_in(each), fmt::format("an attempt at {}", id.str()));
    record.attempts.push_back(read_attempt(fields));
    if (fields.error()) return std::unexpected(*fields.error());
  }
  Fields fields(list_in(parts[0]), fmt::format("execution {}", id.str()));
  auto& execution = record.execution;
  execution = read_execution(id, fields);
  auto tags = list_in(parts[1]);
  for (std::size_t i = 0; i + 1 < tags.size(); i += 2)
    if (const auto* key = tags[i].as_text(), *value = tags[i + 1].as_text(); key && value)
      execution.tags[*key] = *value;
  if (const auto* policy = parts[2].as_text()) execution.policy = from_policy_json(*policy);
  if (!record.attempts.empty()) execution.attempt = record.attempts.back();
  execution.state = state_of(fields, execution);
  if (execution.attempt)
    execution.attempt->timeout_left = fields.optional_millis("attempt_left_ms");
  if (fields.error()) return std::unexpected(*fields.error());
  return record;
}

}  // namespace ff::valkey_store
