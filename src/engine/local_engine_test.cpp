#include "engine/local_engine.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "store/embedded/embedded.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff {
namespace {

using namespace std::chrono_literals;

// Real time, and scanners that come round once an hour: what comes due is done because its time has
// come, or not at all.
class DueTimers : public ::testing::Test {
 protected:
  template <class Op>
  auto run(Op operation) {
    return must(test::run(engine_, std::move(operation)));
  }
  Submit submit() { return {.kind = *Kind::parse("k")}; }
  Claim claim(Millis lease_ttl) {
    return {.worker = *WorkerId::parse("w"), .lease_ttl = lease_ttl, .wait = 20s};
  }
  TimePoint soon() {
    return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now()) + 20ms;
  }

  test::TempDirectory temp_;
  LocalEngine engine_{
      must(embedded::open({.directory = temp_.path(), .clock = std::make_shared<SystemClock>()})),
      {.intervals = {1h, 1h, 1h, 1h, 1h, 1h, 1h}}};
};

TEST_F(DueTimers, ADelayEnds) {
  auto delayed = submit();
  delayed.delay_until = soon();
  run(delayed);
  EXPECT_EQ(run(claim(30s)).executions.size(), 1u);
}

TEST_F(DueTimers, ALeaseRunsOut) {
  run(submit());
  run(claim(20ms));
  const auto again = run(claim(30s)).executions;
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].attempt_type, AttemptType::reclaim);
}

TEST_F(DueTimers, AnAttemptTakesTooLong) {
  auto limited = submit();
  limited.policy.attempt_timeout = 20ms;
  limited.policy.retry = RetryPolicy{.backoff = FixedBackoff{0ms}};
  run(limited);
  run(claim(30s));
  const auto again = run(claim(30s)).executions;
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].attempt_type, AttemptType::retry);
}

TEST_F(DueTimers, ADeadlinePasses) {
  auto limited = submit();
  limited.deadline = soon();
  const auto id = run(limited).id;
  const auto result = test::run(engine_, GetResult{.id = id, .wait = 20s});
  EXPECT_EQ(result.error().code, Errc::execution_failed);
}

TEST_F(DueTimers, AGrantIsNotUsed) {
  run(submit());
  ASSERT_TRUE(run(Grant{.worker = *WorkerId::parse("w"), .grant_ttl = 20ms}).execution);
  EXPECT_EQ(run(claim(30s)).executions.size(), 1u);
}

}  // namespace
}  // namespace ff
