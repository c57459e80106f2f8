#include "core/test_support.hpp"

namespace ff::core {
namespace {

// The delay before retry `n` (from 0).
Millis delay_of(const Backoff& backoff, std::uint32_t n, std::uint8_t attempt = 1) {
  auto execution = after(apply(waiting(retrying(backoff, 10'000)), claim(attempt), t0));
  execution.retry_count = n;
  Fence held{fence(1)};
  held.lease_id = LeaseId{uuid_of(attempt)};
  held.attempt_id = AttemptId{uuid_of(attempt)};
  return *must(apply(execution, fail_with(held), t0)).reply.retry_at - t0;
}

std::string failed_with(std::string category, std::vector<std::string> retryable = {}) {
  auto policy = retrying();
  policy.retry->retryable_categories = std::move(retryable);
  const auto step = must(apply(active(policy), fail_with(fence(1), std::move(category)), t0));
  return std::string(to_string(*step.event));
}

TEST(Retry, HappensAsOftenAsAllowed) {
  auto execution = waiting(retrying(FixedBackoff{0s}, 2));
  std::string events;
  for (std::uint8_t n = 1; n <= 3; ++n) {
    execution = after(apply(execution, claim(n), t0));
    const auto step = must(apply(execution, fail_with(fence(n)), t0));
    events += std::string(to_string(*step.event)) + " ";
    execution = *step.next;
  }
  EXPECT_EQ(events, "retry_scheduled retry_scheduled failed ");
  EXPECT_EQ(execution.retry_count, 2u);
  EXPECT_EQ(execution.attempt_count, 3u);
}

TEST(Retry, OfNoneAllowedIsFinal) {
  EXPECT_EQ(verdict(apply(active(retrying(FixedBackoff{}, 0)), fail_with(fence(1)), t0)), "ok");
  EXPECT_EQ(trace(active(retrying(FixedBackoff{}, 0)), fail_with(fence(1)), t0),
            "active(w1#1 until +30000) -> failed(+0, broke, ) [failed]");
}

TEST(Retry, HappensForAllButPermanentAndCancelled) {
  for (const auto* category : {"", "transient", "timeout", "infra_crash", "anything"})
    EXPECT_EQ(failed_with(category), "retry_scheduled") << category;
  EXPECT_EQ(failed_with("permanent"), "failed");
  EXPECT_EQ(failed_with("cancelled"), "failed");
}

TEST(Retry, HappensForTheNamedCategoriesOnly) {
  EXPECT_EQ(failed_with("timeout", {"transient", "timeout"}), "retry_scheduled");
  EXPECT_EQ(failed_with("infra_crash", {"transient", "timeout"}), "failed");
  EXPECT_EQ(failed_with("", {"transient"}), "failed");
  EXPECT_EQ(failed_with("permanent", {"transient"}), "failed");
}

TEST(Backoff, AFixedBackoffStaysTheSame) {
  EXPECT_EQ(delay_of(FixedBackoff{1500ms}, 0), 1500ms);
  EXPECT_EQ(delay_of(FixedBackoff{1500ms}, 7), 1500ms);
}

TEST(Backoff, AnExponentialBackoffGrowsToItsLimit) {
  const ExponentialBackoff tripling{100ms, 5s, 3.0};
  EXPECT_EQ(delay_of(tripling, 0), 100ms);
  EXPECT_EQ(delay_of(tripling, 1), 300ms);
  EXPECT_EQ(delay_of(tripling, 3), 2700ms);
  EXPECT_EQ(delay_of(tripling, 4), 5s);
  EXPECT_EQ(delay_of(tripling, 9'999), 5s);
}

TEST(Backoff, IsExponentialFromOneSecondToOneMinuteUnlessToldOtherwise) {
  EXPECT_EQ(delay_of(RetryPolicy{}.backoff, 0), 1s);
  EXPECT_EQ(delay_of(RetryPolicy{}.backoff, 2), 4s);
  EXPECT_EQ(delay_of(RetryPolicy{}.backoff, 6), 60s);
}

TEST(Backoff, BeginsAtTheLimitIfThatIsLower) {
  EXPECT_EQ(delay_of(ExponentialBackoff{10s, 2s, 2.0}, 0), 2s);
}

TEST(Backoff, OfNothingStaysNothing) {
  EXPECT_EQ(delay_of(ExponentialBackoff{0ms, 60s, 2.0}, 0), 0ms);
  EXPECT_EQ(delay_of(ExponentialBackoff{0ms, 60s, 1000.0}, 9'999), 0ms);
}

TEST(Backoff, IsWholeMilliseconds) {
  EXPECT_EQ(delay_of(ExponentialBackoff{1ms, 60s, 1.5}, 3), 3ms);
}

TEST(Jitter, StaysBetweenHalfAndAll) {
  const ExponentialBackoff jittered{1s, 60s, 2.0, true};
  for (int attempt = 1; attempt <= 255; ++attempt)
    EXPECT_THAT(delay_of(jittered, 1, static_cast<std::uint8_t>(attempt)).count(),
                ::testing::AllOf(::testing::Ge(1000), ::testing::Le(2000)));
}

Millis jittered_by(std::array<std::uint8_t, 4> tail) {
  Uuid::Bytes bytes{};
  std::ranges::copy(tail, bytes.begin() + 12);
  auto command = claim(1);
  command.attempt_id = AttemptId{Uuid{bytes}};
  const auto policy = retrying(ExponentialBackoff{1s, 60s, 2.0, true});
  const auto step = must(apply(waiting(policy), command, t0));
  return *must(apply(*step.next, fail_with(step.reply.fence), t0)).reply.retry_at - t0;
}

TEST(Jitter, FollowsTheAttemptsId) {
  EXPECT_EQ(jittered_by({0, 0, 0, 0}), 500ms);
  EXPECT_EQ(jittered_by({0x80, 0, 0, 0}), 750ms);
  EXPECT_EQ(jittered_by({0x12, 0x34, 0x56, 0x78}), jittered_by({0x12, 0x34, 0x56, 0x78}));
  EXPECT_NE(jittered_by({0x12, 0x34, 0x56, 0x78}), jittered_by({0x98, 0x76, 0x54, 0x32}));
  EXPECT_EQ(jittered_by({0xff, 0xff, 0xff, 0xff}), 1s);
}

}  // namespace
}  // namespace ff::core
