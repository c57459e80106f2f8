#include "core/test_support.hpp"

namespace ff::core {
namespace {

// Every change by a worker passes the same check, in the same order.
template <class Command>
class FencedChange : public ::testing::Test {
 public:
  static Command change(Fence fence) {
    Command command;
    command.id = test_id();
    command.fence = fence;
    if constexpr (std::is_same_v<Command, Renew>) command.lease_ttl = ttl;
    return command;
  }
  static std::string tried(const Execution& execution, Fence fence, TimePoint now) {
    return verdict(apply(execution, change(fence), now));
  }
};
using FencedChanges =
    ::testing::Types<Renew, UpdateProgress, Complete, Fail, Delay, WaitForChildren, Cancel>;
TYPED_TEST_SUITE(FencedChange, FencedChanges);

TYPED_TEST(FencedChange, NeedsALeaseThatIsHeld) {
  const auto tried = TestFixture::tried;
  EXPECT_EQ(tried(active(), fence(1), t0 + ttl - 1ms), "ok");
  for (const auto& unheld : {waiting(), granted(), delayed(), paused(), waiting_children(),
                             retry_delayed(), replayed(), expired()})
    EXPECT_EQ(tried(unheld, fence(9), t0 + 2s), "execution_not_active") << show(unheld);
  for (const auto& ended : {completed(), failed(), cancelled()})
    EXPECT_EQ(tried(ended, fence(9), t0 + 2s), "execution_not_active") << show(ended);
}

TYPED_TEST(FencedChange, IsRefusedAfterTheLeaseWasRevoked) {
  const auto tried = TestFixture::tried;
  EXPECT_EQ(tried(revoked(), fence(1), t0 + 2s), "lease_revoked");
  EXPECT_EQ(tried(revoked(), fence(9), t0 + 1h), "lease_revoked");
  EXPECT_EQ(tried(after(apply(revoked(), grant(2), t0 + 2s)), fence(1), t0 + 2s), "lease_revoked");
}

TYPED_TEST(FencedChange, IsRefusedFromTheInstantOfExpiryOn) {
  const auto tried = TestFixture::tried;
  EXPECT_EQ(tried(active(), fence(1), t0 + ttl), "lease_expired");
  EXPECT_EQ(tried(active(), fence(9), t0 + ttl), "lease_expired");
  EXPECT_EQ(tried(lapsed(), fence(1), t0 + 1s), "lease_expired");
  EXPECT_EQ(tried(lapsed(), fence(9), t0 + 1s), "lease_expired");
}

TYPED_TEST(FencedChange, IsRefusedIfAnyPartOfTheFenceDiffers) {
  const auto tried = TestFixture::tried;
  auto other_lease = fence(1);
  other_lease.lease_id = LeaseId{uuid_of(2)};
  auto other_epoch = fence(1);
  other_epoch.lease_epoch = LeaseEpoch{2};
  auto other_attempt = fence(1);
  other_attempt.attempt_id = AttemptId{uuid_of(2)};
  for (const auto& other : {other_lease, other_epoch, other_attempt})
    EXPECT_EQ(tried(active(), other, t0 + 1s), "stale_lease");
}

TYPED_TEST(FencedChange, IsRefusedOnceAnotherWorkerHasIt) {
  const auto tried = TestFixture::tried;
  const auto reclaimed = after(apply(lapsed(), claim(2), t0 + 2s));
  EXPECT_EQ(tried(reclaimed, fence(1), t0 + 3s), "stale_lease");
  const auto resumed =
      after(apply(after(apply(paused(), fire(TimerKind::delay), t0 + 60s)), claim(2), t0 + 60s));
  EXPECT_EQ(tried(resumed, fence(1), t0 + 61s), "stale_lease");
  EXPECT_EQ(tried(resumed, fence(2, 1), t0 + 61s), "ok");
}

TEST(NotActive, SaysWhoHadItLastAndHowItEnded) {
  const auto details = [](const Execution& execution) {
    const auto error = apply(execution, renew(fence(9)), t0 + 2s).error();
    return fmt::format("{} {} {} {} {}", detail(error, "state"), detail(error, "terminal_outcome"),
                       detail(error, "lease_epoch"), detail(error, "lifecycle_phase"),
                       detail(error, "attempt_id"));
  };
  const auto attempt = AttemptId{uuid_of(1)}.str();
  EXPECT_EQ(details(waiting()), "waiting none 0 runnable ");
  EXPECT_EQ(details(delayed()), "delayed none 0 runnable ");
  EXPECT_EQ(details(paused()), "delayed none 1 runnable " + attempt);
  EXPECT_EQ(details(waiting_children()), "waiting_children none 1 runnable " + attempt);
  EXPECT_EQ(details(completed()), "completed success 1 terminal " + attempt);
  EXPECT_EQ(details(failed()), "failed failed 1 terminal " + attempt);
  EXPECT_EQ(details(cancelled()), "cancelled cancelled 1 terminal " + attempt);
  EXPECT_EQ(details(expired()), "expired expired 0 terminal ");
}

TEST(NotActive, IsWhatOperatorsAreToldToo) {
  const auto error = apply(completed(), cancel(), t0 + 2s).error();
  EXPECT_EQ(error.code, Errc::execution_not_active);
  EXPECT_EQ(detail(error, "terminal_outcome"), "success");
  EXPECT_FALSE(error.retryable());
}

// ---- Renew

TEST(Renew, MovesTheExpiryEitherWay) {
  EXPECT_EQ(trace(active(), renew(fence(1), 60s), t0 + 10s),
            "active(w1#1 until +30000) -> active(w1#1 until +70000) []");
  EXPECT_EQ(trace(active(), renew(fence(1), 5s), t0 + 10s),
            "active(w1#1 until +30000) -> active(w1#1 until +15000) []");
  EXPECT_EQ(must(apply(active(), renew(fence(1), 5s), t0 + 10s)).reply, RenewReply{t0 + 15s});
}

TEST(Renew, DoesNotMoveTheAttemptsDeadline) {
  const auto renewed =
      after(apply(active({.attempt_timeout = 40s}), renew(fence(1), 1h), t0 + 10s));
  EXPECT_EQ(next_timer(renewed), (Timer{TimerKind::attempt_timeout, t0 + 40s}));
}

// ---- Progress

TEST(Progress, IsKeptWithItsTime) {
  const auto told = after(apply(active(), progress(fence(1)), t0 + 1s));
  EXPECT_EQ(told.progress, (Progress{.percent = 50, .message = "half", .at = t0 + 1s}));
  EXPECT_EQ(trace(active(), progress(fence(1)), t0 + 1s),
            "active(w1#1 until +30000) -> active(w1#1 until +30000) [progressed]");
}

TEST(Progress, KeepsWhatIsNotToldAgain) {
  auto told = after(apply(active(), progress(fence(1)), t0 + 1s));
  told = after(
      apply(told, UpdateProgress{.id = test_id(), .fence = fence(1), .message = "more"}, t0 + 2s));
  EXPECT_EQ(told.progress, (Progress{.percent = 50, .message = "more", .at = t0 + 2s}));
  told = after(
      apply(told, UpdateProgress{.id = test_id(), .fence = fence(1), .percent = 90}, t0 + 3s));
  EXPECT_EQ(told.progress, (Progress{.percent = 90, .message = "more", .at = t0 + 3s}));
}

}  // namespace
}  // namespace ff::core
