#include "engine/supervisor.hpp"

#include <future>

#include <gtest/gtest.h>

#include "base/async/runtime.hpp"
#include "tests/support/blocking.hpp"

namespace ff {
namespace {

// Does what the test says, run by run.
class ScriptedScanner final : public Scanner {
 public:
  explicit ScriptedScanner(std::function<Result<Scan>(int run)> script)
      : script_(std::move(script)) {}
  std::string_view name() const override { return "scripted"; }
  Async<Scan> run_once() override { co_return script_(runs_++); }

 private:
  std::function<Result<Scan>(int)> script_;
  int runs_ = 0;
};

class SupervisorTest : public ::testing::Test {
 protected:
  void add(std::function<Result<Scan>(int)> script) {
    supervisor_.add(std::make_unique<ScriptedScanner>(std::move(script)), std::chrono::hours{1});
  }
  Result<void> run_once() {
    return test::run_blocking(runtime_.executor(), supervisor_.run_once());
  }
  ScannerStatus status() { return supervisor_.status().at(0); }

  Runtime runtime_{1};
  Supervisor supervisor_{runtime_.executor()};
};

TEST_F(SupervisorTest, RunsAScannerUntilItHasNoMoreToDo) {
  add([](int run) { return Scan{.seen = 1, .changed = 1, .more = run < 3}; });
  EXPECT_TRUE(run_once());
  EXPECT_EQ(status().cycles, 4u);
  EXPECT_EQ(status().changed, 4u);
}

TEST_F(SupervisorTest, CountsErrors) {
  add([](int) -> Result<Scan> { return fail(Errc::store_unavailable, "gone"); });
  EXPECT_EQ(run_once().error().code, Errc::store_unavailable);
  EXPECT_EQ(status().errors, 1u);
  EXPECT_EQ(status().crashes, 0u);
}

TEST_F(SupervisorTest, SurvivesACrash) {
  add([](int run) -> Result<Scan> {
    if (run == 0) throw std::runtime_error("bug");
    return Scan{.changed = 1};
  });
  EXPECT_EQ(run_once().error().code, Errc::internal);
  EXPECT_TRUE(run_once());
  EXPECT_EQ(status().crashes, 1u);
  EXPECT_EQ(status().changed, 1u);
}

TEST_F(SupervisorTest, StartsAtOnceAndStopsWithoutWaitingForTheInterval) {
  std::promise<void> ran;
  add([&](int run) {
    if (run == 0) ran.set_value();
    return Scan{};
  });
  supervisor_.start();
  ran.get_future().wait();
  supervisor_.stop();
  EXPECT_EQ(status().cycles, 1u);
}

TEST_F(SupervisorTest, RunsEarlierWhenSomethingComesDue) {
  std::promise<void> first, second;
  add([&](int run) {
    if (run == 0) first.set_value();
    if (run == 1) second.set_value();
    return Scan{};
  });
  supervisor_.start();
  first.get_future().wait();
  supervisor_.due_in(0, Millis{1});
  second.get_future().wait();  // long before the interval of an hour
}

TEST_F(SupervisorTest, RunsAgainWhenTheScannerSaysSo) {
  std::promise<void> second;
  add([&](int run) {
    if (run == 1) second.set_value();
    return Scan{.next_in = Millis{1}};
  });
  supervisor_.start();
  second.get_future().wait();
}

// Never ends its first run until it is told to.
class StuckScanner final : public Scanner {
 public:
  StuckScanner(Wakeup& go_on, std::promise<void>& second_run)
      : go_on_(go_on), second_run_(second_run) {}
  std::string_view name() const override { return "stuck"; }
  Async<Scan> run_once() override {
    const auto run = runs_++;
    if (run == 0) co_await go_on_.wait_until(std::chrono::steady_clock::time_point::max());
    if (run == 1) second_run_.set_value();
    co_return Scan{};
  }

 private:
  Wakeup& go_on_;
  std::promise<void>& second_run_;
  std::atomic<int> runs_ = 0;
};

TEST(Supervisor, ReplacesAScannerThatIsStuck) {
  Runtime runtime{1};
  Wakeup go_on{runtime.executor()};
  std::promise<void> second_run;
  Supervisor supervisor{runtime.executor(), {.stuck_after = Millis{20}}};
  supervisor.add(std::make_unique<StuckScanner>(go_on, second_run), std::chrono::hours{1});
  supervisor.start();
  second_run.get_future().wait();
  EXPECT_EQ(supervisor.status().at(0).stuck, 1u);
  go_on.wake();
}

}  // namespace
}  // namespace ff
