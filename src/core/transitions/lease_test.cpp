#include "core/test_support.hpp"

namespace ff::core {
namespace {

ClaimedExecution claimed(const Execution& execution, LeaseGrant command, TimePoint now) {
  return must(apply(execution, command, now)).reply;
}

const Policy needs_gpu{.required_capabilities = *CapabilitySet::parse({"gpu", "eu", "big"})};

// ---- Claim

TEST(Claim, TakesWhatIsReadyAndNothingElse) {
  EXPECT_EQ(in_every_state(claim(2)), R"(
waiting -> active(w2#1 until +40000) [claimed]
granted(w1 until +60000): grant_already_exists
delayed(until +60000): execution_not_leaseable
waiting_children: execution_not_leaseable
active(w1#1 until +30000): execution_not_leaseable
waiting(reclaim) -> active(w2#2 until +40000) [claimed]
waiting(reclaim) -> active(w2#2 until +40000) [claimed]
completed(+1000): execution_not_leaseable
failed(+1000, broke, permanent): execution_not_leaseable
cancelled(+1000, why): execution_not_leaseable
expired(+1000, execution_deadline): execution_not_leaseable
)");
}

TEST(Claim, BeginsTheFirstAttempt) {
  const auto step = must(apply(waiting(), claim(1), t0 + 5s));
  EXPECT_EQ(step.reply.attempt_index, 0u);
  EXPECT_EQ(step.reply.attempt_type, AttemptType::initial);
  EXPECT_FALSE(step.reply.resumed);
  EXPECT_EQ(step.reply.fence, fence(1));
  EXPECT_EQ(step.reply.lease_expires_at, t0 + 35s);
  EXPECT_EQ(step.reply.attempt_deadline, std::nullopt);
  EXPECT_EQ(step.next->attempt_count, 1u);
  EXPECT_EQ(step.next->started_at, t0 + 5s);
  EXPECT_EQ(step.next->last_epoch, LeaseEpoch{1});
  EXPECT_FALSE(step.archive);
}

TEST(Claim, HandsOverWhatWasSubmitted) {
  auto command = create();
  command.submit.tags = {{"app.k", "v"}};
  command.submit.deadline = t0 + 1h;
  const auto reply = claimed(after(apply(nullptr, command, t0)), claim(1), t0);
  EXPECT_EQ(reply.id, test_id());
  EXPECT_EQ(reply.kind.str(), "greet");
  EXPECT_EQ(reply.tags, command.submit.tags);
  EXPECT_EQ(reply.deadline, t0 + 1h);
}

TEST(Claim, AfterALostLeaseIsAReclaim) {
  const auto step = must(apply(lapsed(), claim(2), t0 + 5s));
  EXPECT_EQ(step.reply.attempt_index, 1u);
  EXPECT_EQ(step.reply.attempt_type, AttemptType::reclaim);
  EXPECT_FALSE(step.reply.resumed);
  EXPECT_EQ(step.reply.fence, fence(2));
  EXPECT_EQ(step.next->attempt->cause, "lease expired");
  EXPECT_EQ(step.next->reclaim_count, 1u);
  EXPECT_EQ(step.next->started_at, t0);
}

TEST(Claim, AfterAFailureIsARetry) {
  const auto due = after(apply(retry_delayed(), fire(TimerKind::delay), t0 + 2s));
  const auto step = must(apply(due, claim(2), t0 + 2s));
  EXPECT_EQ(step.reply.attempt_type, AttemptType::retry);
  EXPECT_EQ(step.next->attempt->cause, "broke");
  EXPECT_EQ(step.next->reclaim_count, 0u);
}

TEST(Claim, RepeatedWithItsLeaseIdAnswersAsTheFirstTime) {
  const auto first = must(apply(waiting(), claim(1), t0));
  const auto again = must(apply(*first.next, claim(1), t0 + ttl - 1ms));
  EXPECT_EQ(again.reply, first.reply);
  EXPECT_FALSE(again.next);
  EXPECT_FALSE(again.event);
}

TEST(Claim, RepeatedFromAGrantAnswersAsTheFirstTime) {
  const auto first = must(apply(granted(), claim_granted(1), t0));
  EXPECT_EQ(must(apply(*first.next, claim_granted(1), t0 + 1s)).reply, first.reply);
}

TEST(Claim, ARequestForAHeldLeaseTakesNothing) {
  auto again = claim(1);
  again.source = LeaseSource::held;
  EXPECT_EQ(must(apply(active(), again, t0)).reply.fence, fence(1));
  EXPECT_EQ(verdict(apply(waiting(), again, t0)), "execution_not_leaseable");
}

TEST(Claim, RepeatedTooLateOrByAnotherIsRefused) {
  EXPECT_EQ(verdict(apply(active(), claim(1), t0 + ttl)), "execution_not_leaseable");
  auto stranger = claim(1);
  stranger.worker = worker(2);
  EXPECT_EQ(verdict(apply(active(), stranger, t0 + 1s)), "execution_not_leaseable");
  EXPECT_EQ(verdict(apply(completed(), claim(1), t0 + 1s)), "execution_not_leaseable");
}

TEST(Claim, OfAHeldLeaseNeverGivesANewOne) {
  EXPECT_EQ(claimed(active(), claim_held(1), t0 + 10s).fence, fence(1));
  EXPECT_EQ(trace(waiting(), claim_held(1), t0), "waiting: execution_not_leaseable");
  EXPECT_EQ(trace(lapsed(), claim_held(1), t0 + 10s), "waiting(reclaim): execution_not_leaseable");
  EXPECT_EQ(trace(active(), claim_held(1), t0 + ttl),
            "active(w1#1 until +30000): execution_not_leaseable");
}

TEST(Claim, ClearsTheProgressOfAFormerAttempt) {
  auto told = after(apply(active(), progress(fence(1)), t0));
  told = after(apply(told, revoke(), t0));
  EXPECT_TRUE(told.progress);
  EXPECT_FALSE(after(apply(told, claim(2), t0)).progress);
}

// ---- Grant

TEST(Grant, SetsAsideWhatIsReadyAndNothingElse) {
  EXPECT_EQ(in_every_state(grant(2)), R"(
waiting -> granted(w2 until +70000) [granted]
granted(w1 until +60000): grant_already_exists
delayed(until +60000): execution_not_eligible
waiting_children: execution_not_eligible
active(w1#1 until +30000): execution_not_eligible
waiting(reclaim) -> granted(w2 until +70000) [granted]
waiting(reclaim) -> granted(w2 until +70000) [granted]
completed(+1000): execution_not_eligible
failed(+1000, broke, permanent): execution_not_eligible
cancelled(+1000, why): execution_not_eligible
expired(+1000, execution_deadline): execution_not_eligible
)");
  EXPECT_EQ(must(apply(waiting(), grant(2, 5s), t0)).reply, (GrantedExecution{test_id(), t0 + 5s}));
}

TEST(Grant, IsClaimedByItsWorker) {
  EXPECT_EQ(trace(granted(), claim_granted(1), t0 + 59s),
            "granted(w1 until +60000) -> active(w1#1 until +89000) [claimed]");
  EXPECT_EQ(in_every_state(claim_granted(2)), R"(
waiting: invalid_claim_grant
granted(w1 until +60000): invalid_claim_grant
delayed(until +60000): execution_not_leaseable
waiting_children: execution_not_leaseable
active(w1#1 until +30000): execution_not_leaseable
waiting(reclaim): invalid_claim_grant
waiting(reclaim): invalid_claim_grant
completed(+1000): execution_not_leaseable
failed(+1000, broke, permanent): execution_not_leaseable
cancelled(+1000, why): execution_not_leaseable
expired(+1000, execution_deadline): execution_not_leaseable
)");
}

TEST(Grant, OfALostExecutionLeadsToAReclaim) {
  const auto set_aside = after(apply(lapsed(), grant(2), t0 + 2s));
  EXPECT_EQ(claimed(set_aside, claim_granted(2), t0 + 3s).attempt_type, AttemptType::reclaim);
}

TEST(Grant, AnExpiredGrantCannotBeClaimed) {
  EXPECT_EQ(verdict(apply(granted(), claim_granted(1), t0 + 60s)), "claim_grant_expired");
  EXPECT_EQ(verdict(apply(granted(), claim_granted(2), t0 + 60s)), "invalid_claim_grant");
}

TEST(Grant, AnExpiredGrantFreesTheExecutionForAnyWorker) {
  EXPECT_FALSE(is_claimable(granted(), t0 + 60s - 1ms));
  EXPECT_TRUE(is_claimable(granted(), t0 + 60s));
  EXPECT_EQ(trace(granted(), grant(2), t0 + 60s),
            "granted(w1 until +60000) -> granted(w2 until +120000) [granted]");
  EXPECT_EQ(trace(granted(), claim(2), t0 + 60s),
            "granted(w1 until +60000) -> active(w2#1 until +90000) [claimed]");
}

// ---- Capabilities

TEST(Capabilities, MissingCapabilitiesAreListedSorted) {
  auto command = claim(1);
  command.capabilities = capabilities({"eu", "cpu"});
  const auto error = apply(waiting(needs_gpu), command, t0).error();
  EXPECT_EQ(error.code, Errc::capability_mismatch);
  EXPECT_EQ(detail(error, "missing"), "big,gpu");
  EXPECT_EQ(verdict(apply(waiting(needs_gpu), grant(1), t0)), "capability_mismatch");
}

TEST(Capabilities, MayBeMoreThanRequired) {
  auto command = claim(1);
  command.capabilities = capabilities({"big", "cpu", "eu", "gpu"});
  EXPECT_EQ(verdict(apply(waiting(needs_gpu), command, t0)), "ok");
}

TEST(Capabilities, AreCheckedWhenTheGrantIsIssued) {
  auto command = grant(1);
  command.capabilities = needs_gpu.required_capabilities;
  const auto set_aside = after(apply(waiting(needs_gpu), command, t0));
  EXPECT_EQ(verdict(apply(set_aside, claim_granted(1), t0)), "ok");
}

TEST(Capabilities, MatterOnlyIfItIsFree) {
  EXPECT_EQ(verdict(apply(delayed(needs_gpu), claim(1), t0)), "execution_not_leaseable");
  EXPECT_EQ(verdict(apply(delayed(needs_gpu), grant(1), t0)), "execution_not_eligible");
}

// ---- Revoke

TEST(Revoke, TakesALeaseAway) {
  EXPECT_EQ(in_every_state(revoke()), R"(
waiting: execution_not_active
granted(w1 until +60000): execution_not_active
delayed(until +60000): execution_not_active
waiting_children: execution_not_active
active(w1#1 until +30000) -> waiting(reclaim) [lease_revoked]
waiting(reclaim): unchanged
waiting(reclaim): unchanged
completed(+1000): execution_not_active
failed(+1000, broke, permanent): execution_not_active
cancelled(+1000, why): execution_not_active
expired(+1000, execution_deadline): execution_not_active
)");
}

TEST(Revoke, SaysWhatItFound) {
  const auto status = [](const Execution& execution) {
    const auto reply = must(apply(execution, revoke(), t0 + 2s)).reply;
    EXPECT_EQ(reply.lease_epoch, LeaseEpoch{1});
    return std::string(to_string(reply.status));
  };
  EXPECT_EQ(status(active()), "revoked");
  EXPECT_EQ(status(revoked()), "already_revoked");
  EXPECT_EQ(status(lapsed()), "already_expired");
}

TEST(Revoke, OfANamedLeaseTouchesNoOther) {
  auto command = revoke();
  command.lease_id = LeaseId{uuid_of(1)};
  EXPECT_EQ(verdict(apply(active(), command, t0)), "ok");
  command.lease_id = LeaseId{uuid_of(2)};
  const auto error = apply(active(), command, t0).error();
  EXPECT_EQ(error.code, Errc::stale_lease);
  EXPECT_THAT(error.message, ::testing::HasSubstr(LeaseId{uuid_of(1)}.str()));
}

TEST(Revoke, LeavesItForAReclaim) {
  const auto taken = after(apply(active(), revoke("stuck"), t0 + 1s));
  const auto step = must(apply(taken, claim(2), t0 + 2s));
  EXPECT_EQ(step.reply.attempt_type, AttemptType::reclaim);
  EXPECT_EQ(step.next->attempt->cause, "lease revoked: stuck");
  EXPECT_EQ(step.next->reclaim_count, 1u);
}

// A later lease is not touched by an earlier revocation.
TEST(Revoke, IsForgottenByTheNextLease) {
  auto execution = after(apply(revoked(), cancel(), t0 + 2s));
  execution = after(apply(execution, replay(), t0 + 3s));
  execution = after(apply(execution, claim(2), t0 + 4s));
  EXPECT_EQ(verdict(apply(execution, renew(fence(2)), t0 + 5s)), "ok");
}

}  // namespace
}  // namespace ff::core
