#include "base/async/wakeup.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include "base/async/runtime.hpp"

namespace ff {
namespace {

constexpr auto never = std::chrono::steady_clock::time_point::max();

class WakeupTest : public ::testing::Test {
 protected:
  bool wait_until(std::chrono::steady_clock::time_point deadline) {
    return asio::co_spawn(runtime_.executor(), wakeup_.wait_until(deadline), asio::use_future)
        .get();
  }

  Runtime runtime_{2};
  Wakeup wakeup_{runtime_.executor()};
};

TEST_F(WakeupTest, BeforeTheWaitIsKept) {
  wakeup_.wake();
  EXPECT_TRUE(wait_until(never));
}

TEST_F(WakeupTest, IsTakenOnce) {
  wakeup_.wake();
  wakeup_.wake();
  EXPECT_TRUE(wait_until(never));
  EXPECT_FALSE(wait_until(std::chrono::steady_clock::now()));
}

TEST_F(WakeupTest, ComesFromAnotherThread) {
  for (int round = 0; round < 200; ++round) {
    auto woken = asio::co_spawn(runtime_.executor(), wakeup_.wait_until(never), asio::use_future);
    std::jthread waker([this] { wakeup_.wake(); });
    EXPECT_TRUE(woken.get());
  }
}

TEST_F(WakeupTest, MayNotComeInTime) {
  EXPECT_FALSE(wait_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(1)));
}

}  // namespace
}  // namespace ff
