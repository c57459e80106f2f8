#include "core/quotas/quota.hpp"

#include <flowfabric/limits.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/test_support.hpp"

namespace ff::core {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Uuid uuid_of(int number) {
  Uuid::Bytes bytes{};
  bytes[15] = static_cast<std::uint8_t>(number);
  return Uuid{bytes};
}
QuotaTokenId token(int number) { return QuotaTokenId{uuid_of(number)}; }
ExecutionId execution(int number) { return {static_cast<PartitionIndex>(number), uuid_of(number)}; }

class QuotaTest : public ::testing::Test {
 protected:
  void make(QuotaSpec spec) { quota_ = make_quota({.id = QuotaId{}, .spec = spec}, t0); }
  AdmitReply admit(int number, TimePoint now = t0) {
    return core::admit(quota_,
                       {.quota = {}, .token = token(number), .execution = execution(number)}, now);
  }
  // "in", or why not.
  std::string try_start(int number, TimePoint now = t0) {
    const auto reply = admit(number, now);
    if (reply.token) return "in";
    return reply.refusal == QuotaRefusal::rate ? "rate" : "concurrency";
  }
  bool give_back(int number, bool unused = false) {
    return release(quota_, {.quota = {}, .token = token(number), .unused = unused}).freed();
  }

  Quota quota_;
};

TEST_F(QuotaTest, LetsSoManyStartInAnyWindow) {
  make({.window = 60s, .max_per_window = 2});
  EXPECT_EQ(try_start(1), "in");
  EXPECT_EQ(try_start(2, t0 + 10s), "in");
  const auto refused = admit(3, t0 + 20s);
  EXPECT_EQ(refused.refusal, QuotaRefusal::rate);
  EXPECT_EQ(refused.detail,
            "quota 00000000-0000-0000-0000-000000000000: rate limit 2/2 per 60s window");
  EXPECT_EQ(refused.retry_at, t0 + 60s);
  EXPECT_EQ(try_start(3, t0 + 60s - 1ms), "rate");
  EXPECT_EQ(try_start(3, t0 + 60s), "in") << "one that is a window old is past";
  EXPECT_EQ(try_start(4, t0 + 60s), "rate");
  EXPECT_EQ(try_start(4, t0 + 70s), "in");
}

TEST_F(QuotaTest, LetsSoManyRunAtOnce) {
  make({.max_concurrent = 2});
  EXPECT_EQ(try_start(1), "in");
  EXPECT_EQ(try_start(2), "in");
  const auto refused = admit(3);
  EXPECT_EQ(refused.refusal, QuotaRefusal::concurrency);
  EXPECT_EQ(refused.detail, "quota 00000000-0000-0000-0000-000000000000: concurrency cap 2");
  EXPECT_FALSE(refused.retry_at);
  EXPECT_EQ(try_start(3, t0 + 24h), "concurrency") << "time alone frees no slot";
  EXPECT_TRUE(give_back(1));
  EXPECT_EQ(try_start(3), "in");
}

TEST_F(QuotaTest, ARefusedStartTakesNothing) {
  make({.window = 60s, .max_per_window = 5, .max_concurrent = 1});
  EXPECT_EQ(try_start(1), "in");
  EXPECT_EQ(try_start(2), "concurrency");
  EXPECT_EQ(info_of(quota_, t0).in_window, 1u);
  EXPECT_EQ(info_of(quota_, t0).running, 1u);
}

TEST_F(QuotaTest, AnAdmissionIsValidForAWhile) {
  make({.max_concurrent = 1});
  EXPECT_EQ(admit(1).token, (QuotaToken{token(1), t0 + limits::quota_token_valid}));
}

TEST_F(QuotaTest, AnswersARepetitionAsTheFirstTime) {
  for (const auto& spec : {QuotaSpec{.max_per_window = 1}, QuotaSpec{.max_concurrent = 1},
                           QuotaSpec{.max_per_window = 1, .max_concurrent = 1}}) {
    make(spec);
    const auto first = admit(1);
    ASSERT_TRUE(first.token);
    EXPECT_EQ(admit(1, t0 + 5s), first);
    EXPECT_NE(try_start(2, t0 + 5s), "in");
  }
}

TEST_F(QuotaTest, TwoStartsOfOneExecutionAreTwo) {
  make({.max_concurrent = 2});
  for (const int number : {1, 2})
    EXPECT_TRUE(
        core::admit(quota_, {.quota = {}, .token = token(number), .execution = execution(1)}, t0)
            .token);
  EXPECT_TRUE(give_back(2));
  EXPECT_EQ(info_of(quota_, t0).running, 1u);
}

TEST_F(QuotaTest, OnlyTheFirstReleaseCounts) {
  make({.max_concurrent = 2});
  try_start(1);
  try_start(2);
  EXPECT_TRUE(give_back(1));
  EXPECT_FALSE(give_back(1));
  EXPECT_FALSE(give_back(9)) << "it was never in";
  EXPECT_EQ(info_of(quota_, t0).running, 1u);
}

TEST_F(QuotaTest, AStartKeepsItsPlaceInTheWindowAndAnUnusedOneGivesItBack) {
  make({.window = 60s, .max_per_window = 2, .max_concurrent = 2});
  try_start(1);
  try_start(2);
  EXPECT_TRUE(give_back(1));
  EXPECT_EQ(try_start(3), "rate");
  EXPECT_TRUE(give_back(2, true));
  EXPECT_EQ(try_start(3), "in");
  EXPECT_FALSE(give_back(1, true)) << "it was given back as used";
  EXPECT_EQ(try_start(4), "rate");
}

TEST_F(QuotaTest, AnUnusedStartGivesItsPlaceBackWithoutASlot) {
  make({.max_per_window = 1});
  try_start(1);
  EXPECT_FALSE(give_back(1));
  EXPECT_TRUE(give_back(1, true));
  EXPECT_FALSE(give_back(1, true));
  EXPECT_EQ(try_start(2), "in");
}

TEST_F(QuotaTest, SpreadsThoseThatWereRefused) {
  make({.window = 60s, .max_per_window = 1, .jitter = 10ms});
  try_start(1);
  std::set<TimePoint> times;
  for (int number = 2; number < 200; ++number) {
    const auto retry_at = *admit(number).retry_at;
    EXPECT_EQ(admit(number).retry_at, retry_at) << "the same for the same";
    times.insert(retry_at);
  }
  EXPECT_THAT(times, SizeIs(11));
  EXPECT_EQ(*times.begin(), t0 + 60s);
  EXPECT_EQ(*times.rbegin(), t0 + 60s + 10ms);
}

TEST_F(QuotaTest, TellsOfAWindowInSeconds) {
  make({.window = 1500ms, .max_per_window = 1});
  try_start(1);
  EXPECT_THAT(admit(2).detail, ::testing::EndsWith("rate limit 1/1 per 1.5s window"));
}

TEST_F(QuotaTest, SaysWhenThereIsRoom) {
  make({.window = 60s, .max_per_window = 2, .jitter = 10s});
  try_start(1);
  EXPECT_FALSE(info_of(quota_, t0).next_start_at);
  try_start(2, t0 + 10s);
  EXPECT_EQ(info_of(quota_, t0 + 10s).next_start_at, t0 + 60s);
  EXPECT_EQ(info_of(quota_, t0 + 10s).in_window, 2u);
  EXPECT_FALSE(info_of(quota_, t0 + 60s).next_start_at);
  EXPECT_EQ(info_of(quota_, t0 + 60s).in_window, 1u);
}

TEST_F(QuotaTest, ForgetsWhatIsPast) {
  make({.window = 60s, .max_per_window = 3});
  try_start(1);
  try_start(2, t0 + 10s);
  EXPECT_THAT(forget_past(quota_, t0 + 59s), IsEmpty());
  EXPECT_THAT(forget_past(quota_, t0 + 60s), ElementsAre(WindowEntry{t0, token(1)}));
  EXPECT_THAT(quota_.window.places(), ElementsAre(WindowEntry{t0 + 10s, token(2)}));
  EXPECT_FALSE(quota_.window.find(token(1)));
}

TEST_F(QuotaTest, TellsWhoHoldsASlotForLong) {
  make({.max_concurrent = 9});
  for (const int number : {1, 2, 3}) try_start(number);
  try_start(4, t0 + 10s);
  const auto numbers = [&](HeldTokens query) {
    std::vector<int> found;
    for (const auto& each : held(quota_, query)) found.push_back(each.execution.partition());
    return found;
  };
  EXPECT_THAT(numbers({.quota = {}, .before = t0 + 10s}), ElementsAre(1, 2, 3));
  EXPECT_THAT(numbers({.quota = {}, .before = t0 + 11s, .after = token(2)}), ElementsAre(3, 4));
  EXPECT_THAT(numbers({.quota = {}, .before = t0 + 11s, .max = 2}), ElementsAre(1, 2));
  EXPECT_THAT(numbers({.quota = {}, .before = t0}), IsEmpty());
}

}  // namespace
}  // namespace ff::core
