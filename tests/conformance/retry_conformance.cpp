#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

Submit retried(RetryPolicy retry) {
  return {.kind = greet, .payload = "in", .policy = {.retry = std::move(retry)}};
}

TEST_P(Conformance, FailureIsRetriedAfterItsBackoff) {
  const auto id = submit(retried({.max_retries = 2, .backoff = FixedBackoff{5s}}));
  const auto failed = must(run(failure(claim("w1"), "no paper")));
  EXPECT_EQ(failed, (FailReply{ExecutionState::delayed, now() + 5s}));
  EXPECT_EQ(info(id).failure_reason, "no paper");
  EXPECT_EQ(info(id).retries, 1u);
  EXPECT_EQ(info(id).state_vector.blocking_reason, BlockingReason::waiting_for_retry_backoff);
  pass(5s - 1ms);
  EXPECT_EQ(claimable(), 0u);
  pass(1ms);

  const auto again = claim("w2");
  EXPECT_EQ(again.payload, "in");
  EXPECT_EQ(again.attempt_index, 1u);
  EXPECT_EQ(again.attempt_type, AttemptType::retry);
  EXPECT_TRUE(run(complete(again)));
  EXPECT_EQ(attempts_of(id),
            "0 initial by w1: failure (no paper), 1 retry (no paper) by w2: success");
}

TEST_P(Conformance, FailureIsFinalWhenItsRetriesAreUsedUp) {
  const auto id = submit(retried({.max_retries = 2, .backoff = FixedBackoff{1s}}));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(must(run(failure(claim()))).state, ExecutionState::delayed);
    pass(1s);
  }
  EXPECT_EQ(must(run(failure(claim(), "for good"))), FailReply{ExecutionState::failed});
  EXPECT_EQ(info(id).failure_reason, "for good");
  EXPECT_EQ(info(id).retries, 2u);
  pass(1h);
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(Conformance, FailureWithoutAPolicyIsFinal) {
  submit();
  EXPECT_EQ(must(run(failure(claim(), "r", "transient"))), FailReply{ExecutionState::failed});
}

TEST_P(Conformance, BackoffOfNothingIsReadyAtOnce) {
  submit(retried({.max_retries = 1, .backoff = FixedBackoff{0ms}}));
  EXPECT_EQ(must(run(failure(claim()))), (FailReply{ExecutionState::waiting, now()}));
  EXPECT_EQ(claim().attempt_index, 1u);
}

TEST_P(Conformance, ExponentialBackoffGrowsToItsLimit) {
  submit(retried(
      {.max_retries = 5,
       .backoff = ExponentialBackoff{.initial_delay = 100ms, .max_delay = 1s, .multiplier = 3.0}}));
  for (const Millis wait : {100ms, 300ms, 900ms, 1000ms, 1000ms}) {
    EXPECT_EQ(must(run(failure(claim()))).retry_at, now() + wait);
    pass(wait);
  }
}

TEST_P(Conformance, BackoffIsExponentialUnlessToldOtherwise) {
  submit(retried({}));
  for (const Millis wait : {1s, 2s, 4s}) {
    EXPECT_EQ(must(run(failure(claim()))).retry_at, now() + wait);
    pass(wait);
  }
  EXPECT_EQ(must(run(failure(claim()))).state, ExecutionState::failed) << "three retries";
}

TEST_P(Conformance, FractionsOfAMillisecondAreRounded) {
  submit(retried(
      {.max_retries = 2,
       .backoff = ExponentialBackoff{.initial_delay = 3ms, .max_delay = 1s, .multiplier = 1.5}}));
  EXPECT_EQ(must(run(failure(claim()))).retry_at, now() + 3ms);
  pass(3ms);
  EXPECT_EQ(must(run(failure(claim()))).retry_at, now() + 5ms);
}

TEST_P(Conformance, JitterSpreadsRetriesThatFailTogether) {
  constexpr std::uint32_t count = 30;
  for (std::uint32_t i = 0; i < count; ++i)
    submit(retried({.backoff = ExponentialBackoff{.initial_delay = 10s, .jitter = true}}));
  std::set<TimePoint> times;
  for (const auto& claimed : claim_many(count)) times.insert(*must(run(failure(claimed))).retry_at);
  EXPECT_GT(times.size(), count / 2);
  EXPECT_GE(*times.begin(), now() + 5s);
  EXPECT_LE(*times.rbegin(), now() + 10s);
}

TEST_P(Conformance, PermanentFailureIsNotRetried) {
  for (const char* category : {"permanent", "cancelled"}) {
    submit(retried({}));
    EXPECT_EQ(must(run(failure(claim(), "r", category))).state, ExecutionState::failed);
  }
  for (const char* category : {"", "transient", "timeout", "infra_crash", "my own"}) {
    submit(retried({}));
    EXPECT_EQ(must(run(failure(claim(), "r", category))).state, ExecutionState::delayed);
  }
}

TEST_P(Conformance, OnlyNamedCategoriesAreRetriedIfThereAreAny) {
  const RetryPolicy policy{.retryable_categories = {"network", "permanent"}};
  for (const char* category : {"network", "permanent"}) {
    submit(retried(policy));
    EXPECT_EQ(must(run(failure(claim(), "r", category))).state, ExecutionState::delayed);
  }
  for (const char* category : {"", "transient", "Network"}) {
    submit(retried(policy));
    EXPECT_EQ(must(run(failure(claim(), "r", category))).state, ExecutionState::failed);
  }
}

TEST_P(Conformance, RepeatedFailureThatIsRetriedAnswersAsTheFirstTime) {
  const auto id = submit(retried({.backoff = FixedBackoff{5s}}));
  const auto claimed = claim();
  const auto first = must(run(failure(claimed)));
  EXPECT_EQ(must(run(failure(claimed))), first);
  pass(5s);
  EXPECT_EQ(must(run(failure(claimed))), first) << "also when it is ready again";
  EXPECT_EQ(info(id).retries, 1u);
  claim();
  EXPECT_EQ(error_of(failure(claimed)), Errc::stale_lease);
}

TEST_P(Conformance, BetweenAFailureAndItsRetryThereIsNoAttempt) {
  const auto id = submit(retried({.backoff = FixedBackoff{5s}}));
  const auto claimed = claim();
  must(run(failure(claimed)));
  const auto attempt_told = [&] { return run(renew(claimed)).error().details.back(); };
  EXPECT_EQ(attempt_told(), (Error::Detail{"attempt_id", ""}));
  must(run(Cancel{.id = id}));
  EXPECT_EQ(attempt_told(), (Error::Detail{"attempt_id", ""}));
}

TEST_P(Conformance, RetryKeepsItsTimeAndItsCountAcrossARestart) {
  const auto id = submit(retried({.max_retries = 1, .backoff = FixedBackoff{5s}}));
  const auto claimed = claim("w1");
  const auto first = must(run(failure(claimed, "once")));
  home_->restart();
  EXPECT_EQ(must(run(failure(claimed, "once"))), first);
  EXPECT_EQ(claimable(), 0u);
  pass(5s);
  EXPECT_EQ(must(run(failure(claim("w2"), "twice"))).state, ExecutionState::failed);
  EXPECT_EQ(attempts_of(id),
            "0 initial by w1: failure (once), 1 retry (once) by w2: failure (twice)");
}

}  // namespace
}  // namespace ff::conformance
