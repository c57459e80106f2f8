#include "core/transitions.hpp"

#include <flowfabric/limits.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/overloaded.hpp"

namespace ff::core {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint t0{Millis{1'000'000}};
constexpr Millis ttl = 30s;

ExecutionId test_id() { return *ExecutionId::parse("{fp:7}:01920000-0000-7000-8000-000000000001"); }

Uuid uuid_of(std::uint8_t last) {
  Uuid::Bytes bytes{};
  bytes[15] = last;
  return Uuid{bytes};
}

Fence fence(std::uint8_t lease) {
  return {.lease_id = LeaseId{uuid_of(lease)},
          .lease_epoch = LeaseEpoch{lease},
          .attempt_id = AttemptId{uuid_of(lease)}};
}

Execution waiting() {
  return {.id = test_id(),
          .ns = default_namespace(),
          .lane = default_lane(),
          .kind = *Kind::parse("greet"),
          .created_at = t0};
}

Create create(std::string payload) {
  return {.id = test_id(),
          .submit = {.kind = *Kind::parse("greet"), .priority = 5, .payload = std::move(payload)}};
}

LeaseGrant grant(std::uint8_t lease) {
  return {.id = test_id(),
          .worker = *WorkerId::parse(fmt::format("w{}", lease)),
          .lease_id = LeaseId{uuid_of(lease)},
          .attempt_id = AttemptId{uuid_of(lease)},
          .lease_ttl = ttl};
}

Execution after(const auto& decision) { return *decision->next; }
Execution active() { return after(apply(waiting(), grant(1), t0)); }
Execution interrupted() { return after(apply(active(), LeaseExpire{test_id()}, t0 + ttl)); }
Execution completed() {
  return after(apply(active(), Complete{test_id(), fence(1), "r"}, t0 + 1s));
}
Execution failed() {
  return after(apply(active(), Fail{test_id(), fence(1), "broke", "permanent"}, t0 + 1s));
}

std::string show(const Execution& execution) {
  return std::visit(
      Overloaded{
          [](const Waiting&) -> std::string { return "waiting"; },
          [](const Active& a) {
            return fmt::format("active({}#{} until +{})", a.lease.worker.str(),
                               std::to_underlying(a.lease.fence.lease_epoch),
                               (a.lease.expires_at - t0).count());
          },
          [](const Interrupted&) -> std::string { return "interrupted"; },
          [](const Completed& c) { return fmt::format("completed(+{})", (c.at - t0).count()); },
          [](const Failed& f) { return fmt::format("failed({}, {})", f.reason, f.category); },
      },
      execution.state);
}

// "before -> after [event]", "before: unchanged" or "before: error".
template <class Command>
std::string trace(const Execution& before, Command command, TimePoint now) {
  const auto decision = apply(before, std::move(command), now);
  if (!decision) return show(before) + ": " + std::string(decision.error().name());
  if (!decision->next) return show(before) + ": unchanged";
  const auto event = decision->event ? to_string(*decision->event) : "";
  return fmt::format("{} -> {} [{}]", show(before), show(*decision->next), event);
}

// ---- Create

TEST(Create, MakesAWaitingExecution) {
  const auto created = apply(std::nullopt, create("in"), t0);
  EXPECT_EQ(created->reply, (SubmitReply{test_id(), false, ExecutionState::waiting}));
  EXPECT_EQ(show(*created->next), "waiting");
  EXPECT_EQ(created->payload, "in");
  EXPECT_EQ(created->event, EventType::submitted);
}

TEST(Create, OfAKnownIdChangesNothing) {
  auto known = completed();
  known.priority = 5;
  const auto again = apply(Existing{known, "in"}, create("in"), t0 + 1h);
  EXPECT_EQ(again->reply, (SubmitReply{test_id(), true, ExecutionState::completed}));
  EXPECT_FALSE(again->next);
  EXPECT_FALSE(again->payload);
}

TEST(Create, OfAKnownIdWithOtherContentIsRefused) {
  auto known = waiting();
  known.priority = 5;
  const auto refused = [&](auto change) {
    auto command = create("in");
    change(command.submit);
    const auto decision = apply(Existing{known, "in"}, command, t0);
    return !decision && decision.error().code == Errc::duplicate_mismatch;
  };
  EXPECT_FALSE(refused([](Submit&) {}));
  EXPECT_TRUE(refused([](Submit& s) { s.payload = "other"; }));
  EXPECT_TRUE(refused([](Submit& s) { s.priority = 6; }));
  EXPECT_TRUE(refused([](Submit& s) { s.kind = *Kind::parse("other"); }));
  EXPECT_TRUE(refused([](Submit& s) { s.lane = *LaneId::parse("other"); }));
  EXPECT_TRUE(refused([](Submit& s) { s.ns = *Namespace::parse("other"); }));
}

// ---- Lease

TEST(LeaseGrant, TakesWhatIsReadyAndNothingElse) {
  EXPECT_EQ(trace(waiting(), grant(1), t0), "waiting -> active(w1#1 until +30000) [claimed]");
  EXPECT_EQ(trace(interrupted(), grant(2), t0 + 40s),
            "interrupted -> active(w2#2 until +70000) [claimed]");
  EXPECT_EQ(trace(active(), grant(2), t0 + 40s),
            "active(w1#1 until +30000): execution_not_leaseable");
  EXPECT_EQ(trace(completed(), grant(2), t0), "completed(+1000): execution_not_leaseable");
  EXPECT_EQ(trace(failed(), grant(2), t0), "failed(broke, permanent): execution_not_leaseable");
}

TEST(LeaseGrant, CountsAttemptsAndReclaims) {
  const auto first = active();
  EXPECT_EQ(first.attempt_count, 1u);
  EXPECT_EQ(first.reclaim_count, 0u);
  EXPECT_EQ(first.started_at, t0);
  const auto second = apply(interrupted(), grant(2), t0 + 40s);
  EXPECT_EQ(second->next->attempt_count, 2u);
  EXPECT_EQ(second->next->reclaim_count, 1u);
  EXPECT_EQ(second->next->started_at, t0);
  EXPECT_EQ(second->reply.attempt_index, 1u);
  EXPECT_EQ(second->reply.fence, fence(2));
}

TEST(LeaseExpire, TakesBackOnlyWhatHasRunOut) {
  const LeaseExpire expire{test_id()};
  EXPECT_EQ(trace(active(), expire, t0 + ttl - 1ms), "active(w1#1 until +30000): unchanged");
  EXPECT_EQ(trace(active(), expire, t0 + ttl),
            "active(w1#1 until +30000) -> interrupted [lease_expired]");
  EXPECT_EQ(trace(interrupted(), expire, t0 + 1h), "interrupted: unchanged");
  EXPECT_EQ(trace(waiting(), expire, t0 + 1h), "waiting: unchanged");
  EXPECT_EQ(trace(completed(), expire, t0 + 1h), "completed(+1000): unchanged");
}

TEST(LeaseExpire, GivesUpAfterTooManyLostWorkers) {
  auto unlucky = active();
  unlucky.reclaim_count = limits::reclaim_count_max;
  EXPECT_EQ(
      trace(unlucky, LeaseExpire{test_id()}, t0 + ttl),
      "active(w1#1 until +30000) -> failed(max_reclaims_exceeded: 101 workers let its lease run "
      "out, infra_crash) [failed]");
}

// ---- Worker's changes

TEST(Renew, MovesTheExpiryEitherWay) {
  EXPECT_EQ(trace(active(), Renew{test_id(), fence(1), 60s}, t0 + 10s),
            "active(w1#1 until +30000) -> active(w1#1 until +70000) []");
  EXPECT_EQ(trace(active(), Renew{test_id(), fence(1), 5s}, t0 + 10s),
            "active(w1#1 until +30000) -> active(w1#1 until +15000) []");
}

TEST(Complete, EndsWithTheResult) {
  const auto decision = apply(active(), Complete{test_id(), fence(1), "out"}, t0 + 2s);
  EXPECT_EQ(show(*decision->next), "completed(+2000)");
  EXPECT_EQ(decision->result, "out");
  EXPECT_EQ(decision->event, EventType::completed);
}

TEST(Complete, RepeatedWithItsFenceAnswersAsTheFirstTime) {
  const auto again = apply(completed(), Complete{test_id(), fence(1), "other"}, t0 + 1h);
  EXPECT_EQ(again->reply.state, ExecutionState::completed);
  EXPECT_FALSE(again->next);
  EXPECT_FALSE(again->result);
}

TEST(Fail, EndsWithTheReason) {
  EXPECT_EQ(trace(active(), Fail{test_id(), fence(1), "broke", "permanent"}, t0 + 2s),
            "active(w1#1 until +30000) -> failed(broke, permanent) [failed]");
}

TEST(Fail, RepeatedWithItsFenceAnswersAsTheFirstTime) {
  EXPECT_EQ(trace(failed(), Fail{test_id(), fence(1), "other", ""}, t0 + 1h),
            "failed(broke, permanent): unchanged");
}

// Every change by a worker passes the same check, in the same order.
template <class Command>
class FencedChange : public ::testing::Test {};
using FencedChanges = ::testing::Types<Renew, Complete, Fail>;
TYPED_TEST_SUITE(FencedChange, FencedChanges);

TYPED_TEST(FencedChange, IsRefusedWithoutALiveLease) {
  const auto change = [](std::uint8_t lease) {
    TypeParam command;
    command.id = test_id();
    command.fence = fence(lease);
    return command;
  };
  const auto other_attempt = [&] {
    auto command = change(1);
    command.fence.attempt_id = AttemptId{uuid_of(9)};
    return command;
  };
  EXPECT_EQ(trace(waiting(), change(1), t0), "waiting: execution_not_active");
  EXPECT_EQ(trace(active(), change(2), t0), "active(w1#1 until +30000): stale_lease");
  EXPECT_EQ(trace(active(), other_attempt(), t0), "active(w1#1 until +30000): stale_lease");
  EXPECT_EQ(trace(active(), change(1), t0 + ttl), "active(w1#1 until +30000): lease_expired");
  EXPECT_EQ(trace(active(), change(2), t0 + ttl), "active(w1#1 until +30000): lease_expired");
  EXPECT_EQ(trace(interrupted(), change(1), t0 + ttl), "interrupted: lease_expired");
  EXPECT_EQ(trace(completed(), change(2), t0), "completed(+1000): execution_not_active");
  EXPECT_EQ(trace(failed(), change(2), t0), "failed(broke, permanent): execution_not_active");
}

// ---- What is derived

TEST(Placement, IsOnePlaceForEveryState) {
  EXPECT_EQ(placement(waiting()), Placement{Ready{t0.time_since_epoch().count()}});
  EXPECT_EQ(placement(active()), Placement{Leased{t0 + ttl}});
  EXPECT_EQ(placement(interrupted()), Placement{Ready{t0.time_since_epoch().count()}});
  EXPECT_EQ(placement(completed()), Placement{Ended{}});
  EXPECT_EQ(placement(failed()), Placement{Ended{}});
}

TEST(ReadyScore, FollowsTheContract) {
  EXPECT_EQ(ready_score(5, TimePoint{Millis{1794765390093}}), -3205234609907);
  EXPECT_EQ(ready_score(9000, TimePoint{Millis{1794765435074}}), -8998205234564926);
}

TEST(InfoOf, ShowsTheLeaseOnlyWhileItIsHeld) {
  EXPECT_EQ(info_of(active()).worker->str(), "w1");
  EXPECT_EQ(info_of(active()).lease_expires_at, t0 + ttl);
  EXPECT_EQ(info_of(interrupted()).worker, std::nullopt);
  EXPECT_EQ(info_of(interrupted()).state, ExecutionState::active);
  EXPECT_EQ(info_of(failed()).failure_reason, "broke");
  EXPECT_EQ(info_of(failed()).completed_at, t0 + 1s);
}

TEST(ReadResult, IsThereOnlyAfterSuccess) {
  EXPECT_EQ(read_result(completed(), "r"), ResultBytes{"r"});
  EXPECT_EQ(read_result(active(), "").error().code, Errc::execution_not_terminal);
  EXPECT_EQ(read_result(failed(), "").error().code, Errc::execution_failed);
  EXPECT_THAT(read_result(failed(), "").error().message, ::testing::EndsWith("failed: broke"));
}

}  // namespace
}  // namespace ff::core
