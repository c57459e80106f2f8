#include "base/clock.hpp"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace ff {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

// A machine whose clocks the test moves; its steady clock began a day ago.
class Machine {
 public:
  SystemClock::Sources sources() {
    return {.wall = [this] { return TimePoint::clock::time_point{read(wall_)}; },
            .steady = [this] { return std::chrono::steady_clock::time_point{read(steady_)}; }};
  }

  TimePoint wall() const { return std::chrono::floor<Millis>(TimePoint{} + nanoseconds{wall_}); }
  void pass(nanoseconds time) {
    wall_ += time.count();
    steady_ += time.count();
  }
  void set_wall_clock(nanoseconds by) { wall_ += by.count(); }
  void pause_after_reads(nanoseconds time) { pause_ = time; }

 private:
  nanoseconds read(const std::atomic<nanoseconds::rep>& time) {
    const nanoseconds value{time};
    if (pause_ > 0ns) pass(pause_);
    return value;
  }

  std::atomic<nanoseconds::rep> wall_ = nanoseconds{1'800'000'000s}.count();
  std::atomic<nanoseconds::rep> steady_ = nanoseconds{24h}.count();
  nanoseconds pause_{0};
};

TEST(SystemClock, IsTheWallClockAsLongAsThatBehaves) {
  Machine machine;
  const SystemClock clock(machine.sources());
  for (const auto time : {0ms, 1ms, 999ms, 3'600'000ms}) {
    machine.pass(time);
    EXPECT_EQ(clock.now(), machine.wall());
  }
}

TEST(SystemClock, GoesOnWhenTheWallClockIsSetBack) {
  Machine machine;
  const SystemClock clock(machine.sources());
  const auto start = clock.now();
  machine.set_wall_clock(-1h);
  EXPECT_EQ(clock.now(), start);
  for (int second = 1; second <= 10; ++second) {
    machine.pass(1s);
    EXPECT_EQ(clock.now(), start + second * 1s);
  }
}

TEST(SystemClock, CountsTheTimeInWhichNobodyAsked) {
  Machine machine;
  const SystemClock clock(machine.sources());
  const auto start = clock.now();
  machine.pass(5s);
  machine.set_wall_clock(-1h);
  machine.pass(5s);
  EXPECT_EQ(clock.now(), start + 10s);
}

TEST(SystemClock, FollowsWhenTheWallClockIsSetForward) {
  Machine machine;
  const SystemClock clock(machine.sources());
  const auto start = clock.now();
  machine.set_wall_clock(2h);
  machine.pass(1s);
  EXPECT_EQ(clock.now(), start + 2h + 1s);
}

TEST(SystemClock, IsTheWallClockAgainOnceThatCatchesUp) {
  Machine machine;
  const SystemClock clock(machine.sources());
  const auto start = clock.now();
  machine.set_wall_clock(-1h);
  machine.set_wall_clock(30min);
  EXPECT_EQ(clock.now(), start);
  machine.set_wall_clock(30min + 1s);
  EXPECT_EQ(clock.now(), start + 1s);
  EXPECT_EQ(clock.now(), machine.wall());
}

TEST(SystemClock, APauseBetweenTheTwoReadsDoesNotPushItAhead) {
  Machine machine;
  const SystemClock clock(machine.sources());
  for (int i = 0; i < 5; ++i) {
    machine.pause_after_reads(100ms);
    clock.now();
    machine.pause_after_reads(0ms);
    EXPECT_EQ(clock.now(), machine.wall());
  }
}

TEST(SystemClock, AddsUpFractionsOfAMillisecond) {
  Machine machine;
  const SystemClock clock(machine.sources());
  const auto start = clock.now();
  machine.set_wall_clock(-1h);
  for (int i = 0; i < 10'000; ++i) {
    machine.pass(100us);
    clock.now();
  }
  EXPECT_EQ(clock.now(), start + 1s);
}

TEST(SystemClock, NeverRunsBackwardsForAnyThread) {
  Machine machine;
  const SystemClock clock(machine.sources());
  std::atomic<int> backwards = 0;
  std::atomic<Millis::rep> latest = 0;

  std::vector<std::jthread> readers;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&, i] {
      for (int n = 0; n < 20'000; ++n) {
        const auto before = latest.load();
        const auto now = clock.now().time_since_epoch().count();
        if (now < before) ++backwards;
        latest = now;
        machine.pass(10us);
        if (n % 100 == i) machine.set_wall_clock(n % 200 == i ? -1h : 59min);
      }
    });
  readers.clear();
  EXPECT_EQ(backwards, 0);
}

TEST(SystemClock, ReadsTheMachinesClocks) {
  const auto before = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  const auto now = SystemClock().now();
  EXPECT_LE(before, now);
  EXPECT_LE(now, std::chrono::system_clock::now());
}

}  // namespace
}  // namespace ff
