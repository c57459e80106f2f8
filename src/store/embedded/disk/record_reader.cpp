#include "store/embedded/disk/record_reader.hpp"

#include <limits>

namespace ff::embedded {
namespace {

TimePoint from_ms(std::int64_t ms) { return TimePoint{Millis{ms}}; }

}  // namespace

Uuid RecordReader::uuid(const std::string& stored) {
  Uuid::Bytes bytes{};
  if (stored.size() != bytes.size()) {
    ok_ = false;
    return {};
  }
  std::copy(stored.begin(), stored.end(), bytes.begin());
  return Uuid{bytes};
}

ExecutionId RecordReader::execution_id(std::uint32_t partition, const std::string& stored) {
  if (partition > std::numeric_limits<PartitionIndex>::max()) ok_ = false;
  return {static_cast<PartitionIndex>(partition), uuid(stored)};
}

Fence RecordReader::fence(const proto::Fence& stored) {
  return {.lease_id = LeaseId{uuid(stored.lease_id())},
          .lease_epoch = LeaseEpoch{stored.lease_epoch()},
          .attempt_id = AttemptId{uuid(stored.attempt_id())}};
}

core::PastLease RecordReader::past_lease(const proto::PastLease& stored) {
  if (stored.end() > std::to_underlying(core::LeaseEnd::suspended)) ok_ = false;
  return {.lease_id = LeaseId{uuid(stored.lease_id())},
          .epoch = LeaseEpoch{stored.epoch()},
          .worker = text<WorkerId>(stored.worker()),
          .acquired_at = from_ms(stored.acquired_at_ms()),
          .ended_at = from_ms(stored.ended_at_ms()),
          .end = static_cast<core::LeaseEnd>(stored.end()),
          .reason = stored.reason()};
}

core::AttemptEnd RecordReader::attempt_end(const proto::AttemptEnd& stored) {
  core::AttemptEnd end{.at = from_ms(stored.at_ms()),
                       .outcome = named<AttemptOutcome>(stored.outcome()),
                       .reason = stored.reason(),
                       .category = stored.category()};
  if (end.outcome == AttemptOutcome::running || end.outcome == AttemptOutcome::paused) ok_ = false;
  if (stored.has_retry_at_ms()) end.retry_at = from_ms(stored.retry_at_ms());
  return end;
}

core::Attempt RecordReader::attempt(const proto::Attempt& stored) {
  core::Attempt attempt{.index = stored.index(),
                        .type = named<AttemptType>(stored.type()),
                        .cause = stored.cause(),
                        .fence = fence(stored.fence()),
                        .worker = text<WorkerId>(stored.worker()),
                        .started_at = from_ms(stored.started_at_ms())};
  if (stored.has_requested_by()) attempt.requested_by = stored.requested_by();
  if (stored.has_requested_at_ms()) attempt.requested_at = from_ms(stored.requested_at_ms());
  if (stored.has_timeout_left_ms()) attempt.timeout_left = Millis{stored.timeout_left_ms()};
  for (const auto& lease : stored.past_leases()) attempt.past_leases.push_back(past_lease(lease));
  if (stored.has_end()) attempt.end = attempt_end(stored.end());
  // An attempt that has ended was leased before.
  if (attempt.end && attempt.past_leases.empty()) ok_ = false;
  return attempt;
}

RetryPolicy RecordReader::retry(const proto::RetryPolicy& stored) {
  RetryPolicy retry{.max_retries = stored.max_retries()};
  if (stored.has_fixed())
    retry.backoff = FixedBackoff{Millis{stored.fixed().delay_ms()}};
  else
    retry.backoff =
        ExponentialBackoff{.initial_delay = Millis{stored.exponential().initial_delay_ms()},
                           .max_delay = Millis{stored.exponential().max_delay_ms()},
                           .multiplier = stored.exponential().multiplier(),
                           .jitter = stored.exponential().jitter()};
  retry.retryable_categories.assign(stored.retryable_categories().begin(),
                                    stored.retryable_categories().end());
  return retry;
}

Policy RecordReader::policy(const proto::Policy& stored) {
  auto capabilities = CapabilitySet::parse(
      {stored.required_capabilities().begin(), stored.required_capabilities().end()});
  if (!capabilities) ok_ = false;
  Policy policy{.max_reclaim_count = stored.max_reclaim_count(),
                .max_replay_count = stored.max_replay_count(),
                .required_capabilities = capabilities ? *capabilities : CapabilitySet{},
                .dedup_window = Millis{stored.dedup_window_ms()}};
  if (stored.has_retry()) policy.retry = retry(stored.retry());
  if (stored.has_attempt_timeout_ms()) policy.attempt_timeout = Millis{stored.attempt_timeout_ms()};
  if (stored.has_execution_deadline_ms())
    policy.execution_deadline = Millis{stored.execution_deadline_ms()};
  if (stored.has_retention_ms()) policy.retention = Millis{stored.retention_ms()};
  for (const auto& budget : stored.budgets()) policy.budgets.emplace_back(uuid(budget));
  if (stored.has_quota()) policy.quota = QuotaId{uuid(stored.quota())};
  if (stored.has_max_signals()) policy.max_signals = stored.max_signals();
  if (stored.has_fairness_key()) policy.fairness_key = text<FairnessKey>(stored.fairness_key());
  if (stored.has_fairness_weight()) policy.fairness_weight = stored.fairness_weight();
  if (stored.has_max_running()) policy.max_running = stored.max_running();
  return policy;
}

core::State RecordReader::active(const proto::Execution::Active& stored,
                                 const core::Execution& execution) {
  if (!execution.attempt) {
    ok_ = false;
    return core::Waiting{};
  }
  const bool is_format_1 = stored.lease().has_fence();
  core::Active active{.lease = {.fence = execution.attempt->fence,
                                .worker = execution.attempt->worker,
                                .acquired_at = is_format_1
                                                   ? execution.attempt->started_at
                                                   : from_ms(stored.lease().acquired_at_ms()),
                                .expires_at = from_ms(stored.lease().expires_at_ms())}};
  if (stored.has_attempt_deadline_ms())
    active.attempt_deadline = from_ms(stored.attempt_deadline_ms());
  if (stored.has_quota_token()) active.token = QuotaTokenId{uuid(stored.quota_token())};
  return active;
}

core::State RecordReader::granted(const proto::Execution::Granted& stored) {
  core::Granted granted{.worker = text<WorkerId>(stored.worker()),
                        .expires_at = from_ms(stored.expires_at_ms())};
  if (stored.has_quota_token()) granted.token = QuotaTokenId{uuid(stored.quota_token())};
  return granted;
}

core::State RecordReader::suspended(const proto::Execution::Suspended& stored) {
  core::Suspended suspended{.id = SuspensionId{uuid(stored.id())},
                            .reason = named<SuspendReason>(stored.reason()),
                            .since = from_ms(stored.since_ms()),
                            .on_timeout = named<TimeoutAction>(stored.on_timeout()),
                            .escalated = stored.escalated()};
  if (stored.has_timeout_at_ms()) suspended.timeout_at = from_ms(stored.timeout_at_ms());
  return suspended;
}

core::State RecordReader::ended(const proto::Execution::Ended& stored) {
  using Stored = proto::Execution::Ended;
  core::Ended ended{.at = from_ms(stored.at_ms()), .outcome = core::Completed{}};
  switch (stored.outcome_case()) {
    case Stored::kCompleted:
      if (stored.completed().has_content_type())
        ended.outcome = core::Completed{text<ContentType>(stored.completed().content_type())};
      break;
    case Stored::kFailed:
      ended.outcome =
          core::Failed{.reason = stored.failed().reason(), .category = stored.failed().category()};
      break;
    case Stored::kCancelled: {
      core::Cancelled cancelled{.reason = stored.cancelled().reason()};
      if (stored.cancelled().has_by()) cancelled.by = fence(stored.cancelled().by());
      ended.outcome = std::move(cancelled);
      break;
    }
    case Stored::kExpired: ended.outcome = core::Expired{stored.expired().reason()}; break;
    case Stored::kSkipped: ended.outcome = core::Skipped{stored.skipped().reason()}; break;
    case Stored::OUTCOME_NOT_SET: ok_ = false; break;
  }
  return ended;
}

// Version 0.1 stored why an execution waits; that is derived. A flow that is paused blocks its nodes.
core::State RecordReader::blocked(const proto::Execution::Blocked& stored) {
  const auto reason = named<BlockingReason>(stored.reason());
  if (!core::is_pause(reason)) return core::Waiting{};
  return core::Blocked{
      .reason = reason, .detail = stored.detail(), .since = from_ms(stored.since_ms())};
}

core::State RecordReader::waiting_children(const proto::Execution::WaitingChildren& stored) {
  core::WaitingChildren waiting;
  if (stored.has_delay_until_ms()) waiting.delay_until = from_ms(stored.delay_until_ms());
  return waiting;
}

core::MapState RecordReader::map_state(const proto::Execution::Membership::Map& stored) {
  constexpr auto phases = std::to_underlying(core::MapPhase::collects);
  ok_ &= stored.phase() <= phases;
  core::MapState map{.over = {.input = text<NodeName>(stored.input()),
                              .tolerated_failures = stored.tolerated_failures()},
                     .phase = static_cast<core::MapPhase>(stored.phase()),
                     .items = stored.items()};
  if (stored.has_max_parallel()) map.over.max_parallel = stored.max_parallel();
  return map;
}

core::Membership RecordReader::membership(const proto::Execution::Membership& stored) {
  core::Membership node{.flow = FlowId{uuid(stored.flow())},
                        .index = stored.index(),
                        .is_optional = stored.is_optional(),
                        .is_finalizer = stored.is_finalizer(),
                        .cancel_rest = stored.cancel_rest(),
                        .is_cancelled_as_rest = stored.is_cancelled_as_rest(),
                        .edges_in = stored.edges_in(),
                        .satisfied = stored.satisfied(),
                        .impossible = stored.impossible(),
                        .edges_out = stored.edges_out(),
                        .children = stored.children(),
                        .open_children = stored.open_children(),
                        .staged = stored.staged()};
  if (!stored.node().empty()) node.node = text<NodeName>(stored.node());
  if (stored.has_needed()) node.needed = stored.needed();
  if (stored.has_spawned_in()) node.spawned_in = stored.spawned_in();
  if (stored.has_map()) node.map = map_state(stored.map());
  if (stored.has_subflow_turn()) node.subflow_turn = stored.subflow_turn();
  ok_ &= node.children + node.staged <= node.edges_in && node.open_children <= node.children &&
         node.satisfied + node.impossible <= node.edges_in - node.children - node.staged;
  return node;
}

core::State RecordReader::state(const proto::Execution& stored, const core::Execution& execution) {
  using Stored = proto::Execution;
  switch (stored.state_case()) {
    case Stored::kWaiting:
    case Stored::kInterrupted: return core::Waiting{};
    case Stored::kActive: return active(stored.active(), execution);
    case Stored::kGranted: return granted(stored.granted());
    case Stored::kBlocked: return blocked(stored.blocked());
    case Stored::kDelayed: return core::Delayed{from_ms(stored.delayed().until_ms())};
    case Stored::kWaitingChildren: return waiting_children(stored.waiting_children());
    case Stored::kSuspended: return suspended(stored.suspended());
    case Stored::kEnded: return ended(stored.ended());
    case Stored::kCompletedV1:
      return core::Ended{.at = from_ms(stored.completed_v1().at_ms()),
                         .outcome = core::Completed{}};
    case Stored::kFailedV1:
      return core::Ended{.at = from_ms(stored.failed_v1().at_ms()),
                         .outcome = core::Failed{.reason = stored.failed_v1().reason(),
                                                 .category = stored.failed_v1().category()}};
    case Stored::STATE_NOT_SET: break;
  }
  ok_ = false;
  return core::Waiting{};
}

void RecordReader::upgrade(const proto::Execution& stored, core::Execution& execution) {
  execution.queued_at = execution.created_at;
  execution.retention = limits::retention_default;
  if (execution.attempt_count == 0) return;

  core::Attempt attempt{
      .index = execution.attempt_count - 1,
      .type = execution.reclaim_count > 0 ? AttemptType::reclaim : AttemptType::initial,
      .fence = {.lease_id = {}, .lease_epoch = execution.last_epoch, .attempt_id = {}},
      .worker = *WorkerId::parse("unknown"),
      .started_at = execution.started_at.value_or(execution.created_at)};
  const auto end_with = [&](core::LeaseEnd how, core::AttemptEnd end) {
    attempt.past_leases.push_back({.lease_id = attempt.fence.lease_id,
                                   .epoch = execution.last_epoch,
                                   .worker = attempt.worker,
                                   .acquired_at = attempt.started_at,
                                   .ended_at = end.at,
                                   .end = how});
    attempt.end = std::move(end);
  };
  if (stored.has_active()) {
    attempt.fence = fence(stored.active().lease().fence());
    attempt.worker = text<WorkerId>(stored.active().lease().worker());
  } else if (stored.has_interrupted()) {
    end_with(core::LeaseEnd::expired, {.at = attempt.started_at,
                                       .outcome = AttemptOutcome::interrupted,
                                       .reason = "lease expired"});
  } else if (stored.has_completed_v1()) {
    attempt.fence = fence(stored.completed_v1().by());
    end_with(core::LeaseEnd::completed,
             {.at = from_ms(stored.completed_v1().at_ms()), .outcome = AttemptOutcome::success});
  } else if (stored.has_failed_v1()) {
    const auto& failed = stored.failed_v1();
    if (failed.has_by()) attempt.fence = fence(failed.by());
    end_with(failed.has_by() ? core::LeaseEnd::failed_terminal : core::LeaseEnd::expired,
             {.at = from_ms(failed.at_ms()),
              .outcome = AttemptOutcome::failure,
              .reason = failed.reason(),
              .category = failed.category()});
  }
  execution.attempt = std::move(attempt);
}

core::Execution RecordReader::execution(const ExecutionId& id, const proto::Execution& stored) {
  core::Execution execution{.id = id,
                            .ns = text<Namespace>(stored.namespace_()),
                            .lane = text<LaneId>(stored.lane()),
                            .kind = text<Kind>(stored.kind()),
                            .priority = stored.priority(),
                            .request_digest = stored.request_digest(),
                            .created_at = from_ms(stored.created_at_ms()),
                            .queued_at = from_ms(stored.queued_at_ms()),
                            .retention = Millis{stored.retention_ms()},
                            .last_epoch = LeaseEpoch{stored.last_epoch()},
                            .attempt_count = stored.attempt_count(),
                            .retry_count = stored.retry_count(),
                            .reclaim_count = stored.reclaim_count(),
                            .replay_count = stored.replay_count(),
                            .signal_count = stored.signal_count(),
                            .step_count = stored.step_count(),
                            .step_bytes = stored.step_bytes(),
                            .has_streams = stored.has_streams(),
                            .has_waits = stored.has_waits()};
  for (const auto& tag : stored.tags()) execution.tags.emplace(tag.key(), tag.value());
  if (stored.has_policy()) execution.policy = policy(stored.policy());
  if (stored.has_idempotency_key())
    execution.idempotency_key = text<IdempotencyKey>(stored.idempotency_key());
  if (stored.has_content_type()) execution.content_type = text<ContentType>(stored.content_type());
  if (stored.has_traceparent()) execution.traceparent = text<TraceParent>(stored.traceparent());
  if (stored.has_deadline_ms()) execution.deadline = from_ms(stored.deadline_ms());
  if (stored.has_started_at_ms()) execution.started_at = from_ms(stored.started_at_ms());
  if (stored.has_attempt()) execution.attempt = attempt(stored.attempt());
  if (stored.has_pending_replay())
    execution.pending_replay = {.reason = stored.pending_replay().reason(),
                                .requested_by = stored.pending_replay().requested_by(),
                                .at = from_ms(stored.pending_replay().at_ms())};
  if (stored.has_progress()) {
    execution.progress =
        Progress{.message = stored.progress().message(), .at = from_ms(stored.progress().at_ms())};
    if (stored.progress().has_percent()) execution.progress->percent = stored.progress().percent();
  }
  if (stored.has_waitpoint_expiry_ms())
    execution.waitpoint_expiry = from_ms(stored.waitpoint_expiry_ms());
  if (stored.has_wake())
    execution.wake = Wake{.suspension_id = SuspensionId{uuid(stored.wake().suspension_id())},
                          .cause = named<WakeCause>(stored.wake().cause()),
                          .at = from_ms(stored.wake().at_ms()),
                          .reason = stored.wake().reason()};
  if (stored.has_flow()) execution.flow = membership(stored.flow());
  if (stored.queued_at_ms() == 0) upgrade(stored, execution);
  execution.state = state(stored, execution);
  return execution;
}

}  // namespace ff::embedded
