#include "store/embedded/disk/records.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "records.pb.h"

namespace ff::embedded {
namespace {

using namespace std::chrono_literals;
using core::t0;
using ::testing::ElementsAre;

std::string id_bytes(std::uint8_t last) {
  const auto uuid = core::uuid_of(last);
  return {uuid.bytes().begin(), uuid.bytes().end()};
}

// An execution that has everything it can have at once.
core::Execution full() {
  auto execution = core::replayed(core::retrying());
  execution.priority = 12;
  execution.tags = {{"app.customer", "42"}, {"app.empty", ""}};
  execution.policy = {
      .retry = RetryPolicy{.max_retries = 7,
                           .backoff = ExponentialBackoff{.initial_delay = 5ms,
                                                         .max_delay = 7s,
                                                         .multiplier = 1.5,
                                                         .jitter = true},
                           .retryable_categories = {"transient", "odd"}},
      .attempt_timeout = 3s,
      .execution_deadline = 2h,
      .max_reclaim_count = 4,
      .max_replay_count = 5,
      .required_capabilities = core::capabilities({"gpu", "region=eu"}),
      .budgets = {BudgetId{core::uuid_of(31)}, BudgetId{core::uuid_of(32)}},
      .quota = QuotaId{core::uuid_of(33)},
      .fairness_key = *FairnessKey::parse("acme"),
      .fairness_weight = 6,
      .max_running = 7,
      .dedup_window = 9s,
      .retention = 77s,
  };
  execution.idempotency_key = *IdempotencyKey::parse("order-4711");
  execution.request_digest = 0xfedcba9876543210;
  execution.queued_at = t0 + 9s;
  execution.deadline = t0 + 2h;
  execution.retention = 77s;
  execution.last_epoch = LeaseEpoch{9};
  execution.attempt_count = 4;
  execution.retry_count = 3;
  execution.reclaim_count = 2;
  execution.replay_count = 1;
  execution.flow = core::Membership{.flow = FlowId{}, .node = *NodeName::parse("build"), .index = 6, .edges_in = 2, .satisfied = 1};
  execution.attempt->cause = "it broke";
  execution.attempt->requested_by = "ops";
  execution.attempt->requested_at = t0 + 1s;
  execution.attempt->timeout_left = 250ms;
  execution.attempt->past_leases.push_back({.lease_id = LeaseId{core::uuid_of(8)},
                                            .epoch = LeaseEpoch{8},
                                            .worker = core::worker(8),
                                            .acquired_at = t0,
                                            .ended_at = t0 + 2s,
                                            .end = core::LeaseEnd::revoked,
                                            .reason = "maintenance"});
  execution.attempt->end = core::AttemptEnd{.at = t0 + 3s,
                                            .outcome = AttemptOutcome::failure,
                                            .reason = "broke",
                                            .category = "transient",
                                            .retry_at = t0 + 4s};
  execution.progress = Progress{.percent = 0, .message = "begun", .at = t0 + 2s};
  return execution;
}

Result<core::Execution> round_trip(const core::Execution& execution) {
  return decode(execution.id, encode(execution));
}

bool refused(std::string_view bytes) {
  const auto decoded = decode(core::test_id(), bytes);
  return !decoded && decoded.error().code == Errc::store_damaged;
}

TEST(Records, BringBackEveryState) {
  auto by_worker = core::cancelled();
  std::get<core::Cancelled>(std::get<core::Ended>(by_worker.state).outcome).by = core::fence(1);
  auto timed = core::active({.attempt_timeout = 5s});
  ASSERT_TRUE(std::get<core::Active>(timed.state).attempt_deadline);
  auto admitted = core::active();
  std::get<core::Active>(admitted.state).token = QuotaTokenId{core::uuid_of(34)};
  auto set_aside = core::granted();
  std::get<core::Granted>(set_aside.state).token = QuotaTokenId{core::uuid_of(35)};
  auto suspended = core::paused();
  suspended.has_waits = true;
  suspended.state = core::Suspended{.id = SuspensionId{core::uuid_of(36)},
                                    .reason = SuspendReason::manual_pause,
                                    .since = t0,
                                    .timeout_at = t0 + 1h,
                                    .on_timeout = TimeoutAction::escalate,
                                    .escalated = true};
  auto skipped = core::waiting();
  skipped.state = core::Ended{.at = t0, .outcome = core::Skipped{"dependency_impossible"}};
  auto delayed_node = core::waiting();
  delayed_node.flow = core::Membership{.flow = FlowId{core::uuid_of(37)}, .edges_in = 1};
  delayed_node.state = core::WaitingChildren{t0 + 1h};
  auto held_back = core::waiting();
  held_back.state = core::Blocked{BlockingReason::paused_by_operator, "its flow is paused", t0};
  std::set<std::size_t> states;
  std::set<std::size_t> outcomes;
  for (const auto& execution :
       {core::waiting(), core::granted(), core::delayed(), core::active(), timed, core::paused(),
        core::waiting_children(), core::lapsed(), core::revoked(), core::completed(),
        core::failed(), core::cancelled(), by_worker, core::expired(), core::replayed(),
        core::retry_delayed(), admitted, set_aside, suspended, skipped,
        delayed_node, held_back}) {
    EXPECT_EQ(round_trip(execution), execution) << core::show(execution);
    states.insert(execution.state.index());
    if (const auto* ended = std::get_if<core::Ended>(&execution.state))
      outcomes.insert(ended->outcome.index());
  }
  EXPECT_EQ(states.size(), std::variant_size_v<core::State>);
  EXPECT_EQ(outcomes.size(), std::variant_size_v<core::Outcome>);
}

TEST(Records, BringBackEveryField) { EXPECT_EQ(round_trip(full()), full()); }

TEST(Records, KeepWhatIsAbsentAbsent) {
  auto execution = core::waiting();
  EXPECT_EQ(round_trip(execution), execution);
  execution.policy.retry = RetryPolicy{.max_retries = 0, .backoff = FixedBackoff{0ms}};
  execution.policy.retention = 0ms;
  execution.progress = Progress{.percent = std::nullopt, .message = "", .at = t0};
  EXPECT_EQ(round_trip(execution), execution);
}

TEST(Records, BringBackAttempts) {
  const auto attempt = *full().attempt;
  EXPECT_EQ(decode_attempt(core::test_id(), encode(attempt)), attempt);
  const auto running = *core::active().attempt;
  EXPECT_EQ(decode_attempt(core::test_id(), encode(running)), running);
}

TEST(Records, BringBackIdempotencyEntriesAndCounts) {
  const auto entry =
      must(decode_idempotency(encode(IdempotencyEntry{.id = core::test_id(), .until = t0 + 1s})));
  EXPECT_EQ(entry.id, core::test_id());
  EXPECT_EQ(entry.until, t0 + 1s);

  CountByState counts{};
  counts[static_cast<std::size_t>(ExecutionState::completed)] = 3;
  counts[static_cast<std::size_t>(ExecutionState::expired)] = -1;
  EXPECT_EQ(decode_ended(encode_ended(counts)), counts);
  counts[static_cast<std::size_t>(ExecutionState::waiting)] = 5;  // that is not what they count
  EXPECT_NE(decode_ended(encode_ended(counts)), counts);
}

TEST(Records, TruncatedRecordsAreRefused) {
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused("not a record"));
  const auto bytes = encode(full());
  EXPECT_TRUE(refused(std::string_view(bytes).substr(0, bytes.size() - 1)));
  EXPECT_FALSE(decode_attempt(core::test_id(), "rubbish"));
  EXPECT_FALSE(decode_idempotency("rubbish"));
  EXPECT_FALSE(decode_ended("rubbish"));
}

// Each makes one thing wrong that no program of ours writes.
TEST(Records, ImpossibleRecordsAreRefused) {
  using Stored = proto::Execution;
  const std::vector<std::pair<const char*, std::function<void(Stored&)>>> damages{
      {"no state", [](Stored& r) { r.clear_state(); }},
      {"namespace", [](Stored& r) { r.set_namespace_("no/slashes"); }},
      {"no lane", [](Stored& r) { r.clear_lane(); }},
      {"kind", [](Stored& r) { r.set_kind("line\nbreak"); }},
      {"idempotency key", [](Stored& r) { r.set_idempotency_key(""); }},
      {"capability", [](Stored& r) { r.mutable_policy()->add_required_capabilities("a,b"); }},
      {"budget", [](Stored& r) { r.mutable_policy()->add_budgets("short"); }},
      {"quota", [](Stored& r) { r.mutable_policy()->set_quota("short"); }},
      {"admission",
       [](Stored& r) {
         r.mutable_granted()->set_worker("w");
         r.mutable_granted()->set_quota_token("short");
       }},
      {"active without an attempt",
       [](Stored& r) {
         r.clear_attempt();
         r.mutable_active();
       }},
      {"granted to nobody", [](Stored& r) { r.mutable_granted(); }},
      {"ended somehow", [](Stored& r) { r.mutable_ended()->clear_outcome(); }},
      {"cancelled by half a fence",
       [](Stored& r) { r.mutable_ended()->mutable_cancelled()->mutable_by()->set_lease_id("x"); }},
      {"attempt type", [](Stored& r) { r.mutable_attempt()->set_type(99); }},
      {"attempt's worker", [](Stored& r) { r.mutable_attempt()->clear_worker(); }},
      {"attempt's fence", [](Stored& r) { r.mutable_attempt()->clear_fence(); }},
      {"attempt's outcome", [](Stored& r) { r.mutable_attempt()->mutable_end()->set_outcome(99); }},
      {"an end that is none",
       [](Stored& r) { r.mutable_attempt()->mutable_end()->set_outcome(0); }},
      {"an end without a lease", [](Stored& r) { r.mutable_attempt()->clear_past_leases(); }},
      {"past lease's end",
       [](Stored& r) { r.mutable_attempt()->mutable_past_leases(0)->set_end(99); }},
      {"past lease's id",
       [](Stored& r) { r.mutable_attempt()->mutable_past_leases(0)->set_lease_id("short"); }},
  };
  proto::Execution good;
  ASSERT_TRUE(good.ParseFromString(encode(full())));
  ASSERT_FALSE(refused(good.SerializeAsString()));
  for (const auto& [what, damage] : damages) {
    auto bad = good;
    damage(bad);
    EXPECT_TRUE(refused(bad.SerializeAsString())) << what;
  }
}

TEST(Records, OfIndexesThatCannotBeAreRefused) {
  proto::Idempotency entry;
  entry.set_uuid("short");
  EXPECT_FALSE(decode_idempotency(entry.SerializeAsString()));
  entry.set_uuid(id_bytes(1));
  EXPECT_TRUE(decode_idempotency(entry.SerializeAsString()));
  entry.set_partition(70'000);
  EXPECT_FALSE(decode_idempotency(entry.SerializeAsString()));

  for (const std::uint32_t state : {0u, 99u}) {  // one that has not ended, one that is not
    proto::EndedCount counts;
    counts.add_counts()->set_state(state);
    EXPECT_FALSE(decode_ended(counts.SerializeAsString())) << state;
  }
}

// ---- Format 1 ------------------------------------------------------------------------------------

proto::Execution first_format(std::uint32_t attempts = 0) {
  proto::Execution record;
  record.set_namespace_("tenant");
  record.set_lane("mail");
  record.set_kind("send");
  record.set_priority(3);
  record.set_created_at_ms(1'000);
  record.set_attempt_count(attempts);
  record.set_last_epoch(attempts);
  if (attempts > 0) record.set_started_at_ms(2'000);
  record.mutable_waiting();
  return record;
}

void set_first_fence(proto::Fence& fence) {
  fence.set_lease_id(id_bytes(5));
  fence.set_lease_epoch(1);
  fence.set_attempt_id(id_bytes(6));
}
const Fence first_held{.lease_id = LeaseId{core::uuid_of(5)},
                       .lease_epoch = LeaseEpoch{1},
                       .attempt_id = AttemptId{core::uuid_of(6)}};

core::Execution upgraded(const proto::Execution& record) {
  return must(decode(core::test_id(), record.SerializeAsString()));
}
TimePoint at(Millis::rep ms) { return TimePoint{Millis{ms}}; }

TEST(RecordsOfFormat1, WaitingExecutionsGetTheirPlaceInTheQueue) {
  const auto execution = upgraded(first_format());
  EXPECT_EQ(execution.queued_at, at(1'000));
  EXPECT_EQ(execution.created_at, at(1'000));
  EXPECT_EQ(execution.retention, limits::retention_default);
  EXPECT_EQ(execution.policy, Policy{});
  EXPECT_EQ(core::public_state(execution), ExecutionState::waiting);
  EXPECT_FALSE(execution.attempt);
}

TEST(RecordsOfFormat1, RunningExecutionsKeepTheirLease) {
  auto record = first_format(1);
  auto& lease = *record.mutable_active()->mutable_lease();
  set_first_fence(*lease.mutable_fence());
  lease.set_worker("w1");
  lease.set_expires_at_ms(9'000);
  const auto execution = upgraded(record);
  const auto checked =
      core::apply(execution, Complete{.id = core::test_id(), .fence = first_held}, at(8'000));
  ASSERT_TRUE(checked);
  EXPECT_EQ(std::get<core::Active>(execution.state).lease.acquired_at, at(2'000));
  EXPECT_FALSE(
      core::apply(execution, Complete{.id = core::test_id(), .fence = first_held}, at(9'000)));
}

TEST(RecordsOfFormat1, InterruptedExecutionsAreClaimedAsAReclaim) {
  auto record = first_format(1);
  record.mutable_interrupted();
  const auto execution = upgraded(record);
  EXPECT_EQ(core::public_state(execution), ExecutionState::active);
  EXPECT_EQ(core::next_attempt_type(execution), AttemptType::reclaim);
}

TEST(RecordsOfFormat1, EndedExecutionsGiveARepeatedEndTheSameReply) {
  auto record = first_format(1);
  record.mutable_completed_v1()->set_at_ms(3'000);
  set_first_fence(*record.mutable_completed_v1()->mutable_by());
  const auto completed = core::apply(
      upgraded(record), Complete{.id = core::test_id(), .fence = first_held}, at(9'000));
  ASSERT_TRUE(completed);
  EXPECT_EQ(completed->reply.state, ExecutionState::completed);

  record = first_format(1);
  record.mutable_failed_v1()->set_at_ms(3'000);
  record.mutable_failed_v1()->set_reason("broke");
  set_first_fence(*record.mutable_failed_v1()->mutable_by());
  const auto execution = upgraded(record);
  const auto failed = core::apply(
      execution, Fail{.id = core::test_id(), .fence = first_held, .reason = "broke"}, at(9'000));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->reply.state, ExecutionState::failed);
  EXPECT_EQ(core::info_of(execution).failure_reason, "broke");
}

TEST(RecordsOfFormat1, ExecutionsReclaimedTooOftenStayFailed) {
  auto record = first_format(3);
  record.set_reclaim_count(2);
  record.mutable_failed_v1()->set_at_ms(3'000);
  record.mutable_failed_v1()->set_reason("reclaimed too often");
  const auto execution = upgraded(record);
  EXPECT_EQ(core::public_state(execution), ExecutionState::failed);
  EXPECT_EQ(execution.attempt->index, 2u);
  EXPECT_EQ(execution.attempt->type, AttemptType::reclaim);
}

TEST(RecordsOfFormat1, AreReadBackInTheNewForm) {
  for (const std::uint32_t attempts : {0u, 1u, 2u}) {
    auto record = first_format(attempts);
    if (attempts > 0) record.mutable_failed_v1()->set_at_ms(3'000);
    const auto execution = upgraded(record);
    EXPECT_EQ(round_trip(execution), execution) << attempts;
  }
}

}  // namespace
}  // namespace ff::embedded
