#include "store/embedded/records.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ff::embedded {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint t0{Millis{1'800'000'000'000}};

Fence some_fence() {
  SystemRandom random;
  return {.lease_id = LeaseId{make_uuid(t0, random)},
          .lease_epoch = LeaseEpoch{3},
          .attempt_id = AttemptId{make_uuid(t0, random)}};
}

core::Execution execution_in(core::State state) {
  return {.id = ExecutionId{7, some_fence().lease_id.uuid()},
          .ns = *Namespace::parse("tenant"),
          .lane = *LaneId::parse("mail"),
          .kind = *Kind::parse("send"),
          .priority = 12,
          .created_at = t0,
          .started_at = t0 + 5ms,
          .last_epoch = LeaseEpoch{3},
          .attempt_count = 3,
          .reclaim_count = 2,
          .state = std::move(state)};
}

TEST(Records, BringBackEveryState) {
  const core::Lease lease{
      .fence = some_fence(), .worker = *WorkerId::parse("w"), .expires_at = t0 + 1s};
  const std::vector<core::State> states{
      core::Waiting{},
      core::Active{lease},
      core::Interrupted{},
      core::Completed{.at = t0, .by = some_fence()},
      core::Failed{.at = t0, .by = some_fence(), .reason = "r", .category = "c"},
      core::Failed{.at = t0, .by = std::nullopt, .reason = "gave up", .category = ""},
  };
  ASSERT_EQ(states.back().index() + 1, std::variant_size_v<core::State>);
  for (const auto& state : states) {
    const auto execution = execution_in(state);
    EXPECT_EQ(decode(execution.id, encode(execution)), execution) << state.index();
  }
}

TEST(Records, OfAnExecutionThatNeverStartedHasNoStart) {
  auto execution = execution_in(core::Waiting{});
  execution.started_at.reset();
  EXPECT_EQ(decode(execution.id, encode(execution)), execution);
}

TEST(Records, ThatAreDamagedAreRefused) {
  const auto execution = execution_in(core::Completed{.at = t0, .by = some_fence()});
  const auto bytes = encode(execution);
  const auto refused = [&](std::string_view damaged) {
    const auto decoded = decode(execution.id, damaged);
    return !decoded && decoded.error().code == Errc::store_damaged;
  };
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused("not a record"));
  EXPECT_TRUE(refused(bytes.substr(0, bytes.size() - 1)));
}

}  // namespace
}  // namespace ff::embedded
